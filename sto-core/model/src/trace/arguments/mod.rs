//! Calls by what they were called with: the arguments of a trace that are numbers, and how long the calls took.
//!
//! A call with arguments has a number that stands for its function and these, so that what orders, pairs and logs
//! calls need not know of them. The numbers are few: of a function with very many different arguments, those that are
//! nearly the same are one.

mod gather;
mod table;

pub use gather::{GatheredCalls, thin};
pub use table::{ArgumentsNo, CallArguments, NAMELESS};

use crate::units::Nanoseconds;

/// The calls of one function in one thread, by one of their arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct CallsWith<S> {
    /// Index of the thread in [`RunCalls::threads`](super::RunCalls::threads).
    pub thread: u32,
    /// A stack that such calls have: its leaf is the function.
    pub stack: S,
    /// The argument's name.
    pub argument: String,
    /// The calls, in the order of what the argument was.
    pub calls: Vec<CallsAt>,
}

/// A call, or several whose argument was the same or nearly so.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallsAt {
    /// What the argument was, on average.
    pub value: f64,
    /// Number of calls.
    pub calls: u64,
    /// How long they took together, each with what it called.
    pub duration: Nanoseconds,
    /// The same without what they called.
    pub own: Nanoseconds,
}

impl<S: Copy> CallsWith<S> {
    /// The same of another stack.
    pub(crate) fn map<T>(&self, stack: impl Fn(S) -> T) -> CallsWith<T> {
        CallsWith {
            thread: self.thread,
            stack: stack(self.stack),
            argument: self.argument.clone(),
            calls: self.calls.clone(),
        }
    }
}
