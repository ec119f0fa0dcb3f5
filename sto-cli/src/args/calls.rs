//! How the calls of traces are compressed.

use clap::Args;
use sto_core::trace::{CallThresholds, Threshold};

/// What of a trace of calls is kept by itself. Each is a share of a thread's time, or a time.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Traces of calls")]
pub(crate) struct CallArgs {
    /// Keep calls by themselves that take longer than this share of their thread's time, or this time (2ms)
    #[arg(long, value_name = "T", default_value = "1%")]
    call_duration: Threshold,

    /// Keep longer times between two calls of one caller
    #[arg(long, value_name = "T", default_value = "0.1%")]
    call_gap: Threshold,

    /// Sum up shorter calls in a row for about this long
    #[arg(long, value_name = "T", default_value = "13%")]
    total_time: Threshold,
}

impl CallArgs {
    pub(crate) fn thresholds(&self) -> CallThresholds {
        CallThresholds {
            call_duration: self.call_duration,
            call_gap: self.call_gap,
            total_time: self.total_time,
        }
    }
}
