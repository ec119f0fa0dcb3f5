//! How the calls of traces are compressed.

use clap::Args;
use sto_core::trace::{CallThresholds, Threshold};

/// What of a trace of calls is kept by itself. Each is a share of a thread's time, or a time.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Traces of calls")]
pub(crate) struct CallArgs {
    /// Keep calls by themselves that take longer than this share of their thread's time, or this time (2ms)
    /// [default: 1%]
    #[arg(long, value_name = "T")]
    call_duration: Option<Threshold>,

    /// Keep longer times between two calls of one caller [default: 0.1%]
    #[arg(long, value_name = "T")]
    call_gap: Option<Threshold>,

    /// Sum up shorter calls in a row for about this long [default: 13%]
    #[arg(long, value_name = "T")]
    total_time: Option<Threshold>,
}

impl CallArgs {
    pub(crate) fn thresholds(&self) -> CallThresholds {
        self.given().unwrap_or_default()
    }

    /// The same, if any was given.
    pub(crate) fn given(&self) -> Option<CallThresholds> {
        let usual = CallThresholds::default();
        let given = [self.call_duration, self.call_gap, self.total_time];
        given.iter().any(Option::is_some).then(|| CallThresholds {
            call_duration: self.call_duration.unwrap_or(usual.call_duration),
            call_gap: self.call_gap.unwrap_or(usual.call_gap),
            total_time: self.total_time.unwrap_or(usual.total_time),
        })
    }
}
