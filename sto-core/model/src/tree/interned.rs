//! One profile as one tree.

use super::{Addresses, LineCost, NodeIx, SelfCosts, Slices, StackTree};
use crate::trace::{PackedCalls, RunCalls};
use crate::{FrameTable, RunMetrics, SourceDigests};
use std::sync::Arc;

/// One profile as one tree: what the store takes.
#[derive(Clone, Debug, Default)]
pub struct Interned {
    /// The frames of this profile, in the order of [`FrameTable::ranks`].
    pub frames: FrameTable,
    /// The stacks; children stand in the order of their frames.
    pub tree: StackTree,
    /// Self costs by sample type.
    pub costs: Vec<SelfCosts>,
    /// Line costs by sample type, in the order of frame and line; lines that are unknown (0) are
    /// left out.
    pub lines: Vec<Vec<LineCost>>,
    /// Costs by context and slice of time, where they are kept.
    pub slices: Option<Slices>,
    /// Metrics over time, where the recording has any. They are of the whole recording.
    pub metrics: Option<RunMetrics>,
    /// Calls over time, where the recording is a trace of calls.
    pub calls: Option<RunCalls<NodeIx>>,
    /// Every call, where they are kept.
    pub kept: Option<Arc<PackedCalls>>,
    /// Digests of the source files of its frames, where debug info has them.
    pub sources: SourceDigests,
    /// Addresses whose names may be found later.
    pub addresses: Option<Addresses>,
}
