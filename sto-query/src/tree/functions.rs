//! Self and total cost of functions, with recursion counted once.

use super::View;
use hashbrown::HashMap;
use std::collections::BTreeMap;
use sto_core::model::{FrameIx, StringIx};
use sto_core::tree::{outermost, totals};
use sto_core::units::Cost;

/// What a function cost over all stacks.
///
/// A function is a symbol of a module: frames that differ in kind, file or line alone (inlined
/// here and called there, or at another line) are one function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// The frame that stands for it: of its frames the one with the highest self cost, then the
    /// first in the order of frames.
    pub frame: FrameIx,
    /// Cost of the samples that ended in it.
    pub self_cost: Cost,
    /// Cost of the samples whose stack has it at least once.
    pub total: Cost,
}

/// The functions of a view in one sample type, in the order of module and symbol.
///
/// Functions that are on no stack of that sample type are left out.
pub fn functions(view: &View, sample_type: usize) -> Vec<Function> {
    let self_costs = view.self_costs(sample_type);
    let function_of = function_numbers(view);
    let costs = costs_by(view, &self_costs, &function_of);
    let mut frame_self = vec![Cost::ZERO; view.frames.len()];
    for (frame, &cost) in view.tree.frames().iter().zip(&self_costs) {
        frame_self[frame.get()] += cost;
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

/// Self and total cost of what frames are numbered by, functions or modules, with recursion counted once.
pub(crate) fn costs_by(view: &View, self_costs: &[Cost], number_of: &[u32]) -> Vec<(Cost, Cost)> {
    let totals = totals(&view.tree, self_costs);
    let mut costs = vec![(Cost::ZERO, Cost::ZERO); count_of(number_of)];
    // A sample counts once for a function, however often its stack has that function; counting
    // each occurrence would give a recursive function more than the whole profile. That is the
    // `cum` of pprof, and the code path potential with its recursion correction of Lundberg and
    // Rettig (Modeling Profiling Data in a Graph Database, 2024, chapter 5). The outermost
    // occurrence has every sample of those below it.
    for (node, is_outermost) in view.tree.nodes().zip(outermost(&view.tree, number_of)) {
        let number = number_of[view.tree.frame(node).get()] as usize;
        costs[number].0 += self_costs[node.get()];
        if is_outermost {
            costs[number].1 += totals[node.get()];
        }
    }
    costs
}

/// How many numbers there are.
fn count_of(number_of: &[u32]) -> usize {
    number_of.iter().max().map_or(0, |&last| last as usize + 1)
}

/// What each function cost in direct calls by another, by their numbers, caller first; of a recursive function its
/// outermost calls.
pub(crate) fn costs_between(
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

/// A dense number for each function, by frame: they count up in the order of the frames.
pub fn function_numbers(view: &View) -> Vec<u32> {
    let mut numbers: HashMap<(StringIx, StringIx), u32> = HashMap::new();
    view.frames
        .iter()
        .map(|(frame, _)| {
            let (symbol, module, _) = view.frames.strings_of(frame);
            let next = numbers.len() as u32;
            *numbers.entry((symbol, module)).or_insert(next)
        })
        .collect()
}
