//! Stacks of a window of runs and of the judged runs after it.

use crate::compare::{FunctionName, StackNode, Stacks, in_preorder};
use crate::history::{FunctionIx, History, Judged};
use hashbrown::HashMap;

/// Returns the stacks of the runs of a window and of the judged runs; `None` if either has no samples. Stacks with
/// the same functions are merged.
pub(super) fn stacks(history: &History, judged: &Judged) -> Option<Stacks> {
    let mut stacks: Vec<(Option<usize>, StackNode)> = Vec::new();
    let mut known: HashMap<(Option<usize>, FunctionIx), usize> = HashMap::new();
    let mut stack_of: Vec<usize> = Vec::with_capacity(history.tree.len());
    let mut is_known = vec![false; history.tree.len()];
    for run in judged.all() {
        history.for_each_total(run, |node, _| is_known[node.get()] = true);
    }
    for node in history.tree.nodes() {
        if !is_known[node.get()] {
            stack_of.push(0);
            continue;
        }
        let caller = history
            .tree
            .parent(node)
            .map(|caller| stack_of[caller.get()]);
        let function = history.function(node);
        stack_of.push(*known.entry((caller, function)).or_insert_with(|| {
            let stack = StackNode {
                depth: 0,
                function: function.get(),
                baseline_samples: 0,
                candidate_samples: 0,
            };
            stacks.push((caller, stack));
            stacks.len() - 1
        }));
    }
    let (runs, judged_runs) = (judged.window.len(), judged.runs.len());
    for run in judged.all() {
        history.for_each_total(run, |node, total| {
            let (_, stack) = &mut stacks[stack_of[node.get()]];
            let side = if judged.runs.contains(&run) {
                &mut stack.candidate_samples
            } else {
                &mut stack.baseline_samples
            };
            *side = side.saturating_add(total.samples);
        });
    }
    let sum = |samples: fn(&StackNode) -> u64| -> f64 {
        let outermost = stacks.iter().filter(|(caller, _)| caller.is_none());
        outermost.map(|(_, stack)| samples(stack) as f64).sum()
    };
    let baseline = sum(|stack| stack.baseline_samples);
    let candidate = sum(|stack| stack.candidate_samples);
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
        nodes: in_preorder(stacks),
        baseline_cost: 1.0 / baseline,
        candidate_cost: runs as f64 / baseline / judged_runs as f64,
    })
}
