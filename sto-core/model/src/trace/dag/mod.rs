//! Every call of a part of a thread's time, as a graph of equal subtrees of calls, with the times apart.
//!
//! What a program calls repeats much more than how long it takes. So a call, with all that it calls, is a node that
//! has its function and the nodes of its callees in order, equal ones in a row as one and a count; and so a loop of a
//! million equal iterations is one node and a count. Sequences of calls that repeat (`a b a b`) are nodes without a
//! function. A node has a content address, by which equal ones are found.

mod build;
mod expand;
#[cfg(test)]
mod tests;

use super::log::Call;
use super::paths::FunctionNo;
use crate::units::Nanoseconds;
pub use build::Pieces;

/// Most calls of a piece.
pub const PIECE: usize = 1 << 18;

/// What node it is, and how often it comes in a row.
pub(crate) type Repeated = (u32, u64);

/// A node of the graph. Its callees are nodes before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DagNode {
    /// The function that was called; none of a sequence of calls.
    pub function: Option<FunctionNo>,
    /// What it called, or what it is a sequence of.
    pub callees: Vec<Repeated>,
}

/// Calls of a piece that no other one of it made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// How many calls it was made in.
    pub depth: u32,
    /// What it is.
    pub what: Calls,
}

/// Calls that were made in one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calls {
    /// Whole calls.
    Whole(Repeated),
    /// One that makes further calls in the next piece.
    Open(FunctionNo),
}

/// Calls of a thread that follow each other in preorder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// The calls that the first one was made in, outermost first.
    pub callers: Vec<Call>,
    /// When the first one began.
    pub begin: Nanoseconds,
    /// The graph.
    pub nodes: Vec<DagNode>,
    /// The calls, in preorder.
    pub items: Vec<Item>,
    /// By call in preorder: the time from the end of the call of its caller before it, or else from its caller's
    /// begin.
    pub gaps: Vec<u64>,
    /// By call in preorder: the time from the end of the last call that it made, or else from its begin, to its end.
    /// Of a call that makes further calls in the next piece, all its time.
    pub rests: Vec<u64>,
}

/// A call that may make further ones.
struct Level {
    /// None of a call of a piece before.
    call: Option<(usize, FunctionNo)>,
    callees: Vec<Repeated>,
    /// When the last of these ended.
    cursor: u64,
    end: u64,
}

/// The thread, and these callers in it, before a call that begins then.
fn levels(callers: &[Call], begin: Nanoseconds) -> Vec<Level> {
    let outermost = callers.iter().map(|call| call.end().0);
    let cursors = outermost.chain([begin.0]);
    let ends = [0]
        .into_iter()
        .chain(callers.iter().map(|call| call.end().0));
    let levels = cursors.zip(ends).map(|(cursor, end)| Level {
        call: None,
        callees: Vec::new(),
        cursor,
        end,
    });
    levels.collect()
}
