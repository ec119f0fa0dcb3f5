//! What each source line cost.

use crate::FrameIx;
use crate::units::Cost;

/// What one line of one frame cost in one sample type.
///
/// A line is on a stack when its code ran there or made a call there; recursion is counted once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCost<Frame = FrameIx> {
    /// The frame.
    pub frame: Frame,
    /// The line, counted from 1.
    pub line: u32,
    /// Samples that ended at this line.
    pub self_cost: Cost,
    /// Samples whose stack has this line at least once.
    pub total: Cost,
}
