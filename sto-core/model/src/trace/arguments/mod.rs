//! Numeric arguments of calls, and the durations of calls by the values of their arguments.
//!
//! A function together with the values of its arguments gets a [`TraceFunctionIx`](super::paths::TraceFunctionIx) of its own,
//! so that code that sorts, matches and logs calls need not handle arguments. If a function has very many different
//! argument values, values that are nearly equal share a number.

mod gather;
mod table;

pub use gather::{CallGrouper, merge_to_limit};
pub use table::{ArgumentTable, ArgumentsIx, UNNAMED_FUNCTION};

use crate::units::Nanoseconds;

/// The calls of one function in one thread, by the value of one of their arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct CallsByArgument<S> {
    /// Index of the thread in [`RunCalls::threads`](super::RunCalls::threads).
    pub thread: u32,
    /// A stack of such calls, whose innermost frame is the function.
    pub stack: S,
    /// The name of the argument.
    pub argument: String,
    /// The calls, ordered by the value of the argument.
    pub calls: Vec<CallsAtValue>,
}

/// One or more calls with equal or nearly equal values of an argument.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallsAtValue {
    /// The mean value of the argument.
    pub value: f64,
    /// Number of calls.
    pub calls: u64,
    /// Total duration of the calls, including callees.
    pub duration: Nanoseconds,
    /// Total duration of the calls, without callees.
    pub self_duration: Nanoseconds,
}

impl<S: Copy> CallsByArgument<S> {
    /// Replaces the stack.
    pub(crate) fn map<T>(&self, stack: impl Fn(S) -> T) -> CallsByArgument<T> {
        CallsByArgument {
            thread: self.thread,
            stack: stack(self.stack),
            argument: self.argument.clone(),
            calls: self.calls.clone(),
        }
    }
}
