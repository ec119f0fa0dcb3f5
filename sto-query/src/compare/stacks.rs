//! The stacks of both sides with what they cost: what a differential flame graph is drawn from.

use super::blame::Evidences;
use super::evidence::Setting;
use super::functions::FunctionIx;
use super::result::{StackNode, Stacks, rounded};
use super::union::UnionTree;
use std::cmp::Reverse;

/// Every stack that has samples.
pub(super) fn stacks(evidences: &Evidences, setting: &Setting) -> Stacks {
    let Evidences {
        tree,
        functions,
        nodes,
        sizes,
        ..
    } = *evidences;
    let unit = 1.0 / sizes.means(setting.samples).baseline;
    let sums = sizes.sums();
    let node = |(node, depth): (usize, usize)| StackNode {
        depth,
        function: tree.function(node).get(),
        baseline_samples: nodes.total.baseline[node],
        candidate_samples: nodes.total.candidate[node],
    };
    let has_samples = |node: &StackNode| node.baseline_samples > 0 || node.candidate_samples > 0;
    Stacks {
        functions: (0..functions.list.len())
            .map(|ix| functions.name(FunctionIx(ix as u32)))
            .collect(),
        nodes: by_name(tree)
            .into_iter()
            .map(node)
            .filter(has_samples)
            .collect(),
        baseline_cost: rounded(unit / sums.baseline),
        candidate_cost: rounded(unit / sums.candidate),
    }
}

/// The nodes in preorder, siblings by name, each with the number of its callers. The order of the
/// tree is that of the input.
fn by_name(tree: &UnionTree) -> Vec<(usize, usize)> {
    let mut children = vec![Vec::new(); tree.len()];
    let mut roots = Vec::new();
    for node in 0..tree.len() {
        let siblings = match tree.parent(node) {
            Some(parent) => &mut children[parent],
            None => &mut roots,
        };
        siblings.push(node);
    }
    let mut order = Vec::with_capacity(tree.len());
    // Taken from the back, so the last name stands first. Functions are sorted by name.
    let mut open = Vec::new();
    let push = |open: &mut Vec<(usize, usize)>, mut siblings: Vec<usize>, depth| {
        siblings.sort_by_key(|&node| Reverse(tree.function(node)));
        open.extend(siblings.into_iter().map(|node| (node, depth)));
    };
    push(&mut open, roots, 0);
    while let Some((node, depth)) = open.pop() {
        order.push((node, depth));
        push(&mut open, std::mem::take(&mut children[node]), depth + 1);
    }
    order
}
