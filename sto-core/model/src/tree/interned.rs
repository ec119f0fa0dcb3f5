//! The stored data of one profile.

use super::{LineCost, NodeIx, ProfileAddresses, SelfCosts, StackTree, TimeSlices};
use crate::trace::{PackedCalls, RunCalls};
use crate::{FrameTable, RunMetrics, SourceFileDigests};
use std::sync::Arc;

/// The frames, stacks and costs of one profile, in the form in which they are added to a store.
#[derive(Clone, Debug, Default)]
pub struct ProfileData {
    /// The frames of the profile, in the order of [`FrameTable::ranks`].
    pub frames: FrameTable,
    /// The stacks. Children of a node are in the order of their frames.
    pub tree: StackTree,
    /// Self costs by sample type.
    pub costs: Vec<SelfCosts>,
    /// Line costs by sample type, ordered by frame and line, without unknown lines (0).
    pub line_costs: Vec<Vec<LineCost>>,
    /// Costs by context and time slice, if they are kept.
    pub slices: Option<TimeSlices>,
    /// Metrics of the whole recording over time, if it has any.
    pub metrics: Option<RunMetrics>,
    /// Compressed calls over time, if the recording is a call trace.
    pub calls: Option<RunCalls<NodeIx>>,
    /// Every call, if calls are kept.
    pub kept_calls: Option<Arc<PackedCalls>>,
    /// Digests of the frames' source files, if debug info has them.
    pub source_digests: SourceFileDigests,
    /// Addresses that can be symbolized later.
    pub addresses: Option<ProfileAddresses>,
}
