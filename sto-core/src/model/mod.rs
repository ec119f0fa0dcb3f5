//! The things that a store keeps: frames, executables, builds, profiles.

mod build;
mod commit;
mod frame;
mod metric_series;
mod profile;
mod source;

pub use build::{Build, Executable, GnuBuildId};
pub use commit::{Commit, CommitHash};
pub(crate) use frame::FrameRow;
pub use frame::{Frame, FrameIx, FrameKind, FrameTable, StringIx};
pub use metric_series::{MetricKind, MetricSeries, RunMetrics, SeriesError};
pub use profile::{Granularity, LabelValue, ModuleRef, Origin, Profile, Quality, SampleLabel};
pub use source::{SourceDigest, SourceDigests, agreed_digests};
