//! Moves blame from a function that costs more to a caller that calls it more often.
//!
//! A function whose self count grew may be as fast as before, but be called more often. Samples do
//! not count calls, but there are two indications. If nearly all of the growth is under one caller,
//! then either
//!
//! - everything else that the caller does grew as well: the caller runs more often, or does more;
//!   or
//! - the function costs other callers the same as before: it did not get slower itself.
//!
//! In both cases the caller is the cause, and so on up the stack. Otherwise, the deepest function
//! keeps the blame.

use super::cause::{Cause, Evidences, OutermostNodes, add};
use super::evidence::Direction;
use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::Basis;
use crate::functions::outside_of_closures;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Minimum share of a function's change under one caller.
const NEARLY_ALL: f64 = 0.9;
/// Minimum share of the rest of a caller that must have grown with the function.
const MOST_OF_THE_REST: f64 = 0.8;
/// Minimum growth of a part that grew with the function, in log ratios relative to the function's.
const GROWN_WITH_IT: f64 = 0.5;
/// Maximum growth of a function under other callers that counts as unchanged, in log ratios
/// relative to its growth under the caller.
const UNCHANGED: f64 = 0.25;
/// Minimum share of a caller, or of a function's cost, to judge by.
const SUBSTANTIAL: f64 = 0.1;
/// Minimum samples to judge by.
const MIN_SAMPLES: f64 = 10.0;

/// Attributes causes to the callers that call them more often, and merges causes with the same
/// caller.
pub(super) fn attribute_to_callers(
    evidences: &Evidences,
    outermost: &OutermostNodes,
    causes: Vec<Cause>,
) -> Vec<Cause> {
    let hoist = Hoist {
        evidences,
        outermost,
        parts: vec![OnceLock::new(); evidences.functions.list.len()],
    };
    let known = causes.iter().map(|cause| (cause.function, cause.direction));
    let known: BTreeSet<(FunctionIx, Direction)> = known.collect();
    let above = causes.par_iter().map(|cause| {
        let caller = hoist.cause_above(cause);
        caller.or_else(|| function_of_closure(evidences, cause, &known))
    });
    let above: Vec<Option<FunctionIx>> = above.collect();
    let mut hoisted: BTreeMap<(FunctionIx, Direction), Cause> = BTreeMap::new();
    for (mut cause, above) in causes.into_iter().zip(above) {
        let below = cause.function;
        if let Some(caller) = above {
            cause.function = caller;
            cause.basis = Basis::Calls;
            cause.grown_callees.push(below);
        }
        let key = (cause.function, cause.direction);
        match hoisted.get_mut(&key) {
            None => {
                hoisted.insert(key, cause);
            }
            Some(known) => {
                known.basis = Basis::Calls;
                known.grown_callees.extend(cause.grown_callees);
            }
        }
    }
    let mut causes: Vec<Cause> = hoisted.into_values().collect();
    for cause in causes
        .iter_mut()
        .filter(|cause| cause.basis == Basis::Calls)
    {
        // Everything that the caller does grew, so it explains all that is below it.
        cause.at = below(evidences, outermost, cause.function);
    }
    causes
}

/// Returns the function that contains a closure if it is a cause too, and nearly all of the
/// closure's change is below it: they are one function that changed.
fn function_of_closure(
    evidences: &Evidences,
    cause: &Cause,
    known: &BTreeSet<(FunctionIx, Direction)>,
) -> Option<FunctionIx> {
    let Evidences {
        tree, functions, ..
    } = *evidences;
    let closure = &functions.list[cause.function.get()];
    let name = outside_of_closures(&closure.symbol)?;
    let is_outer = |function: &FunctionIx| {
        let function = &functions.list[function.get()];
        function.symbol == name && function.module == closure.module
    };
    let same_direction = known
        .iter()
        .filter(|(_, direction)| *direction == cause.direction);
    let outer = same_direction
        .map(|(function, _)| *function)
        .find(is_outer)?;
    let is_below = |&node: &usize| {
        let callers = std::iter::successors(tree.parent(node), |&caller| tree.parent(caller));
        callers
            .into_iter()
            .any(|caller| tree.function(caller) == outer)
    };
    let change = |at: &mut dyn Iterator<Item = (usize, Pair<f64>)>| {
        evidences.difference(at.map(|(_, samples)| samples).fold(Pair::default(), add))
    };
    let all = change(&mut cause.at.iter().copied());
    let below = change(&mut cause.at.iter().copied().filter(|(node, _)| is_below(node)));
    (below / all >= NEARLY_ALL).then_some(outer)
}

/// Finds callers, and caches their parts, because many causes may have the same callers.
struct Hoist<'a> {
    evidences: &'a Evidences<'a>,
    outermost: &'a OutermostNodes,
    parts: Vec<OnceLock<Parts>>,
}

/// The parts of a caller's cost: its own, and the cost of each function that it calls.
type Parts = BTreeMap<FunctionIx, Pair<f64>>;

impl Hoist<'_> {
    /// Returns the outermost caller that a cause moves up to, if any.
    fn cause_above(&self, cause: &Cause) -> Option<FunctionIx> {
        let Hoist {
            evidences,
            outermost,
            ..
        } = *self;
        let mut above = None;
        let mut seen = BTreeSet::from([cause.function]);
        let mut function = cause.function;
        let mut at = cause.at.clone();
        while let Some(caller) = sole_caller(evidences, function, &at) {
            let total = &evidences.tests.total[caller.get()];
            // A caller that only one side has was renamed or is new, so it does not call anything
            // more often.
            if total.shifted != Some(cause.direction)
                || !total.is_on_both_sides()
                || !seen.insert(caller)
            {
                break;
            }
            match self.calls_it_more(cause.direction, (function, &at), caller) {
                Some(true) => above = Some(caller),
                Some(false) => break,
                // For a mere wrapper, its own caller is tried.
                None => {}
            }
            function = caller;
            at = outermost.totals(evidences, caller).collect();
        }
        above
    }

    /// Whether a caller calls a function more often; `None` if the caller has too little else to
    /// judge by.
    fn calls_it_more(
        &self,
        direction: Direction,
        (function, at): (FunctionIx, &[(usize, Pair<f64>)]),
        caller: FunctionIx,
    ) -> Option<bool> {
        let Hoist {
            evidences,
            outermost,
            ..
        } = *self;
        let growth = |samples: Pair<f64>| evidences.growth(samples, direction);
        // The side that the growth started from.
        let before = |samples: Pair<f64>| match direction {
            Direction::Up => samples.baseline,
            Direction::Down => samples.candidate,
        };
        let (mut inside, mut outside) = (Pair::default(), Pair::default());
        for &(node, samples) in at {
            if evidences.caller(node, function) == Some(caller) {
                inside = add(inside, samples);
            } else {
                outside = add(outside, samples);
            }
        }
        let grown_by = growth(inside);
        let enough = |part: f64, whole: f64| part >= MIN_SAMPLES && part >= SUBSTANTIAL * whole;
        if enough(before(outside), before(inside) + before(outside))
            && growth(outside) <= UNCHANGED * grown_by
        {
            return Some(true);
        }

        // Chains of wrappers may be very long, so their subtrees are not searched.
        let rest_at_most = |total: Pair<f64>| {
            total.baseline + total.candidate - inside.baseline - inside.candidate
        };
        if rest_at_most(outermost.total(evidences, caller)) < MIN_SAMPLES {
            return None;
        }

        // The weight of a part is its size before it grew. If it had hardly any samples before,
        // some of its later samples count.
        let weight = |samples: Pair<f64>| {
            let after = samples.baseline + samples.candidate - before(samples);
            before(samples) + after.min(MIN_SAMPLES)
        };
        let parts = self.parts[caller.get()].get_or_init(|| parts(evidences, outermost, caller));
        let rest = || parts.iter().filter(|&(&part, _)| part != function);
        let whole = parts.values().copied().fold(Pair::default(), add);
        let all: f64 = rest().map(|(_, &samples)| weight(samples)).sum();
        // The ratio of a function with hardly any samples before is arbitrarily large.
        let grown_by = if before(inside) < MIN_SAMPLES {
            grown_by.min(growth(whole))
        } else {
            grown_by
        };
        let rest_grew_by = growth(
            rest()
                .map(|(_, &samples)| samples)
                .fold(Pair::default(), add),
        );
        // Allows for one standard error of a log ratio.
        let grew_with_it = |samples: Pair<f64>| {
            let error = (1.0 / (samples.baseline + 0.5) + 1.0 / (samples.candidate + 0.5)).sqrt();
            // A part that grew far more has become slower itself, which is no evidence of more calls.
            let is_slower = before(samples) >= MIN_SAMPLES
                && growth(samples) - error > grown_by / GROWN_WITH_IT;
            growth(samples) + error >= GROWN_WITH_IT * grown_by && !is_slower
        };
        let grown: f64 = rest()
            .filter(|&(_, &samples)| grew_with_it(samples))
            .map(|(_, &samples)| weight(samples))
            .sum();
        let rest_grew = rest_grew_by >= GROWN_WITH_IT * grown_by && grown >= MOST_OF_THE_REST * all;
        enough(all, weight(whole)).then_some(rest_grew)
    }
}

/// Returns the caller with nearly all of the change of these nodes, skipping callers in unchanged
/// modules and library code.
fn sole_caller(
    evidences: &Evidences,
    function: FunctionIx,
    at: &[(usize, Pair<f64>)],
) -> Option<FunctionIx> {
    let mut by_caller: BTreeMap<FunctionIx, Pair<f64>> = BTreeMap::new();
    let mut all = Pair::default();
    for &(node, samples) in at {
        all = add(all, samples);
        if let Some(caller) = evidences.caller(node, function) {
            let sum = by_caller.entry(caller).or_default();
            *sum = add(*sum, samples);
        }
    }
    let all = evidences.difference(all);
    let has_nearly_all =
        |(_, samples): &(_, Pair<f64>)| evidences.difference(*samples) / all >= NEARLY_ALL;
    by_caller
        .into_iter()
        .find(has_nearly_all)
        .map(|(caller, _)| caller)
}

fn parts(evidences: &Evidences, outermost: &OutermostNodes, caller: FunctionIx) -> Parts {
    let mut parts = Parts::new();
    // Neighbouring nodes mostly belong to the same part.
    let (mut last, mut sum) = (caller, Pair::default());
    let mut next_part = |part: FunctionIx, sum: Pair<f64>| {
        let known = parts.entry(part).or_default();
        *known = add(*known, sum);
    };
    for &top in outermost.nodes_of_function(caller) {
        let subtree = evidences.tree.subtree(top as usize);
        // The part of each node: the function that the caller's innermost frame above it calls, or
        // the caller itself.
        let mut part_of: Vec<FunctionIx> = Vec::with_capacity(subtree.len());
        for node in subtree.clone() {
            let function = evidences.tree.function(node);
            let parent = evidences
                .tree
                .parent(node)
                .filter(|&parent| parent >= subtree.start);
            let above = parent.map_or(caller, |parent| part_of[parent - subtree.start]);
            let begins = above == caller
                && !evidences.functions.list[function.get()].is_attributed_to_caller();
            let part = if begins || function == caller {
                function
            } else {
                above
            };
            if part != last {
                next_part(last, sum);
                (last, sum) = (part, Pair::default());
            }
            sum = add(sum, evidences.attributed(node));
            part_of.push(part);
        }
    }
    next_part(last, sum);
    parts
}

/// Returns the attributed samples of each node below the outermost nodes of a function.
fn below(
    evidences: &Evidences,
    outermost: &OutermostNodes,
    function: FunctionIx,
) -> Vec<(usize, Pair<f64>)> {
    let tops = outermost.nodes_of_function(function).iter();
    tops.flat_map(|&top| evidences.tree.subtree(top as usize))
        .map(|node| (node, evidences.attributed(node)))
        .filter(|&(_, samples)| samples != Pair::default())
        .collect()
}

impl Evidences<'_> {
    /// Returns the nearest caller of a node that is another function and can be blamed.
    fn caller(&self, node: usize, function: FunctionIx) -> Option<FunctionIx> {
        self.callers.find(self.tree, node, function)
    }

    /// Returns the logarithm of the normalised ratio, positive for a change in this direction. Half
    /// a sample is added on both sides to keep it finite.
    fn growth(&self, samples: Pair<f64>, direction: Direction) -> f64 {
        let sizes = self.sizes.sums();
        let mean = |samples: f64, size: f64| (samples + 0.5) / size;
        let up = (mean(samples.candidate, sizes.candidate)
            / mean(samples.baseline, sizes.baseline))
        .ln();
        match direction {
            Direction::Up => up,
            Direction::Down => -up,
        }
    }
}
