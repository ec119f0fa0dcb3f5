//! The log of a trace's calls, from events of a format to ordered calls of each thread.
//!
//! A [`CallLogWriter`] takes the events of a format: begins and ends of calls, and lost events. It applies rules that
//! are the same for all formats (*How calls nest* in `calls.md`), which ensure that the calls of a thread nest.
//! A [`CallLog`] returns the calls of each thread in preorder, with durations. They are in memory up to
//! a limit and in a temporary file beyond it, so that a trace may be larger than memory.

mod chunk;
mod irregular;
mod read;
mod spool;
#[cfg(test)]
mod tests;
mod thread;
mod writer;

use super::arguments::ArgumentsIx;
use super::paths::TraceFunctionIx;
use crate::index_types;
use crate::units::Nanoseconds;

pub use read::CallLog;
pub use spool::{Spool, SpoolError, StoredChunk, create_unnamed_file};
pub use thread::ThreadLog;
pub use writer::CallLogWriter;

index_types! {
    /// Index of a thread in a call log.
    pub TraceThreadIx;
}

/// A call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// The number of calls that the call is nested in, 0 for an outermost call.
    pub depth: u32,
    /// The called function.
    pub function: TraceFunctionIx,
    /// The arguments, if known.
    pub arguments: Option<ArgumentsIx>,
    /// The start time.
    pub begin: Nanoseconds,
    /// The duration, including callees.
    pub duration: Nanoseconds,
}

impl Call {
    /// The end time.
    pub fn end(&self) -> Nanoseconds {
        Nanoseconds(self.begin.0 + self.duration.0)
    }
}

/// A number of events of a thread that were lost while recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostEvents {
    /// A known number of events.
    Count(u64),
    /// An unknown number of events.
    Unknown,
}
