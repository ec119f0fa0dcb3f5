//! Costs of source lines.

use crate::FrameIx;
use crate::units::Cost;

/// The cost of one source line of one frame in one sample type.
///
/// A line is on a stack if its code ran or made a call there. A line that occurs several times on a stack, by
/// recursion, counts once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineCost<Frame = FrameIx> {
    /// The frame.
    pub frame: Frame,
    /// The line, counted from 1.
    pub line: u32,
    /// Cost of the samples whose innermost frame is at this line.
    pub self_cost: Cost,
    /// Cost of the samples whose stack contains this line.
    pub total: Cost,
}
