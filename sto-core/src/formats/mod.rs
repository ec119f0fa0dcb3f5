//! Profile formats: one file or folder a format, from bytes to a [`Recording`](crate::recording::Recording).
//!
#![doc = include_str!("formats.md")]

mod callgrind;
mod chrome;
mod compressed;
mod cpuprofile;
mod dtrace;
mod error;
mod firefox;
mod folded;
mod ghc;
mod jfr;
mod json;
mod labels;
mod names;
mod otlp;
mod perf_data;
mod perf_script;
mod pprof;
mod read;
mod registry;
mod report;
mod sample;
mod source;
mod speedscope;
mod v8;
mod visual_studio;
mod vtune;
mod wire;
mod xctrace;
mod yourkit;

pub use crate::recording::{Format, UnknownFormat};
pub use error::{FormatError, Salvage};
pub use names::kind_by_names;
pub(crate) use names::units_of_event;
pub use perf_data::run_time;
pub use pprof::SYSTEM_NAME_SUFFIXES as PPROF_SYSTEM_NAME_SUFFIXES;
pub use read::{read, read_bytes, read_stream};
pub use source::{OnRead, ReadOptions};
pub(crate) use wire::text::{excerpt, excerpts};
