//! The calls of a trace as its format writes them, and as they are read back: by thread, in order.
//!
//! A [`CallLogWriter`] takes what a format has: calls that begin and end, and where events were lost. It
//! keeps the rules that hold for every format (SPEC.md, *Calls over time*), so that the calls of a thread always nest.
//! A [`CallLog`] has them in order, each before those that it made, with how long it took. They are in memory up to
//! a limit and in a temporary file beyond, so that a trace may be longer than memory.

mod chunk;
mod irregular;
mod read;
mod spool;
#[cfg(test)]
mod tests;
mod thread;
mod writer;

use super::arguments::ArgumentsNo;
use super::paths::FunctionNo;
use crate::numbers;
use crate::units::Nanoseconds;

pub use read::CallLog;
pub use spool::{Spool, SpoolError, Stored, nameless};
pub use thread::ThreadLog;
pub use writer::CallLogWriter;

numbers! {
    /// A thread of a trace, by the number that its log gave it.
    pub ThreadNo;
}

/// A call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// How many calls it was made in: 0 of an outermost one.
    pub depth: u32,
    /// The function that was called.
    pub function: FunctionNo,
    /// What it was called with, where that is known.
    pub with: Option<ArgumentsNo>,
    /// When it began.
    pub begin: Nanoseconds,
    /// How long it took, with what it called.
    pub duration: Nanoseconds,
}

impl Call {
    /// When it ended.
    pub fn end(&self) -> Nanoseconds {
        Nanoseconds(self.begin.0 + self.duration.0)
    }
}

/// Events of a thread that its trace does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lost {
    /// So many.
    Events(u64),
    /// The trace does not say how many.
    Unknown,
}
