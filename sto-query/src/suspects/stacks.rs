//! The stacks of a window of runs, and of the judged runs behind it.

use crate::compare::{FunctionName, StackNode, Stacks};
use crate::history::{FunctionIx, History, Judged};
use hashbrown::HashMap;

/// A stack of functions: stacks whose frames are the same functions fall together.
#[derive(Default)]
struct Node {
    callees: Vec<(FunctionIx, usize)>,
    baseline: u64,
    candidate: u64,
}

/// The stacks of the runs of a window, and of the judged runs; `None` where either has no samples.
pub(super) fn stacks(history: &History, judged: &Judged) -> Option<Stacks> {
    let mut tree = vec![Node::default()];
    let mut known: HashMap<(usize, FunctionIx), usize> = HashMap::new();
    let mut place: Vec<usize> = Vec::with_capacity(history.tree.len());
    let mut is_known = vec![false; history.tree.len()];
    for run in judged.all() {
        history.for_each_total(run, |node, _| is_known[node.get()] = true);
    }
    for node in history.tree.nodes() {
        if !is_known[node.get()] {
            place.push(0);
            continue;
        }
        let caller = history
            .tree
            .parent(node)
            .map_or(0, |caller| place[caller.get()]);
        let function = history.function(node);
        let next = tree.len();
        let ix = *known.entry((caller, function)).or_insert(next);
        if ix == next {
            tree.push(Node::default());
            tree[caller].callees.push((function, ix));
        }
        place.push(ix);
    }
    let (runs, judged_runs) = (judged.window.len(), judged.runs.len());
    for run in judged.all() {
        history.for_each_total(run, |node, total| {
            let node = &mut tree[place[node.get()]];
            let side = match judged.runs.contains(&run) {
                true => &mut node.candidate,
                false => &mut node.baseline,
            };
            *side = side.saturating_add(total.samples);
        });
    }
    let sum = |samples: fn(&Node) -> u64| -> f64 {
        let outermost = tree[0].callees.iter();
        outermost.map(|&(_, ix)| samples(&tree[ix]) as f64).sum()
    };
    let (baseline, candidate) = (sum(|node| node.baseline), sum(|node| node.candidate));
    if baseline == 0.0 || candidate == 0.0 {
        return None;
    }
    Some(Stacks {
        functions: history
            .functions
            .iter()
            .map(|function| FunctionName {
                function: function.function.clone(),
                module: function.module.clone(),
            })
            .collect(),
        nodes: in_order(tree),
        baseline_cost: 1.0 / baseline,
        candidate_cost: runs as f64 / baseline / judged_runs as f64,
    })
}

/// The stacks with samples in preorder, those beside each other by name.
fn in_order(mut tree: Vec<Node>) -> Vec<StackNode> {
    let mut nodes = Vec::new();
    let mut open = Vec::new();
    let push = |open: &mut Vec<_>, mut callees: Vec<(FunctionIx, usize)>, depth: usize| {
        callees.sort_unstable();
        open.extend(callees.into_iter().rev().map(|callee| (callee, depth)));
    };
    push(&mut open, std::mem::take(&mut tree[0].callees), 0);
    while let Some(((function, ix), depth)) = open.pop() {
        let node = std::mem::take(&mut tree[ix]);
        if node.baseline > 0 || node.candidate > 0 {
            nodes.push(StackNode {
                depth,
                function: function.get(),
                baseline_samples: node.baseline,
                candidate_samples: node.candidate,
            });
            push(&mut open, node.callees, depth + 1);
        }
    }
    nodes
}
