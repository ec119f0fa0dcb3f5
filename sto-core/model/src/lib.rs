//! The data model of profiles: units, content addresses, frames, builds, profiles, stack trees and call traces.
//!
//! This crate is part of `sto-core`, which re-exports its public API.

mod build;
#[doc(hidden)]
pub mod bytes;
mod cancel;
mod commit;
pub mod files;
mod frame;
mod hint;
pub mod id;
pub mod limits;
pub mod manual;
pub mod memory;
mod metric_series;
mod module;
mod number;
mod printable;
mod profile;
mod source;
mod source_path;
mod symbol_options;
#[doc(hidden)]
pub mod system;
mod text;
mod timings;
#[cfg(feature = "tls")]
mod tls;
pub mod trace;
pub mod tree;
pub mod units;

pub use build::{Build, Executable, GnuBuildId};
pub use cancel::{CancelToken, Cancelled};
pub use commit::{Commit, CommitHash};
#[doc(hidden)]
pub use frame::FrameRow;
pub use frame::{Frame, FrameIx, FrameKind, FrameTable, StringIx};
pub use hint::{Hint, Notice};
pub use metric_series::{MetricKind, MetricSeries, RunMetrics, SeriesError};
#[doc(hidden)]
pub use module::{JIT_MODULE, VDSO};
pub use module::{Location, Module, ModuleIx, ModuleKind};
#[doc(hidden)]
pub use printable::printable;
pub use profile::{Granularity, LabelValue, ModuleRef, Origin, Profile, Quality, SampleLabel};
pub use source::{SourceFileDigest, SourceFileDigests, agreed_digests};
#[doc(hidden)]
pub use source_path::{CompilationDirs, normalize_source_path, normalize_source_path_with};
pub use symbol_options::{Debuginfod, SymbolOptions};
pub use text::ParseError;
pub(crate) use text::{decode_hex, serde_text_or_parts};
pub use timings::{Stage, StageTime, Timings};
#[cfg(feature = "tls")]
#[doc(hidden)]
pub use tls::tls_config;
