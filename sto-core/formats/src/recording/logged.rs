//! The individual calls of a call trace, for analyses that need function names first.

use super::StackIx;
use sto_model::trace::log::CallLog;
use sto_model::trace::outliers::RunDurations;
use sto_model::trace::paths::CallPaths;

/// All calls of a recording's threads, in the order of
/// [`RunCalls::threads`](sto_model::trace::RunCalls).
#[derive(Debug)]
#[doc(hidden)]
pub struct LoggedCalls {
    /// The calls of each thread.
    pub log: CallLog,
    /// The call paths of all threads.
    pub paths: CallPaths,
    /// The stack of each path.
    pub stacks: Vec<StackIx>,
    /// The durations of the calls of each path.
    pub durations: RunDurations,
}
