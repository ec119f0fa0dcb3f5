//! What a run's samples are counted by: stacks, as far down as they hold enough.

use sto_core::tree::{NodeIx, StackTree};

/// Part of all samples that a stack needs, with what is below it, to be counted separately from its caller's.
const MIN_TOTAL: f64 = 0.02;
/// The same for what is left to it without those below that are counted separately.
const MIN_OWN: f64 = 0.005;

/// For each node the category that its samples are counted in; each is a stack with what is below it and no category
/// of its own.
pub(super) fn categories(tree: &StackTree, samples: &[u64]) -> (Vec<u32>, usize) {
    let all: u64 = samples.iter().sum();
    let mut totals = samples.to_vec();
    let parents: Vec<Option<NodeIx>> = tree.nodes().map(|node| tree.parent(node)).collect();
    for ix in (0..totals.len()).rev() {
        if let Some(parent) = parents[ix] {
            totals[parent.get()] += totals[ix];
        }
    }
    let is_large = |total: u64, part: f64| total > 0 && total as f64 >= part * all as f64;
    // The innermost stack above each node that is large enough, and what is left to each of them.
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(totals.len());
    let mut own = vec![0_u64; totals.len()];
    for ix in 0..totals.len() {
        let above = parents[ix].and_then(|parent| nearest[parent.get()]);
        let here = match is_large(totals[ix], MIN_TOTAL) {
            true => Some(ix),
            false => above,
        };
        nearest.push(here);
        if let Some(here) = here {
            own[here] += samples[ix];
        }
    }
    // Too little is left to some: their callers have it.
    let mut numbers: Vec<Option<u32>> = vec![None; totals.len()];
    let mut count = 1;
    for ix in 0..totals.len() {
        let above = parents[ix].and_then(|parent| numbers[parent.get()]);
        numbers[ix] = match nearest[ix] == Some(ix) && is_large(own[ix], MIN_OWN) {
            true => {
                count += 1;
                Some(count - 1)
            }
            false => above,
        };
    }
    // What is in none is one more.
    let numbers = numbers.into_iter().map(|number| number.unwrap_or(0));
    (numbers.collect(), count as usize)
}
