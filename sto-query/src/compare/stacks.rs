//! The stacks of both sides with their costs, for a differential flame graph.

use super::cause::Evidences;
use super::functions::FunctionIx;
use super::result::{StackNode, Stacks, round_for_output};
use std::cmp::Reverse;

/// Returns all stacks that have samples.
pub(super) fn stacks(evidences: &Evidences) -> Stacks {
    let Evidences {
        tree,
        functions,
        nodes,
        sizes,
        tests,
        ..
    } = *evidences;
    let unit = 1.0 / sizes.means(tests.setting.samples).baseline;
    let sums = sizes.sums();
    let stacks = (0..tree.len()).map(|node| {
        let stack = StackNode {
            depth: 0,
            function: tree.function(node).get(),
            baseline_samples: nodes.total.baseline[node],
            candidate_samples: nodes.total.candidate[node],
        };
        (tree.parent(node), stack)
    });
    Stacks {
        functions: (0..functions.list.len())
            .map(|ix| functions.name(FunctionIx(ix as u32)))
            .collect(),
        nodes: in_preorder(stacks.collect()),
        baseline_cost: round_for_output(unit / sums.baseline),
        candidate_cost: round_for_output(unit / sums.candidate),
    }
}

/// Returns the stacks with samples in preorder, siblings sorted by name, with their depths. Each
/// stack comes with the index of its caller, which precedes it. Functions are numbered in the order
/// of their names.
pub(crate) fn in_preorder(stacks: Vec<(Option<usize>, StackNode)>) -> Vec<StackNode> {
    let mut callees = vec![Vec::new(); stacks.len()];
    let mut outermost = Vec::new();
    for (ix, (caller, _)) in stacks.iter().enumerate() {
        let siblings = caller.map_or(&mut outermost, |caller| &mut callees[caller]);
        siblings.push(ix);
    }
    let mut nodes = Vec::with_capacity(stacks.len());
    // Siblings are pushed in reverse order, because the stack is popped from the back.
    let mut open = Vec::new();
    let push = |open: &mut Vec<(usize, usize)>, mut siblings: Vec<usize>, depth| {
        siblings.sort_by_key(|&ix| Reverse(stacks[ix].1.function));
        open.extend(siblings.into_iter().map(|ix| (ix, depth)));
    };
    push(&mut open, outermost, 0);
    while let Some((ix, depth)) = open.pop() {
        nodes.push(StackNode {
            depth,
            ..stacks[ix].1
        });
        push(&mut open, std::mem::take(&mut callees[ix]), depth + 1);
    }
    nodes.retain(|node| node.baseline_samples > 0 || node.candidate_samples > 0);
    nodes
}
