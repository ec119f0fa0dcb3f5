//! Finds the callees in library code and unchanged modules that account for the change of a cause.

use super::cause::{Cause, Evidences};
use super::functions::{Function, FunctionIx};
use super::pair::Pair;
use super::result::{AttributedCallee, Basis, round_for_output};
use super::union::UnionTree;
use crate::functions::UNRESOLVED;
use std::collections::BTreeMap;

/// Module name of the kernel's own code.
const KERNEL: &str = "[kernel]";
/// Maximum number of callees in a finding.
const MAX_CALLEES: usize = 3;
/// Minimum share of the change of a callee in a finding.
const MIN_SHARE: f64 = 0.1;

/// The callees whose cost is attributed to a cause and changed with it.
#[derive(Debug, Default)]
pub(super) struct Callees {
    /// The callees with a share in the change, the largest share first.
    pub(super) named: Vec<AttributedCallee>,
    /// Whether callees account for most of the change.
    pub(super) have_most: bool,
}

/// A function of a module, or `None` for the module's functions that are too small to be named.
type Part<'a> = (&'a str, Option<&'a str>);

/// Returns, for each cause, the callees whose cost is attributed to it and changed with it.
///
/// A callee is a direct callee of the function: `fprintf` of the C library, say, with everything
/// that it calls there. Time in the kernel is listed separately, whichever callee led there.
pub(super) fn attributed_callees(
    evidences: &Evidences,
    owners: &[u32],
    causes: &[Cause],
) -> Vec<Callees> {
    let Evidences {
        tree,
        functions,
        nodes,
        ..
    } = *evidences;
    let mut cause_of: Vec<Option<usize>> = vec![None; functions.list.len()];
    for (ix, cause) in causes.iter().enumerate() {
        if cause.basis == Basis::AttributedSelf {
            cause_of[cause.function.get()] = Some(ix);
        }
    }
    let mut sums: Vec<BTreeMap<Part, Pair<u64>>> = vec![BTreeMap::new(); causes.len()];
    // For each node that is attributed to a caller, the direct callee of that caller.
    let mut called: Vec<FunctionIx> = Vec::with_capacity(owners.len());
    for (node, &owner) in owners.iter().enumerate() {
        let owner = owner as usize;
        let parent = tree.parent(node).filter(|&parent| parent != owner);
        let callee = match parent {
            Some(parent) if owner != node => called[parent],
            _ => tree.function(node),
        };
        called.push(callee);
        if owner != node
            && let Some(cause) = cause_of[tree.function(owner).get()]
        {
            let part = match &*functions.list[tree.function(node).get()].module {
                KERNEL => (KERNEL, None),
                _ => part_of(&functions.list[callee.get()]),
            };
            let sum = sums[cause].entry(part).or_default();
            sum.baseline += self_count(tree, &nodes.total.baseline, node);
            sum.candidate += self_count(tree, &nodes.total.candidate, node);
        }
    }
    let causes = causes.iter().zip(sums);
    let callees = causes.map(|(cause, sums)| callees(evidences, cause, sums));
    callees.collect()
}

fn callees(evidences: &Evidences, cause: &Cause, mut sums: BTreeMap<Part, Pair<u64>>) -> Callees {
    let Evidences { tests, sizes, .. } = *evidences;
    let function = cause.function.get();
    let (own, all) = (&tests.self_[function], &tests.attributed[function]);
    let part = |samples: Pair<u64>| {
        let means = sizes.means(samples);
        (means.candidate - means.baseline) / all.difference()
    };
    // Small functions together may make up much of a module.
    let is_small = |&(_, function): &Part, samples: &mut Pair<u64>| {
        function.is_some() && part(*samples) <= MIN_SHARE
    };
    let small: Vec<(Part, Pair<u64>)> = sums.extract_if(.., is_small).collect();
    for ((module, _), samples) in small {
        let sum = sums.entry((module, None)).or_default();
        sum.baseline += samples.baseline;
        sum.candidate += samples.candidate;
    }
    sums.retain(|_, samples| part(*samples) > MIN_SHARE);
    let mut parts: Vec<(Part, Pair<u64>)> = sums.into_iter().collect();
    parts.sort_by(|a, b| part(b.1).total_cmp(&part(a.1)));
    parts.truncate(MAX_CALLEES);
    let named = |((module, function), samples): (Part, Pair<u64>)| AttributedCallee {
        function: function.map(str::to_owned),
        module: module.to_owned(),
        baseline_share: share(samples.baseline, all.samples.baseline, all.share.baseline),
        candidate_share: share(
            samples.candidate,
            all.samples.candidate,
            all.share.candidate,
        ),
    };
    Callees {
        named: parts.into_iter().map(named).collect(),
        have_most: own.difference() / all.difference() <= 0.5,
    }
}

fn part_of(callee: &Function) -> Part<'_> {
    let has_symbol = callee.symbol != UNRESOLVED;
    (&callee.module, has_symbol.then_some(&*callee.symbol))
}

/// Returns the share of all samples of a part of a function's samples.
fn share(samples: u64, of: u64, share: f64) -> f64 {
    match of {
        0 => 0.0,
        of => round_for_output(samples as f64 / of as f64 * share),
    }
}

/// Returns the self count of a node.
fn self_count(tree: &UnionTree, totals: &[u64], node: usize) -> u64 {
    let callees = tree.callees(Some(node)).map(|callee| totals[callee]);
    callees.fold(totals[node], u64::saturating_sub)
}
