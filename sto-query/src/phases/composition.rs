//! Categories of a run's samples: stacks, subdivided as far as they have enough samples.

use sto_core::tree::{NodeIx, StackTree};

/// Minimum share of all samples that a stack needs in total to be a category of its own.
const MIN_TOTAL: f64 = 0.02;
/// Minimum share that must remain for a stack after subdividing it.
const MIN_OWN: f64 = 0.005;

/// Returns the category of each node and the number of categories. A category is a stack with everything below it
/// that has no category of its own.
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
    // The nearest large enough ancestor of each node, and what remains for each of these.
    let mut nearest: Vec<Option<usize>> = Vec::with_capacity(totals.len());
    let mut own = vec![0_u64; totals.len()];
    for ix in 0..totals.len() {
        let above = parents[ix].and_then(|parent| nearest[parent.get()]);
        let here = if is_large(totals[ix], MIN_TOTAL) {
            Some(ix)
        } else {
            above
        };
        nearest.push(here);
        if let Some(here) = here {
            own[here] += samples[ix];
        }
    }
    // Categories with too few remaining samples are merged into their callers'.
    let mut numbers: Vec<Option<u32>> = vec![None; totals.len()];
    let mut count = 1;
    for ix in 0..totals.len() {
        let above = parents[ix].and_then(|parent| numbers[parent.get()]);
        numbers[ix] = if nearest[ix] == Some(ix) && is_large(own[ix], MIN_OWN) {
            count += 1;
            Some(count - 1)
        } else {
            above
        };
    }
    // The first category has the samples that are in no other.
    let numbers = numbers.into_iter().map(|number| number.unwrap_or(0));
    (numbers.collect(), count as usize)
}
