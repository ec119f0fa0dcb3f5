//! The calls of a trace one by one, for what is asked once their functions have names.

use super::StackIx;
use sto_model::trace::log::CallLog;
use sto_model::trace::outliers::RunDurations;
use sto_model::trace::paths::Paths;

/// Every call of a recording's threads, which stand in the order of [`RunCalls::threads`](sto_model::trace::RunCalls).
#[derive(Debug)]
#[doc(hidden)]
pub struct LoggedCalls {
    /// The calls by thread.
    pub log: CallLog,
    /// The paths of all threads.
    pub paths: Paths,
    /// The stack of each path.
    pub stacks: Vec<StackIx>,
    /// How long the calls of each path took.
    pub durations: RunDurations,
}
