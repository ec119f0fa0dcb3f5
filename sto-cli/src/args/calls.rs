//! Options that control how traces of calls are compressed.

use clap::Args;
use sto_core::trace::{CallThresholds, Threshold};

/// Thresholds above which calls are kept individually; each is a share of a thread's time, or a time.
#[derive(Clone, Copy, Debug, Args)]
#[command(next_help_heading = "Traces of calls")]
pub(crate) struct CallArgs {
    /// Keep a call by itself if it takes longer than this share of its thread's time, or this time (2ms)
    /// [default: 1%]
    #[arg(long, value_name = "T")]
    call_duration: Option<Threshold>,

    /// Keep a gap between two calls of one caller if it is longer than this [default: 0.1%]
    #[arg(long, value_name = "T")]
    call_gap: Option<Threshold>,

    /// Merge consecutive shorter calls into summaries of about this length [default: 13%]
    #[arg(long, value_name = "T")]
    total_time: Option<Threshold>,
}

impl CallArgs {
    pub(crate) fn thresholds(&self) -> CallThresholds {
        self.given().unwrap_or_default()
    }

    /// The thresholds, or `None` if no option was given.
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
