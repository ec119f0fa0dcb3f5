//! Detects functions that replaced others, from only their callers and costs.

use super::cause::{Cause, Evidences, add};
use super::evidence::Direction;
use super::functions::FunctionIx;
use super::pair::Pair;
use super::partner::{Balance, MIN_SHARE, Partner};
use super::regions::{Caller, Regions};
use std::collections::BTreeMap;

/// Minimum share of a function's cost below a replacement for the function to be part of it.
const NEARLY_ALL: f64 = 0.9;

/// A function that only one side has, and its cost by caller.
///
/// Costs include one-sided callees, and are samples in a run of size 1.
struct Callee {
    function: FunctionIx,
    at: BTreeMap<Caller, f64>,
}

impl Callee {
    fn cost(&self) -> f64 {
        self.at.values().sum()
    }
}

/// A new function and a gone one with the same callers.
struct Replacement {
    new: FunctionIx,
    gone: FunctionIx,
    /// A caller of both that costs more, if any. The new function may then be the reason.
    costlier_caller: Option<Caller>,
}

/// Pairs new functions with gone ones that had the same cost and the same callers, which both sides
/// have.
///
/// Each function is in at most one pair. New and gone functions below a pair are part of it.
pub(super) fn pair_replaced(
    regions: Regions,
    causes: &[Cause],
    balance: &Balance,
    partners: &mut [Option<Partner>],
) {
    let replacements = replacements(&regions, balance);
    if replacements.is_empty() {
        return;
    }
    let evidences = regions.evidences;
    let mut classes = regions.classes.clone();
    let mut pairs: BTreeMap<FunctionIx, &Replacement> = BTreeMap::new();
    for pair in &replacements {
        if pair.costlier_caller.is_none() {
            classes.merge(pair.new, pair.gone);
        }
        pairs.extend([(pair.new, pair), (pair.gone, pair)]);
    }
    let regions = regions.with_classes(classes);
    let partner = |cause: &Cause| {
        let other = |pair: &Replacement| match cause.direction {
            Direction::Up => pair.gone,
            Direction::Down => pair.new,
        };
        if let Some(pair) = pairs.get(&cause.function) {
            return Some(match pair.costlier_caller {
                None => Partner::Replaced(other(pair)),
                Some(caller) => Partner::ReplacedUnder(other(pair), caller),
            });
        }
        let pair = pairs.get(&mostly_below(&regions, cause.function)?)?;
        let top = match cause.direction {
            Direction::Up => pair.new,
            Direction::Down => pair.gone,
        };
        let is_one = regions.classes.class_of(pair.new) == regions.classes.class_of(pair.gone);
        is_one.then(|| Partner::PartOf(top, other(pair)))
    };
    let is_on_both = |cause: &Cause| evidences.tests.total[cause.function.get()].is_on_both_sides();
    for (cause, known) in causes.iter().zip(partners) {
        if known.is_none() && !is_on_both(cause) {
            *known = partner(cause);
        }
    }
}

fn replacements(regions: &Regions, balance: &Balance) -> Vec<Replacement> {
    let evidences = regions.evidences;
    let (new, gone) = callees(regions, balance);
    let kernel = |callee: &Callee| evidences.functions.list[callee.function.get()].kernel;
    let mut equal: Vec<(f64, usize, usize)> = Vec::new();
    for (i, a) in new.iter().enumerate() {
        for (j, b) in gone.iter().enumerate() {
            if kernel(a) == kernel(b) && are_equal(balance, a, b) {
                equal.push(((a.cost() - b.cost()).abs(), i, j));
            }
        }
    }
    equal.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
    let (mut new_known, mut gone_known) = (vec![false; new.len()], vec![false; gone.len()]);
    let mut replacements = Vec::new();
    for (_, i, j) in equal {
        if std::mem::replace(&mut new_known[i], true) {
            continue;
        }
        if std::mem::replace(&mut gone_known[j], true) {
            new_known[i] = false;
            continue;
        }
        let shared = new[i]
            .at
            .keys()
            .filter(|caller| gone[j].at.contains_key(caller));
        replacements.push(Replacement {
            new: new[i].function,
            gone: gone[j].function,
            costlier_caller: shared
                .copied()
                .find(|&caller| costs_more(evidences, balance, caller)),
        });
    }
    replacements
}

/// Returns the new functions and the gone functions of some cost that are called by functions of
/// both sides.
fn callees(regions: &Regions, balance: &Balance) -> (Vec<Callee>, Vec<Callee>) {
    let evidences = regions.evidences;
    let tree = evidences.tree;
    let mut costs: BTreeMap<FunctionIx, BTreeMap<Caller, Pair<f64>>> = BTreeMap::new();
    for &node in &regions.nodes {
        let function = tree.function(node);
        let is_asked = regions.is_costly(function) && !regions.is_on_both_sides(function);
        if is_asked && regions.is_direct(node) && tree.is_outermost(node) {
            let of_function = costs.entry(function).or_default();
            let sum = of_function.entry(regions.caller(node)).or_default();
            *sum = add(*sum, regions.region_self(node));
        }
    }
    let sizes = evidences.sizes.sums();
    let setting = balance.setting;
    let whole = setting.sizes.means(setting.samples);
    let (mut new, mut gone) = (Vec::new(), Vec::new());
    for (function, at) in costs {
        let is_new = evidences.tests.total[function.get()].samples.baseline == 0;
        let cost = |(caller, samples): (Caller, Pair<f64>)| {
            let cost = if is_new {
                samples.candidate / sizes.candidate
            } else {
                samples.baseline / sizes.baseline
            };
            (caller, cost)
        };
        let callee = Callee {
            function,
            at: at.into_iter().map(cost).collect(),
        };
        let (side, whole) = if is_new {
            (&mut new, whole.candidate)
        } else {
            (&mut gone, whole.baseline)
        };
        if callee.cost() >= setting.options.min_share * whole {
            side.push(callee);
        }
    }
    (new, gone)
}

/// Whether a new and a gone function have most of their cost under the same callers, and the new
/// one does not cost significantly more.
fn are_equal(balance: &Balance, new: &Callee, gone: &Callee) -> bool {
    let shared =
        |(caller, cost): (&Caller, &f64)| gone.at.get(caller).map_or(0.0, |gone| gone.min(*cost));
    let shared: f64 = new.at.iter().map(shared).sum();
    let (gained, lost) = (new.cost(), gone.cost());
    shared >= MIN_SHARE * gained.max(lost) && !balance.exceeds(gained, lost, Direction::Up)
}

/// Whether a caller costs significantly more than before.
fn costs_more(evidences: &Evidences, balance: &Balance, caller: Caller) -> bool {
    match caller {
        Some(function) => {
            // Merged functions are known not to cost more.
            let total = &evidences.tests.total[function.get()];
            total.is_on_both_sides() && total.changed == Some(Direction::Up)
        }
        None => {
            let whole = balance.setting.sizes.means(balance.setting.samples);
            balance.exceeds(whole.candidate, whole.baseline, Direction::Up)
        }
    }
}

/// Returns the caller with nearly all of a function's one-sided calls.
fn mostly_below(regions: &Regions, function: FunctionIx) -> Caller {
    let tree = regions.evidences.tree;
    let mut callers: BTreeMap<Caller, f64> = BTreeMap::new();
    for node in regions.nodes_of_function(function) {
        if tree.is_outermost(node) {
            let own = regions.region_self(node);
            *callers.entry(regions.caller(node)).or_default() += own.baseline + own.candidate;
        }
    }
    let all: f64 = callers.values().sum();
    let (caller, cost) = callers.into_iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    caller.filter(|_| cost >= NEARLY_ALL * all)
}
