//! From a function that costs more to the caller that calls it more.
//!
//! A function whose self count grew may be as fast as it was, but be called more often. Counts of
//! samples have no numbers of calls, yet two things show it. If nearly all of the growth is under one
//! caller, then either
//!
//! - everything else that the caller does grew as well: the caller runs more often, or does more; or
//! - the function costs other callers what it always did: it did not get slower itself.
//!
//! In both cases the caller is the cause, and so on up the stack. Where neither holds, the deepest
//! function keeps the blame.

use super::cause::{Cause, Evidences, Outermost, plus};
use super::evidence::Direction;
use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::Basis;
use crate::functions::outside_of_closures;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::OnceLock;

/// Part of a function's change that one caller must have.
const NEARLY_ALL: f64 = 0.9;
/// Part of the rest of a caller that must have grown with the function.
const MOST_OF_THE_REST: f64 = 0.8;
/// What a part must have grown by to have grown with the function, in log ratios.
const GROWN_WITH_IT: f64 = 0.5;
/// What a function may have grown by under other callers and count as unchanged there.
const UNCHANGED: f64 = 0.25;
/// Part of a caller, or of a function's cost, that is enough to judge by.
const SUBSTANTIAL: f64 = 0.1;
/// Fewest samples that are enough to judge by.
const FEWEST: f64 = 10.0;

/// Attributes causes to the callers that call them more, and makes those that meet there one cause.
pub(super) fn hoist(
    evidences: &Evidences,
    outermost: &Outermost,
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
        // All that the caller does grew: that explains what is below it, too.
        cause.at = below(evidences, outermost, cause.function);
    }
    causes
}

/// The function that a closure is of, where that is a cause too and has nearly all of the closure's change
/// below it: it is one function that changed.
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
    let of_it = |function: &FunctionIx| {
        let function = &functions.list[function.get()];
        function.symbol == name && function.module == closure.module
    };
    let same_direction = known
        .iter()
        .filter(|(_, direction)| *direction == cause.direction);
    let outer = same_direction.map(|(function, _)| *function).find(of_it)?;
    let is_below = |&node: &usize| {
        let callers = std::iter::successors(tree.parent(node), |&caller| tree.parent(caller));
        callers
            .into_iter()
            .any(|caller| tree.function(caller) == outer)
    };
    let change = |at: &mut dyn Iterator<Item = (usize, Pair<f64>)>| {
        evidences.difference(at.map(|(_, samples)| samples).fold(Pair::default(), plus))
    };
    let all = change(&mut cause.at.iter().copied());
    let below = change(&mut cause.at.iter().copied().filter(|(node, _)| is_below(node)));
    (below / all >= NEARLY_ALL).then_some(outer)
}

/// Looks for callers, and keeps what it found of each: many causes may have the same.
struct Hoist<'a> {
    evidences: &'a Evidences<'a>,
    outermost: &'a Outermost,
    parts: Vec<OnceLock<Parts>>,
}

/// What a caller's cost is made of: its own, and that of each function that it calls.
type Parts = BTreeMap<FunctionIx, Pair<f64>>;

impl Hoist<'_> {
    /// The outermost caller that a cause moves up to, if any.
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
            // A caller that one side lacks was renamed, or is new itself: it calls nothing more.
            if total.shifted != Some(cause.direction) || !total.is_on_both() || !seen.insert(caller)
            {
                break;
            }
            match self.calls_it_more(cause.direction, (function, &at), caller) {
                Some(true) => above = Some(caller),
                Some(false) => break,
                // A mere wrapper: its own caller may show it.
                None => {}
            }
            function = caller;
            at = outermost.totals(evidences, caller).collect();
        }
        above
    }

    /// Whether a caller calls a function more; `None` where it has too little else to judge by.
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
                inside = plus(inside, samples);
            } else {
                outside = plus(outside, samples);
            }
        }
        let grown_by = growth(inside);
        let enough = |part: f64, whole: f64| part >= FEWEST && part >= SUBSTANTIAL * whole;
        if enough(before(outside), before(inside) + before(outside))
            && growth(outside) <= UNCHANGED * grown_by
        {
            return Some(true);
        }

        // A chain of mere wrappers may be very long, so what is below each is not looked through.
        let rest_at_most = |total: Pair<f64>| {
            total.baseline + total.candidate - inside.baseline - inside.candidate
        };
        if rest_at_most(outermost.total(evidences, caller)) < FEWEST {
            return None;
        }

        // What a part was before it grew says how much of the caller it is; of a part that had hardly
        // a sample before, those that it has now are enough to judge by.
        let weight = |samples: Pair<f64>| {
            let after = samples.baseline + samples.candidate - before(samples);
            before(samples) + after.min(FEWEST)
        };
        let parts = self.parts[caller.get()].get_or_init(|| parts(evidences, outermost, caller));
        let rest = || parts.iter().filter(|&(&part, _)| part != function);
        let whole = parts.values().copied().fold(Pair::default(), plus);
        let all: f64 = rest().map(|(_, &samples)| weight(samples)).sum();
        // The ratio of a function that had hardly a sample before is arbitrarily large.
        let grown_by = match before(inside) < FEWEST {
            true => grown_by.min(growth(whole)),
            false => grown_by,
        };
        let rest_grew_by = growth(
            rest()
                .map(|(_, &samples)| samples)
                .fold(Pair::default(), plus),
        );
        // By as much as that, or by what cannot be distinguished from it: one standard error of a log ratio.
        let grew_with_it = |samples: Pair<f64>| {
            let error = (1.0 / (samples.baseline + 0.5) + 1.0 / (samples.candidate + 0.5)).sqrt();
            growth(samples) + error >= GROWN_WITH_IT * grown_by
        };
        let grown: f64 = rest()
            .filter(|&(_, &samples)| grew_with_it(samples))
            .map(|(_, &samples)| weight(samples))
            .sum();
        let rest_grew = rest_grew_by >= GROWN_WITH_IT * grown_by && grown >= MOST_OF_THE_REST * all;
        enough(all, weight(whole)).then_some(rest_grew)
    }
}

/// The caller that has nearly all of the change of these nodes; callers in unchanged modules and
/// library code are passed over.
fn sole_caller(
    evidences: &Evidences,
    function: FunctionIx,
    at: &[(usize, Pair<f64>)],
) -> Option<FunctionIx> {
    let mut by_caller: BTreeMap<FunctionIx, Pair<f64>> = BTreeMap::new();
    let mut all = Pair::default();
    for &(node, samples) in at {
        all = plus(all, samples);
        if let Some(caller) = evidences.caller(node, function) {
            let sum = by_caller.entry(caller).or_default();
            *sum = plus(*sum, samples);
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

fn parts(evidences: &Evidences, outermost: &Outermost, caller: FunctionIx) -> Parts {
    let mut parts = Parts::new();
    // Neighbours are mostly of one part.
    let (mut last, mut sum) = (caller, Pair::default());
    let mut next_part = |part: FunctionIx, sum: Pair<f64>| {
        let known = parts.entry(part).or_default();
        *known = plus(*known, sum);
    };
    for &top in outermost.of_function(caller) {
        let subtree = evidences.tree.subtree(top as usize);
        // Which part each node belongs to: the function that the caller's innermost frame above it
        // calls, or the caller itself.
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
            sum = plus(sum, evidences.attributed(node));
            part_of.push(part);
        }
    }
    next_part(last, sum);
    parts
}

/// What each node has that stands below the outermost nodes of a function.
fn below(
    evidences: &Evidences,
    outermost: &Outermost,
    function: FunctionIx,
) -> Vec<(usize, Pair<f64>)> {
    let tops = outermost.of_function(function).iter();
    tops.flat_map(|&top| evidences.tree.subtree(top as usize))
        .map(|node| (node, evidences.attributed(node)))
        .filter(|&(_, samples)| samples != Pair::default())
        .collect()
}

impl Evidences<'_> {
    /// The nearest caller of a node that is another function, and that cost is attributed to.
    fn caller(&self, node: usize, function: FunctionIx) -> Option<FunctionIx> {
        self.callers.of(self.tree, node, function)
    }

    /// Logarithm of the normalised ratio, positive where it went this way; half a sample more on
    /// both sides lets it be finite.
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
