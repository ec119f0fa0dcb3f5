//! The tree as a sequence of calls and returns, for formats that nest.

use std::io;
use sto_core::intern::{NodeIx, StackTree};

/// A step through a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// A stack begins: its callees come before it ends.
    Enter(NodeIx),
    /// It ends.
    Leave(NodeIx),
}

/// Steps through those nodes that are kept. With a node, its callers have to be.
pub(super) fn walk(
    tree: &StackTree,
    is_kept: impl Fn(NodeIx) -> bool,
    mut visit: impl FnMut(Step) -> io::Result<()>,
) -> io::Result<()> {
    let mut open: Vec<NodeIx> = Vec::new();
    for node in tree.nodes().filter(|&node| is_kept(node)) {
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
