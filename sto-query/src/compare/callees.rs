//! Where a cause spends what it costs more: in itself, or in unchanged modules that it calls.

use super::blame::{Cause, Evidences};
use super::pair::Pair;
use super::report::Basis;
use super::union::UnionTree;
use std::collections::BTreeMap;

/// Modules that a sentence names.
const NAMED: usize = 2;
/// Part of the change that a module needs to be named.
const WORTH_NAMING: f64 = 0.1;

/// For each cause, where most of its change took place in modules that cannot have changed, those
/// modules: the ones with the largest part first.
pub(super) fn unchanged_callees(
    evidences: &Evidences,
    owners: &[u32],
    causes: &[Cause],
) -> Vec<Vec<String>> {
    let Evidences {
        tree,
        functions,
        nodes,
        tests,
        ..
    } = *evidences;
    let mut cause_of: Vec<Option<usize>> = vec![None; functions.list.len()];
    for (place, cause) in causes.iter().enumerate() {
        if cause.basis == Basis::AttributedSelf {
            cause_of[cause.function.get()] = Some(place);
        }
    }
    let mut by_module: Vec<BTreeMap<&str, Pair<u64>>> = vec![BTreeMap::new(); causes.len()];
    for (node, &owner) in owners.iter().enumerate() {
        if owner as usize != node
            && let Some(cause) = cause_of[tree.function(owner as usize).get()]
        {
            let module = functions.list[tree.function(node).get()].module.as_str();
            let sum = by_module[cause].entry(module).or_default();
            sum.baseline += self_count(tree, &nodes.total.baseline, node);
            sum.candidate += self_count(tree, &nodes.total.candidate, node);
        }
    }
    let named = |(cause, by_module): (&Cause, BTreeMap<&str, Pair<u64>>)| {
        let function = cause.function.get();
        let (own, all) = (&tests.self_[function], &tests.attributed[function]);
        if own.difference() / all.difference() > 0.5 {
            return Vec::new();
        }
        let mut parts: Vec<(f64, &str)> = by_module
            .into_iter()
            .map(|(module, samples)| {
                let means = evidences.sizes.means(samples);
                (
                    (means.candidate - means.baseline) / all.difference(),
                    module,
                )
            })
            .filter(|&(part, _)| part > WORTH_NAMING)
            .collect();
        parts.sort_by(|a, b| b.0.total_cmp(&a.0));
        parts
            .into_iter()
            .take(NAMED)
            .map(|(_, module)| module.to_owned())
            .collect()
    };
    causes.iter().zip(by_module).map(named).collect()
}

/// What a node has that its callees have not.
fn self_count(tree: &UnionTree, totals: &[u64], node: usize) -> u64 {
    let callees = tree.callees(Some(node)).map(|callee| totals[callee]);
    callees.fold(totals[node], u64::saturating_sub)
}
