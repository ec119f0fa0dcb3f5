//! Traces of calls: they measure time, which others sample, and know how often a function was called.

use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::{CallChange, rounded};
use super::union::UnionTree;
use crate::tree::View;
use sto_core::trace::{CALLS, SPANS, is_time_of_calls};
use sto_core::tree::{SelfCosts, total};
use sto_core::units::{Cost, Nanoseconds, SampleType};

/// Samples that a run of the side with the shorter runs is taken to have, where time was measured: as many as a
/// recording has of 10 s at 1 kHz. A function with a thousandth of the time then has as many as it takes to count.
const SAMPLES: f64 = 10_000.0;

/// What counts as a sample at least where each side has one run: nothing says then how long its threads stood still as
/// others ran, which an operating system makes of such pieces.
const OF_ONE_RUN: Nanoseconds = Nanoseconds(20_000_000);

/// How much a sample type says beside others of its side, least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Account {
    /// There is another one of the same time, or it counts the calls that another has the time of.
    Beside,
    /// It was sampled.
    Sampled,
    /// It is the time of all calls.
    Measured,
}

/// How much a sample type of this view says.
pub(super) fn account(view: &View, sample_type: &SampleType) -> Account {
    let types = &view.sample_types;
    let has_time = || types.iter().any(|of| is_time_of_calls(of, types));
    if view.is_time_of_calls(sample_type) {
        match &*sample_type.event {
            SPANS => Account::Beside,
            _ => Account::Measured,
        }
    } else if sample_type.event == CALLS && has_time() {
        Account::Beside
    } else {
        Account::Sampled
    }
}

/// What counts as a sample of this sample type, where it is the time of calls, no side has more runs than that, and a run
/// of the side with the shorter ones takes `shorter` on average.
pub(super) fn period(
    views: Pair<&View>,
    sample_type: &SampleType,
    shorter: f64,
    runs_a_side: usize,
) -> Option<Nanoseconds> {
    let is_time = |view: &View| view.is_time_of_calls(sample_type);
    if !shorter.is_finite() || !is_time(views.baseline) && !is_time(views.candidate) {
        return None;
    }
    let period = Nanoseconds((shorter / SAMPLES).ceil().max(1.0) as u64);
    Some(match runs_a_side {
        ..=1 => period.max(OF_ONE_RUN),
        _ => period,
    })
}

/// A run's costs with a sample for each period of their time. What is left of one at a node counts at the next one: so
/// all that a node calls has its samples to within one, however little time passed at each.
pub(super) fn counted_in(period: Nanoseconds, costs: &SelfCosts) -> SelfCosts {
    let mut passed = 0_u64;
    let samples = |passed: u64| passed / period.0;
    let counted = costs.iter().map(|&(node, cost)| {
        let before = samples(passed);
        passed = passed.saturating_add(cost.value);
        let samples = samples(passed) - before;
        (node, Cost { samples, ..cost })
    });
    counted.collect()
}

/// How often functions were called in the runs of both sides.
pub(super) struct Called {
    /// By function, in a run on average: calls that are in no other call of the function.
    of_function: Vec<Pair<f64>>,
    /// By how much the candidate's runs called most functions more often: they had as much more to do.
    work: f64,
}

impl Called {
    /// Of these runs of each side; `None` where a side has no count of calls.
    pub(super) fn of(
        views: Pair<&View>,
        runs: Pair<&[usize]>,
        tree: &UnionTree,
        functions: usize,
    ) -> Option<Called> {
        let sides = [
            (views.baseline, runs.baseline, &tree.of_node.baseline),
            (views.candidate, runs.candidate, &tree.of_node.candidate),
        ];
        let [baseline, candidate] =
            sides.map(|(view, runs, of_node)| of_side(view, runs, of_node, tree, functions));
        let both = baseline?.into_iter().zip(candidate?);
        let of_function: Vec<Pair<f64>> = both.map(|(a, b)| Pair::new(a, b)).collect();
        let on_both = of_function.iter().filter_map(|&calls| ratio(calls));
        let mut ratios: Vec<f64> = on_both.collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let work = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
        Some(Called { of_function, work })
    }

    /// How often a function was called whose cost changed by this factor.
    pub(super) fn change(&self, function: FunctionIx, change: Option<f64>) -> CallChange {
        let calls = self.of_function[function.get()];
        let often = ratio(calls).map(|ratio| ratio / self.work);
        let each = often.zip(change).map(|(often, change)| change / often);
        CallChange {
            baseline: rounded(calls.baseline),
            candidate: rounded(calls.candidate),
            often: often.map(rounded),
            each: each.map(rounded),
        }
    }
}

/// Calls of a run of one side, by function.
fn of_side(
    view: &View,
    runs: &[usize],
    of_node: &[u32],
    tree: &UnionTree,
    functions: usize,
) -> Option<Vec<f64>> {
    let column = column(view)?;
    let mut calls = vec![0_u64; functions];
    for &run in runs {
        for (node, cost) in view.runs[run].get(column)? {
            let node = of_node[node.get()] as usize;
            if tree.is_outermost(node) {
                let sum = &mut calls[tree.function(node).get()];
                *sum = sum.saturating_add(cost.value);
            }
        }
    }
    let mean = |calls: u64| calls as f64 / runs.len() as f64;
    Some(calls.into_iter().map(mean).collect())
}

/// Candidate / baseline, where both called it.
fn ratio(calls: Pair<f64>) -> Option<f64> {
    let are_on_both = calls.baseline > 0.0 && calls.candidate > 0.0;
    are_on_both.then(|| calls.candidate / calls.baseline)
}

/// All calls of these runs of a side, where they were counted.
pub(super) fn calls(view: &View, runs: &[usize]) -> Option<u64> {
    let column = column(view)?;
    let of_run = |&run: &usize| view.runs[run].get(column).map(|costs| total(costs).value);
    runs.iter().map(of_run).sum()
}

/// Where the count of calls stands among the sample types.
fn column(view: &View) -> Option<usize> {
    view.sample_types.iter().position(|t| t.event == CALLS)
}
