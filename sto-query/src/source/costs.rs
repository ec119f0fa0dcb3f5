//! Costs of a function's lines.

use crate::compare::{Focus, Lines};
use crate::functions::{FunctionError, KeyOptions, key_of};
use crate::tree::{View, totals};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::Frame;
use sto_core::units::Cost;

/// Cost of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct LineCosts {
    /// Self cost: samples that ended at the line.
    pub(crate) own: Cost,
    /// Total cost: samples whose stack contains the line.
    pub(crate) total: Cost,
}

/// Costs of a function's lines.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub(crate) struct FunctionLines {
    /// Normalised symbol, as in a comparison.
    pub(crate) function: String,
    /// Whether it has closures, whose cost is included in its lines.
    pub(crate) with_closures: bool,
    /// The file that its code was loaded from; empty if unknown.
    pub(crate) module: String,
    /// Self cost.
    pub(crate) own: Cost,
    /// Total cost.
    pub(crate) total: Cost,
    /// Costs by line for each source file, most expensive file first.
    pub files: Vec<(String, BTreeMap<u32, LineCosts>)>,
}

/// Returns the cost of each line of a function in one sample type of a view; `runs` are the lines of its profiles.
/// Without line information, there are no files.
///
/// As in a comparison, a function is a symbol's key in a module; it includes its closures. If several modules have
/// it, the one where it costs most is used. If a line belongs to the function and a closure, its total is the larger
/// one, because one mostly calls the other.
///
/// # Errors
///
/// Returns an error if the name denotes several functions.
pub(crate) fn function_lines(
    view: &View,
    sample_type: usize,
    runs: &[Lines],
    meant: &Focus,
) -> Result<FunctionLines, FunctionError> {
    let key = |frame: Frame<'_>| key_of(frame, KeyOptions::default()).into_owned();
    let frames = view.frames.iter();
    let meant_frames = frames.filter(|&(_, frame)| meant.contains(frame));
    let keys: BTreeSet<String> = meant_frames.map(|(_, frame)| key(frame)).collect();
    let function = match keys.len() {
        1 => keys.into_iter().next().unwrap_or_default(),
        _ => {
            return Err(FunctionError::Several {
                text: meant.name().to_owned(),
                names: keys.into_iter().collect(),
            });
        }
    };
    let mut modules: BTreeMap<&str, [Cost; 2]> = BTreeMap::new();
    let self_costs = view.self_costs(sample_type);
    let node_totals = totals(&view.tree, &self_costs);
    let ends = view.tree.subtree_ends();
    let closures = format!("{function}::{{closure");
    let is_key = |key: &str| key == function || key.starts_with(&closures);
    let keys = view.frames.iter().map(|(_, frame)| key(frame));
    let keys: Vec<String> = keys.collect();
    let is_it: Vec<bool> = keys.iter().map(|key| is_key(key)).collect();
    let with_closures = keys.iter().any(|key| key.starts_with(&closures));
    let mut counted_until: BTreeMap<&str, u32> = BTreeMap::new();
    for node in view.tree.nodes() {
        let frame = view.tree.frame(node);
        if !is_it[frame.get()] {
            continue;
        }
        let module = view.frames.frame(frame).module;
        let [own, total] = modules.entry(module).or_default();
        *own += self_costs[node.get()];
        let until = counted_until.entry(module).or_default();
        if node.0 >= *until {
            *total += node_totals[node.get()];
            *until = ends[node.get()];
        }
    }
    let largest = modules.into_iter().max_by_key(|&(module, [own, total])| {
        (total.value, total.samples, own.value, Reverse(module))
    });
    let (module, [own, total]) = largest.unwrap_or_default();

    // By file, line and key, which is that of the function or a closure.
    let mut costs: BTreeMap<(&str, u32, String), LineCosts> = BTreeMap::new();
    for run in runs {
        let keys = run.frames.iter().map(|(_, frame)| {
            let key = key(frame);
            (frame.module == module && is_key(&key)).then_some((frame.file, key))
        });
        let keys: Vec<Option<(&str, String)>> = keys.collect();
        for cost in &run.costs {
            if let Some((file, key)) = &keys[cost.frame.get()] {
                let line = costs.entry((file, cost.line, key.clone())).or_default();
                line.own += cost.self_cost;
                line.total += cost.total;
            }
        }
    }
    let mut files: BTreeMap<String, BTreeMap<u32, LineCosts>> = BTreeMap::new();
    let weight = |cost: Cost| (cost.value, cost.samples);
    for ((file, line, _), costs) in costs {
        let lines = files.entry(file.to_owned()).or_default();
        let line = lines.entry(line).or_default();
        line.own += costs.own;
        line.total = std::cmp::max_by_key(line.total, costs.total, |&cost| weight(cost));
    }
    let mut files: Vec<_> = files.into_iter().collect();
    files.sort_by_cached_key(|(_, lines)| {
        let total: Cost = lines.values().map(|line| line.total).sum();
        Reverse(weight(total))
    });
    Ok(FunctionLines {
        function,
        with_closures,
        module: module.to_owned(),
        own,
        total,
        files,
    })
}
