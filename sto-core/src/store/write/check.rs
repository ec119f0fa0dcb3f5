//! The rules that a profile must keep.

use crate::intern::{Interned, LineCost, NodeIx, SelfCosts, StackTree};
use crate::model::{Build, FrameIx, Profile};
use crate::store::error::Fault;
use crate::store::slices;

/// Checks what the types of a profile leave open, so that nothing is stored that cannot be read.
pub(in crate::store) fn check(
    build: &Build,
    profile: &Profile,
    interned: &Interned,
) -> Result<(), Fault> {
    let Interned {
        frames,
        tree,
        costs,
        lines,
        slices,
    } = interned;
    let ascending = |costs: &SelfCosts| costs.is_sorted_by(|a, b| a.0 < b.0);
    let lines_ascending =
        |lines: &Vec<LineCost>| lines.is_sorted_by(|a, b| (a.frame, a.line) < (b.frame, b.line));
    let rules = [
        (profile.build == build.id(), "it names another build"),
        (
            costs.len() == profile.sample_types.len() && lines.len() == costs.len(),
            "it has not as many columns of costs as sample types",
        ),
        (is_preorder(tree), "its tree is not in preorder"),
        (
            siblings_ascend(tree),
            "two callees of one stack are out of order, or the same",
        ),
        (
            tree.frames().iter().all(|frame| frame.get() < frames.len()),
            "a node's frame does not exist",
        ),
        (costs.iter().all(ascending), "its costs are out of order"),
        (
            costs
                .iter()
                .flatten()
                .all(|&(node, cost)| node.get() < tree.len() && !cost.is_zero()),
            "a cost is zero, or of a node that does not exist",
        ),
        (
            lines.iter().all(lines_ascending),
            "its line costs are out of order",
        ),
        (
            lines
                .iter()
                .flatten()
                .all(|cost| cost.frame.get() < frames.len() && cost.line > 0),
            "a line cost is of line 0, or of a frame that does not exist",
        ),
    ];
    if let Some((_, why)) = rules.iter().find(|(kept, _)| !kept) {
        return Err(Fault::Refused(why));
    }
    match slices {
        Some(slices) => slices::check(slices, interned),
        None => Ok(()),
    }
}

fn is_preorder(tree: &StackTree) -> bool {
    let mut open = None;
    tree.nodes().all(|node| {
        let parent = tree.parent(node);
        while open != parent && open.is_some() {
            open = open.and_then(|open| tree.parent(open));
        }
        let found = open == parent;
        open = Some(node);
        found
    })
}

/// Whether the children of each node, and the roots, stand in the order of their frames.
fn siblings_ascend(tree: &StackTree) -> bool {
    // In preorder, the sibling before is what was last left on the way back to the parent.
    let mut path: Vec<(NodeIx, FrameIx)> = Vec::new();
    tree.nodes().all(|node| {
        let parent = tree.parent(node);
        let frame = tree.frame(node);
        let mut sibling = None;
        while path.last().map(|&(open, _)| open) != parent {
            match path.pop() {
                Some((_, left)) => sibling = Some(left),
                None => break,
            }
        }
        path.push((node, frame));
        sibling.is_none_or(|sibling| sibling < frame)
    })
}
