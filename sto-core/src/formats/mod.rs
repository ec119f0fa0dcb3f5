//! Profile formats: one file or folder a format, from bytes to a [`Recording`](crate::recording::Recording).
//!
#![doc = include_str!("formats.md")]

// From a file to its format.
mod compressed;
mod encoding;
mod error;
mod read;
mod registry;
mod source;

// What formats have in common.
#[cfg(any(feature = "text", feature = "viewers"))]
mod call_events;
#[cfg(any(feature = "call-traces", feature = "text", feature = "viewers"))]
mod calls;
#[cfg(feature = "viewers")]
mod json;
mod labels;
mod names;
mod report;
#[cfg(feature = "viewers")]
mod v8;
mod wire;

// A format each.
#[cfg(feature = "text")]
mod austin;
#[cfg(feature = "text")]
mod bcc;
#[cfg(feature = "text")]
mod bpftrace;
#[cfg(feature = "viewers")]
mod bpftrace_json;
#[cfg(feature = "text")]
mod callgrind;
#[cfg(feature = "viewers")]
mod chrome;
#[cfg(feature = "viewers")]
mod cpuprofile;
#[cfg(feature = "text")]
mod dtrace;
#[cfg(feature = "viewers")]
mod firefox;
mod folded;
#[cfg(feature = "call-traces")]
mod ftrace;
#[cfg(feature = "text")]
mod gdb;
#[cfg(feature = "text")]
mod ghc;
#[cfg(feature = "viewers")]
mod ghc_json;
#[cfg(feature = "pprof")]
mod gperftools;
#[cfg(feature = "text")]
mod gprof;
#[cfg(feature = "viewers")]
mod heap_snapshot;
#[cfg(feature = "viewers")]
mod heapprofile;
#[cfg(feature = "text")]
mod heaptrack;
#[cfg(feature = "viewers")]
mod hermes;
#[cfg(feature = "text")]
mod instruments;
#[cfg(feature = "jfr")]
mod jfr;
#[cfg(feature = "text")]
mod memray;
#[cfg(feature = "viewers")]
mod nettrace;
#[cfg(feature = "text")]
mod nonsequitur;
#[cfg(feature = "pprof")]
mod otlp;
#[cfg(feature = "perf-data")]
mod perf_data;
#[cfg(feature = "text")]
mod perf_script;
#[cfg(feature = "viewers")]
mod perfetto;
#[cfg(feature = "viewers")]
mod perun;
#[cfg(feature = "text")]
mod phpspy;
#[cfg(feature = "pprof")]
mod pprof;
#[cfg(feature = "text")]
mod pstats;
#[cfg(feature = "viewers")]
mod pyinstrument;
#[cfg(feature = "viewers")]
mod rbspy;
#[cfg(feature = "text")]
mod rprof;
#[cfg(feature = "text")]
mod sample;
#[cfg(feature = "viewers")]
mod scalene;
#[cfg(feature = "viewers")]
mod simpleperf;
#[cfg(feature = "viewers")]
mod speedscope;
#[cfg(feature = "viewers")]
mod stackprof;
#[cfg(feature = "viewers")]
mod sysprof;
#[cfg(feature = "text")]
mod thread_dump;
#[cfg(feature = "call-traces")]
mod uftrace;
#[cfg(feature = "viewers")]
mod v8_log;
#[cfg(feature = "viewers")]
mod valgrind;
#[cfg(feature = "text")]
mod visual_studio;
#[cfg(feature = "text")]
mod vtune;
#[cfg(feature = "viewers")]
mod xctrace;
#[cfg(feature = "viewers")]
mod xhprof;
#[cfg(feature = "call-traces")]
mod xray;
#[cfg(feature = "viewers")]
mod yourkit;

// Metrics over time, which stand beside a recording.
pub(crate) mod metric_trace;

pub use crate::recording::{Format, UnknownFormat};
pub use error::{FormatError, Salvage};
pub use metric_trace::{is_column_of_times, is_missing};
pub(crate) use names::units_of_event;
pub use names::{PPROF_SYSTEM_NAME_SUFFIXES, kind_by_names};
#[cfg(feature = "perf-data")]
pub use perf_data::run_time;
pub use read::{is_recording, read, read_bytes, read_stream};
pub use source::{OnRead, ReadOptions};
pub(crate) use wire::text::{excerpt, excerpts};

#[cfg(any(feature = "perf-data", feature = "text"))]
const NO_CALL_CHAINS: &str = "No sample has a call chain, so functions have costs of their own, and no callers; record with \
    `perf record -g` or `perf record --call-graph dwarf`.";
