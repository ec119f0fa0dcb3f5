//! Answers as plain data, to be rendered as text or serialized as JSON.
//!
//! Every report has a `schema`: its name and version. A version keeps the meaning of every field;
//! it may gain fields.

mod call_tree;
mod drawing;
mod ingest;
mod ls;
mod merge;
mod potential;
mod rewrite;
mod stats;
mod subject;
mod time;
mod top;
mod verify;

pub use call_tree::{CutReport, NodeReport, TreeReport, call_tree};
pub use drawing::{DrawingReport, drawing};
pub use ingest::{IngestSummary, IngestedReport, ModuleReport, RecordingReport, SlicesReport};
pub use ls::{BuildReport, ListedProfile, LsReport, ProfileReport, QualityReport, Totals, ls};
pub use merge::{LeftOutReport, MergeReport, SourceReport};
pub use potential::{FunctionPotential, PotentialReport, potential};
pub use rewrite::{CompactReport, ExportReport};
pub use stats::{ExecutableReport, PartReport, StatsReport, stats};
pub use subject::{CostReport, FrameReport, SampleTypeReport, Subject};
pub use time::rfc3339;
pub use top::{FunctionReport, Omitted, Order, TopReport, top};
pub use verify::{CheckedReport, DamageReport, VerifyReport, verify};
