//! Self and total cost of functions, with recursion counted once.

use super::View;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_core::model::{FrameIx, StringIx};
use sto_core::tree::{for_each_total, outermost, totals};
use sto_core::units::Cost;

/// The cost of a function over all stacks.
///
/// A function is a symbol of a module. Frames that differ only in kind, file or line, such as
/// inlined and called copies, are the same function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// A representative frame: the one with the highest self cost, or the first of several.
    pub frame: FrameIx,
    /// Cost of the samples that ended in the function.
    pub self_cost: Cost,
    /// Cost of the samples whose stack contains the function.
    pub total: Cost,
}

/// Returns the functions of a view in one sample type, ordered by module and symbol.
///
/// Functions without a cost in this sample type are left out.
pub fn functions(view: &View, sample_type: usize) -> Vec<Function> {
    let function_of = function_numbers(view);
    let is_outermost: Vec<bool> = outermost(&view.tree, &function_of).collect();
    let mut costs = vec![(Cost::ZERO, Cost::ZERO); count_of(&function_of)];
    let mut frame_self = vec![Cost::ZERO; view.frames.len()];
    for column in view.runs.iter().filter_map(|run| run.get(sample_type)) {
        for_each_total(&view.tree, column, |node, own, total| {
            let frame = view.tree.frame(node).get();
            let (self_cost, function_total) = &mut costs[function_of[frame] as usize];
            frame_self[frame] += own;
            *self_cost += own;
            // As in `sum_costs`.
            if is_outermost[node.get()] {
                *function_total += total;
            }
        });
    }

    let ranks = view.frames.ranks();
    let mut faces: Vec<Option<FrameIx>> = vec![None; costs.len()];
    for (frame, _) in view.frames.iter() {
        let key = |frame: FrameIx| {
            let cost = frame_self[frame.get()];
            (
                cost.value,
                cost.samples,
                std::cmp::Reverse(ranks[frame.get()]),
            )
        };
        let face = &mut faces[function_of[frame.get()] as usize];
        if face.is_none_or(|face| key(frame) > key(face)) {
            *face = Some(frame);
        }
    }
    let mut functions: Vec<Function> = faces
        .into_iter()
        .zip(costs)
        .filter(|(_, (_, total))| !total.is_zero())
        .filter_map(|(frame, (self_cost, total))| {
            frame.map(|frame| Function {
                frame,
                self_cost,
                total,
            })
        })
        .collect();
    functions.sort_unstable_by_key(|function| ranks[function.frame.get()]);
    functions
}

/// Returns self and total cost for each number in `number_of`, which assigns frames to functions or
/// modules. Recursion is counted once.
pub(crate) fn sum_costs(view: &View, self_costs: &[Cost], number_of: &[u32]) -> Vec<(Cost, Cost)> {
    let totals = totals(&view.tree, self_costs);
    let mut costs = vec![(Cost::ZERO, Cost::ZERO); count_of(number_of)];
    // A sample counts once for a function, however often its stack contains the function. Otherwise
    // a recursive function could cost more than the whole profile. This is `cum` in pprof, and the
    // code path potential with recursion correction of Lundberg and Rettig (Modeling Profiling Data
    // in a Graph Database, 2024, chapter 5). The total of the outermost occurrence includes all
    // samples of the inner ones.
    for (node, is_outermost) in view.tree.nodes().zip(outermost(&view.tree, number_of)) {
        let number = number_of[view.tree.frame(node).get()] as usize;
        costs[number].0 += self_costs[node.get()];
        if is_outermost {
            costs[number].1 += totals[node.get()];
        }
    }
    costs
}

/// Returns the number of distinct numbers, which are dense.
fn count_of(number_of: &[u32]) -> usize {
    number_of.iter().max().map_or(0, |&last| last as usize + 1)
}

/// Returns the cost of each function in direct calls by another, keyed by the numbers of caller and
/// callee. Only the outermost calls of recursive functions count.
pub(crate) fn call_costs(
    view: &View,
    self_costs: &[Cost],
    number_of: &[u32],
) -> BTreeMap<(u32, u32), Cost> {
    let totals = totals(&view.tree, self_costs);
    let number = |node| number_of[view.tree.frame(node).get()];
    let mut between: BTreeMap<(u32, u32), Cost> = BTreeMap::new();
    let nodes = view.tree.nodes().zip(outermost(&view.tree, number_of));
    for (node, _) in nodes.filter(|&(_, is_outermost)| is_outermost) {
        let callee = number(node);
        let total = totals[node.get()];
        if let Some(caller) = view.tree.parent(node).filter(|_| !total.is_zero()) {
            *between.entry((number(caller), callee)).or_default() += total;
        }
    }
    between
}

/// Returns the number of each frame's function. Numbers are dense and ascend in the order of
/// frames.
pub fn function_numbers(view: &View) -> Vec<u32> {
    let mut numbers: HashMap<(StringIx, StringIx), u32> = HashMap::new();
    view.frames
        .iter()
        .map(|(frame, _)| {
            let (symbol, module, _) = view.frames.string_indices(frame);
            let next = numbers.len() as u32;
            *numbers.entry((symbol, module)).or_insert(next)
        })
        .collect()
}
