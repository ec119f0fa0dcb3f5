//! Readers of profile formats, one file or folder per format; each turns bytes into a
//! [`Recording`](recording::Recording).
//!
//! Tools link `sto-core`, which re-exports this crate's public items.
//!
//! See [the manual](crate::manual::formats).
// Without `symbols`, parts of the recording and of file access that only readers of native programs
// need are unused.
#![cfg_attr(not(feature = "symbols"), allow(dead_code, unused_imports))]

// Recognising and opening files.
mod compressed;
mod encoding;
mod error;
pub mod manual;
mod read;
mod registry;
mod source;

// Code shared by several formats.
mod call_events;
mod calls;
pub mod demangle;
mod json;
mod labels;
mod names;
pub mod recording;
mod report;
mod v8;
mod wire;

pub use demangle::{demangle, demangled};

// One module per format.
mod austin;
mod bcc;
mod bpftrace;
mod bpftrace_json;
mod callgrind;
mod chrome;
mod cpuprofile;
mod dtrace;
mod firefox;
mod folded;
mod ftrace;
mod gdb;
mod ghc;
mod ghc_json;
mod gperftools;
mod gprof;
mod heap_snapshot;
mod heapprofile;
mod heaptrack;
mod hermes;
mod instruments;
mod jfr;
mod memray;
mod nettrace;
mod nonsequitur;
mod otlp;
#[cfg(feature = "symbols")]
mod perf_data;
mod perf_script;
mod perfetto;
mod perun;
mod phpspy;
mod pprof;
mod pstats;
mod pyinstrument;
mod rbspy;
mod rprof;
mod sample;
mod scalene;
mod simpleperf;
mod speedscope;
mod stackprof;
mod sysprof;
mod thread_dump;
mod uftrace;
mod v8_log;
mod valgrind;
mod visual_studio;
mod vtune;
mod xctrace;
mod xhprof;
#[cfg(feature = "symbols")]
mod xray;
mod yourkit;

// Metrics over time that belong to a recording.
#[doc(hidden)]
pub mod metric_trace;

pub use crate::recording::{Format, UnknownFormat};
#[doc(hidden)]
pub use error::DecodeError;
pub use error::{FormatError, Salvage};
pub use metric_trace::{is_column_of_times, is_missing};
pub use names::{PPROF_SYSTEM_NAME_SUFFIXES, kind_by_names};
#[cfg(feature = "symbols")]
pub use perf_data::{group_pieces, read_pieces, run_time};
pub use read::{is_recording, read, read_bytes, read_stream};
pub use source::{OnRead, ReadOptions};
#[doc(hidden)]
pub use wire::protobuf::{Field, Message, MessageWriter};
pub use wire::text::{excerpt, excerpts};
