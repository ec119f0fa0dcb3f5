//! Traces of calls, which measure time instead of sampling it, and count calls.

use super::functions::FunctionIx;
use super::pair::Pair;
use super::result::{CallChange, round_for_output};
use super::union::UnionTree;
use crate::tree::View;
use sto_core::trace::{CALLS_EVENT, SPANS_EVENT, is_call_time};
use sto_core::tree::{SelfCosts, total_cost};
use sto_core::units::{Cost, Nanoseconds, SampleType};

/// Number of samples that measured time is divided into, on average, in a run of the side with the
/// shorter runs: as many as a recording of 10 s at 1 kHz has. A function with a thousandth of the
/// time then has enough samples to count.
const SAMPLES_PER_RUN: f64 = 10_000.0;

/// Minimum period of a sample if each side has only one run. The time for which the operating
/// system suspended a thread is then unknown, and usually is about this long.
const MIN_PERIOD_OF_SINGLE_RUN: Nanoseconds = Nanoseconds(20_000_000);

/// Rank of a sample type among the others of its side, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum SampleTypeRank {
    /// Another sample type measures the same time, or this one counts the calls whose time another
    /// one measures.
    Redundant,
    /// Sampled costs.
    Sampled,
    /// The measured time of all calls.
    Measured,
}

/// Returns the rank of a sample type of this view.
pub(super) fn rank_sample_type(view: &View, sample_type: &SampleType) -> SampleTypeRank {
    let types = &view.sample_types;
    let has_time = || types.iter().any(|t| is_call_time(t, types));
    if view.is_time_of_calls(sample_type) {
        match &*sample_type.event {
            SPANS_EVENT => SampleTypeRank::Redundant,
            _ => SampleTypeRank::Measured,
        }
    } else if sample_type.event == CALLS_EVENT && has_time() {
        SampleTypeRank::Redundant
    } else {
        SampleTypeRank::Sampled
    }
}

/// Returns the period of a sample if the sample type is the time of calls.
///
/// No side has more than `runs_a_side` runs. `shorter` is the mean time of a run of the side with
/// the shorter runs.
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
    let period = Nanoseconds((shorter / SAMPLES_PER_RUN).ceil().max(1.0) as u64);
    Some(match runs_a_side {
        ..=1 => period.max(MIN_PERIOD_OF_SINGLE_RUN),
        _ => period,
    })
}

/// Returns a run's costs with one sample for each period of time.
///
/// A remainder at one node is carried over to the next, so that the total of a node is correct to
/// within one sample, however little time passed at each of its callees.
pub(super) fn resample_by_period(period: Nanoseconds, costs: &SelfCosts) -> SelfCosts {
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

/// Number of calls of functions in the runs of both sides.
pub(super) struct CallCounts {
    /// Mean number of calls in a run, by function, without recursive calls.
    of_function: Vec<Pair<f64>>,
    /// Median ratio by which the candidate called functions more often: it had that much more work.
    work: f64,
}

impl CallCounts {
    /// Counts the calls in these runs of each side; `None` if a side has no call counts.
    pub(super) fn new(
        views: Pair<&View>,
        runs: Pair<&[usize]>,
        tree: &UnionTree,
        functions: usize,
    ) -> Option<CallCounts> {
        let sides = [
            (views.baseline, runs.baseline, &tree.of_node.baseline),
            (views.candidate, runs.candidate, &tree.of_node.candidate),
        ];
        let [baseline, candidate] =
            sides.map(|(view, runs, of_node)| mean_calls(view, runs, of_node, tree, functions));
        let both = baseline?.into_iter().zip(candidate?);
        let of_function: Vec<Pair<f64>> = both.map(|(a, b)| Pair::new(a, b)).collect();
        let on_both = of_function.iter().filter_map(|&calls| ratio(calls));
        let mut ratios: Vec<f64> = on_both.collect();
        ratios.sort_unstable_by(f64::total_cmp);
        let work = ratios.get(ratios.len() / 2).copied().unwrap_or(1.0);
        Some(CallCounts { of_function, work })
    }

    /// Returns the change in the number of calls of a function whose cost changed by this factor.
    pub(super) fn change(&self, function: FunctionIx, change: Option<f64>) -> CallChange {
        let calls = self.of_function[function.get()];
        let often = ratio(calls).map(|ratio| ratio / self.work);
        let each = often.zip(change).map(|(often, change)| change / often);
        CallChange {
            baseline: round_for_output(calls.baseline),
            candidate: round_for_output(calls.candidate),
            often: often.map(round_for_output),
            each: each.map(round_for_output),
        }
    }
}

/// Returns the mean number of calls in a run of one side, by function.
fn mean_calls(
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

/// Returns candidate / baseline if both sides called the function.
fn ratio(calls: Pair<f64>) -> Option<f64> {
    let are_on_both = calls.baseline > 0.0 && calls.candidate > 0.0;
    are_on_both.then(|| calls.candidate / calls.baseline)
}

/// Returns the number of all calls in these runs of a side; `None` if they were not counted.
pub(super) fn calls(view: &View, runs: &[usize]) -> Option<u64> {
    let column = column(view)?;
    let of_run = |&run: &usize| {
        view.runs[run]
            .get(column)
            .map(|costs| total_cost(costs).value)
    };
    runs.iter().map(of_run).sum()
}

/// Returns the index of the call count among the sample types.
fn column(view: &View) -> Option<usize> {
    view.sample_types
        .iter()
        .position(|t| t.event == CALLS_EVENT)
}
