//! Options of all commands that record programs.

use crate::args::About;
use crate::args::quantities::slice_count;
use crate::runtime::perf::CallGraph;
use clap::Args;
use clap::builder::NonEmptyStringValueParser;
use sto_core::tree::SliceCount;

/// Options of all commands that record programs.
#[derive(Debug, Args)]
pub(crate) struct RecordingArgs {
    #[command(flatten)]
    pub(crate) about: About,

    /// Sample this many times a second
    #[arg(short = 'F', long, value_name = "HZ", default_value = "997", value_parser = clap::value_parser!(u32).range(1..))]
    pub(super) frequency: u32,

    /// Sample this event, as `perf list` names it; may be given several times [default: processor
    /// cycles, or cpu-clock without them]
    #[arg(short = 'e', long = "event", value_name = "EVENT", value_parser = NonEmptyStringValueParser::new())]
    pub(super) events: Vec<String>,

    /// Also record how long each call waits: the time until the thread runs again after it slept, waited for I/O or was
    /// preempted, as the event `off-cpu`. Needs root or kernel.perf_event_paranoid=1
    #[arg(long, conflicts_with = "events")]
    pub(super) off_cpu: bool,

    /// Choose how callers are found
    #[arg(long, value_enum, default_value = "fp")]
    pub(super) call_graph: CallGraph,

    /// Also keep what each thread did in each of N equal parts of the recording's time
    #[arg(long, value_name = "N", value_parser = slice_count)]
    pub(super) slices: Option<SliceCount>,
}
