//! The calls of a trace one by one, for what is asked once their functions have names.

use super::StackIx;
use crate::trace::log::CallLog;
use crate::trace::outliers::RunDurations;
use crate::trace::paths::Paths;

/// Every call of a recording's threads, which stand in the order of [`RunCalls::threads`](crate::trace::RunCalls).
#[derive(Debug)]
pub(crate) struct LoggedCalls {
    /// The calls by thread.
    pub(crate) log: CallLog,
    /// The paths of all threads.
    pub(crate) paths: Paths,
    /// The stack of each path.
    pub(crate) stacks: Vec<StackIx>,
    /// How long the calls of each path took.
    pub(crate) durations: RunDurations,
}
