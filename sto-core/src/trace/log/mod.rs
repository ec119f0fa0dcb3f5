//! The calls of a trace as its format writes them, and as they are read back: by thread, in order.

use super::paths::FunctionNo;
use crate::number::numbers;
use crate::units::Nanoseconds;

numbers! {
    /// A thread of a trace, by the number that its log gave it.
    pub(crate) ThreadNo;
}

/// A call of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    /// How many calls it was made in: 0 of an outermost one.
    pub(crate) depth: u32,
    /// The function that was called.
    pub(crate) function: FunctionNo,
    /// When it began.
    pub(crate) begin: Nanoseconds,
    /// How long it took, with what it called.
    pub(crate) duration: Nanoseconds,
}

impl Call {
    /// When it ended.
    pub(crate) fn end(&self) -> Nanoseconds {
        Nanoseconds(self.begin.0 + self.duration.0)
    }
}
