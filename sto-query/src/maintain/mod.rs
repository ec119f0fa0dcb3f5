//! What was done to a store as a whole, and what is known of it.

mod ingest;
mod merge;
mod rewrite;
mod stats;
mod tag;
mod verify;

pub use ingest::{IngestSummary, IngestedReport, ModuleReport, RecordingReport, SlicesReport};
pub(crate) use merge::merged_from;
pub use merge::{ConflictReport, LeftOutReport, MergeReport, SourceReport};
pub use rewrite::{CompactReport, ExportedStore};
pub use stats::{ExecutableReport, PartReport, StatsReport, stats};
pub use tag::{TagAction, TagEntry, TagList};
pub use verify::{CheckedReport, DamageReport, VerifyReport, verify};
