//! Compression of all calls of a thread: a graph in which equal call subtrees are shared, and separate times.
//!
//! The calls of a program repeat more often than their durations. A node of the graph therefore represents calls of
//! a function with the same callees, without times. It refers to the nodes of its callees in order, with a count
//! for equal nodes in a row, so that a loop of a million equal iterations is one node with a count. Repeated
//! sequences of calls (`a b a b`) are nodes without a function. Equal nodes are found by their content address.

mod build;
mod expand;
#[cfg(test)]
mod tests;

use super::log::Call;
use super::paths::TraceFunctionIx;
use crate::units::Nanoseconds;
pub use build::Pieces;

/// Maximum number of calls of a piece.
pub const MAX_PIECE_CALLS: usize = 1 << 18;

/// Index of a node, and the number of times that it is repeated.
pub(crate) type Repeated = (u32, u64);

/// A node of the graph. Its callees have smaller indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DagNode {
    /// The called function, or `None` for a sequence of calls.
    pub function: Option<TraceFunctionIx>,
    /// The callees, or the calls of the sequence.
    pub callees: Vec<Repeated>,
}

/// Calls of a piece that are not part of another node of the piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceItem {
    /// The number of calls that the calls are nested in.
    pub depth: u32,
    /// The calls.
    pub kind: ItemKind,
}

/// The content of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// Complete calls.
    Whole(Repeated),
    /// A call whose callees continue in the next piece.
    Open(TraceFunctionIx),
}

/// Consecutive calls of a thread in preorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// The callers of the first call, outermost first.
    pub callers: Vec<Call>,
    /// The begin of the first call.
    pub begin: Nanoseconds,
    /// The nodes of the graph.
    pub nodes: Vec<DagNode>,
    /// The calls, in preorder.
    pub items: Vec<PieceItem>,
    /// The time before each call, in preorder: since the end of the previous call of the same caller, or since
    /// the caller's begin for its first callee.
    pub gaps: Vec<u64>,
    /// The time at the end of each call, in preorder: from the end of its last callee, or from its begin if it has
    /// none, to its end. For a call whose callees continue in the next piece, its whole duration.
    pub rests: Vec<u64>,
}

/// A call that may have further callees, or the thread itself.
struct Level {
    /// Index in the piece and function of the call; `None` for a call of an earlier piece.
    call: Option<(usize, TraceFunctionIx)>,
    callees: Vec<Repeated>,
    /// The end of the last callee.
    cursor: u64,
    end: u64,
}

/// The levels of a thread and of callers, before a call that begins at `begin`.
fn levels(callers: &[Call], begin: Nanoseconds) -> Vec<Level> {
    let caller_ends = callers.iter().map(|call| call.end().0);
    let cursors = caller_ends.clone().chain([begin.0]);
    let levels = cursors
        .zip([0].into_iter().chain(caller_ends))
        .map(|(cursor, end)| Level {
            call: None,
            callees: Vec::new(),
            cursor,
            end,
        });
    levels.collect()
}
