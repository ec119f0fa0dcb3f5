//! The tree as a sequence of calls and returns, for formats that nest.

use std::io;
use sto_core::tree::{NodeIx, StackTree};

/// A step through a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A stack begins: its callees come before it ends.
    Enter(NodeIx),
    /// It ends.
    Leave(NodeIx),
}

/// Steps through nodes, which come in preorder: all that are to be in a tree, or in a subtree.
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
