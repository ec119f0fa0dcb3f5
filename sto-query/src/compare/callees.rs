//! Where a cause spends what it costs more: in itself, or in the library code and the unchanged
//! modules that it calls.

use super::cause::{Cause, Evidences};
use super::functions::{Function, FunctionIx};
use super::pair::Pair;
use super::result::{AttributedCallee, Basis, rounded};
use super::union::UnionTree;
use crate::functions::UNRESOLVED;
use std::collections::BTreeMap;

/// The module of the kernel's own code.
const KERNEL: &str = "[kernel]";
/// Callees that a finding names.
const NAMED: usize = 3;
/// Part of the change that a callee needs to be named.
const WORTH_NAMING: f64 = 0.1;

/// For each cause what its attributed self has from others, and whether that is most of its change.
#[derive(Debug, Default)]
pub(super) struct Callees {
    /// What it calls that has a part in its change, the largest part first.
    pub(super) named: Vec<AttributedCallee>,
    /// Whether most of its change is there.
    pub(super) have_most: bool,
}

/// A function of a module; or all of it that is not worth naming by function.
type Part<'a> = (&'a str, Option<&'a str>);

/// For each cause the callees whose cost is attributed to it and changed with it.
///
/// A callee is what the function itself called: `fprintf` of the C library, say, with all that it
/// calls there. Time in the kernel is a part of its own, whatever led there.
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
    // For each node that is attributed to another, what that one called.
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
    // Functions with little each may make up much of a module.
    let is_little = |&(_, function): &Part, samples: &mut Pair<u64>| {
        function.is_some() && part(*samples) <= WORTH_NAMING
    };
    let little: Vec<(Part, Pair<u64>)> = sums.extract_if(.., is_little).collect();
    for ((module, _), samples) in little {
        let sum = sums.entry((module, None)).or_default();
        sum.baseline += samples.baseline;
        sum.candidate += samples.candidate;
    }
    sums.retain(|_, samples| part(*samples) > WORTH_NAMING);
    let mut parts: Vec<(Part, Pair<u64>)> = sums.into_iter().collect();
    parts.sort_by(|a, b| part(b.1).total_cmp(&part(a.1)));
    parts.truncate(NAMED);
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

/// The share of all samples that a part of a function's samples is.
fn share(samples: u64, of: u64, share: f64) -> f64 {
    match of {
        0 => 0.0,
        of => rounded(samples as f64 / of as f64 * share),
    }
}

/// What a node has that its callees have not.
fn self_count(tree: &UnionTree, totals: &[u64], node: usize) -> u64 {
    let callees = tree.callees(Some(node)).map(|callee| totals[callee]);
    callees.fold(totals[node], u64::saturating_sub)
}
