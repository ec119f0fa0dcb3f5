//! Traversal of a tree as a sequence of calls and returns, for nested formats.

use std::io;
use sto_core::tree::{NodeIx, StackTree};

/// A step through a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A stack begins. Its callees come before it ends.
    Enter(NodeIx),
    /// A stack ends.
    Leave(NodeIx),
}

/// Visits nodes, which must be in preorder and complete for a tree or subtree.
pub(super) fn walk(
    tree: &StackTree,
    nodes: impl Iterator<Item = NodeIx>,
    mut visit: impl FnMut(Step) -> io::Result<()>,
) -> io::Result<()> {
    let mut open: Vec<NodeIx> = Vec::new();
    for node in nodes {
        let caller = tree.parent(node);
        while let Some(left) = open.pop_if(|last| Some(*last) != caller) {
            visit(Step::Leave(left))?;
        }
        visit(Step::Enter(node))?;
        open.push(node);
    }
    open.into_iter()
        .rev()
        .try_for_each(|node| visit(Step::Leave(node)))
}
