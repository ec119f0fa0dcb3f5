//! Building the tree of one profile out of its samples.

use super::{LineCost, SelfCosts, StackTree};
use crate::formats::{Recording, Sample};
use crate::model::FrameTable;
use crate::symbolize::Symbols;

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
}

/// Why samples cannot be interned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InternError {
    /// A sum of counts leaves 64 bits.
    #[error(
        "the counts of a stack add up to more than 2^64 - 1; the recording's periods cannot be right"
    )]
    Overflow,
}

/// Builds the tree of those samples of a recording that `keep` says are part of the profile.
///
/// The result depends on the kept samples alone: not on their order, nor on the number of cores.
///
/// # Errors
/// Where a sum of counts leaves 64 bits.
pub fn intern(
    recording: &Recording,
    symbols: &Symbols,
    keep: impl Fn(&Sample) -> bool,
) -> Result<Interned, InternError> {
    let _ = (recording, symbols, keep);
    todo!()
}
