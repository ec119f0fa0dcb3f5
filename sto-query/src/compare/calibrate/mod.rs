//! Measures the quality of comparisons of a benchmark: how often they report a change of equal
//! builds, and which changes they detect.
//!
//! ```text
//! runs of one build          count        samples by function and run, once for all splits
//!         |
//!         v
//! two sides, many ways       splits       the same for the same runs
//!         |
//!         v
//! reports                    judge        the findings of a comparison of the sides
//!         |
//!         v
//! Calibration                thin         how much functions must grow to be detected
//! ```
//!
//! See [the manual](crate::manual::calibrate).

mod curves;
mod judge;
mod report;
mod splits;
mod thin;

pub use report::{FalseReports, Reported, ReportedMetric, Visible};

pub use curves::CalibratedWay;

pub use curves::CurveCalibration;
pub(crate) use curves::calibrate_curves;
pub use report::Calibration;

use super::call_counts;
use super::counts::{Counts, attribute_nodes, count};
use super::functions::Functions;
use super::pair::Pair;
use super::readings::methods;
use super::result::{CompareError, CompareOptions, MetricOutcome, round_for_output};
use super::runs::{Runs, work_amounts};
use super::union::UnionTree;
use crate::tree::{Subject, View};
use judge::{EqualComparison, SampleTable};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use sto_core::Cancelled;
use sto_core::tree::SelfCosts;
use sto_core::units::{Cost, Unit};

/// Minimum number of runs: two on each side, as a single run does not show how much it varies.
const MIN_RUNS: usize = 4;
/// Maximum number of functions whose smallest detectable change is computed, those with most
/// samples.
const WATCHED: usize = 10;
/// Share of the comparisons in which a detectable change is found.
const POWER: f64 = 0.9;

/// Options of a calibration.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CalibrateOptions {
    /// Options of the comparisons.
    pub compare: CompareOptions,
    /// Maximum number of comparisons. Default 200.
    pub splits: usize,
    /// Runs per side, at least 1; half of the runs if `None`.
    pub runs: Option<usize>,
}

impl Default for CalibrateOptions {
    fn default() -> Self {
        CalibrateOptions {
            compare: CompareOptions::default(),
            splits: 200,
            runs: None,
        }
    }
}

/// Splits the runs of a build into two sides in many ways, and counts how often a comparison of
/// equal builds reports anything, and how large a change must be to be found in 90 % of
/// comparisons.
///
/// `sample_type` is an index into [`View::sample_types`]. The result depends only on stacks and
/// counts, not on the order of the runs or the number of processor cores.
///
/// # Errors
/// Returns an error if a threshold is out of range. Too few runs are not an error; the
/// [`Calibration`] then has no figures.
pub fn calibrate(
    view: &View,
    sample_type: usize,
    options: &CalibrateOptions,
) -> Result<Calibration, CompareError> {
    options.compare.check()?;
    at_least_one("splits", options.splits)?;
    at_least_one("runs", options.runs.unwrap_or(1))?;
    let whole: Cost = view.self_costs(sample_type).into_iter().sum();
    let mut calibration = Calibration {
        subject: Subject::with_whole(view, sample_type, whole),
        thresholds: options.compare.clone(),
        runs: 0,
        runs_a_side: 0,
        runs_needed: MIN_RUNS.max(options.runs.unwrap_or(1).saturating_mul(2)),
        false_reports: None,
        reported: Vec::new(),
        metrics: Vec::new(),
        visible: Vec::new(),
    };
    let Some(event) = view.sample_types.get(sample_type) else {
        return Ok(calibration);
    };
    // All runs are on one side until they are split.
    let views = Pair::new(view, view);
    let runs = Pair::new(Runs::new(view, event), Runs::default());
    let runs_a_side = options.runs.unwrap_or(runs.baseline.costs.len() / 2);
    let period = call_counts::period(views, event, runs.baseline.mean_value(), runs_a_side);
    let runs = runs.map(|runs| runs.with_period(period));
    let amounts = work_amounts(views, &runs, options.compare.normalisation.as_ref())?;
    let runs = runs.baseline;
    calibration.runs = runs.costs.len();
    calibration.runs_a_side = runs_a_side;
    if calibration.runs >= calibration.runs_needed {
        fill_in(
            &mut calibration,
            (view, event.unit),
            &runs,
            &amounts,
            options,
        )?;
    }
    Ok(calibration)
}

fn at_least_one(name: &'static str, value: usize) -> Result<(), CompareError> {
    match value {
        0 => Err(CompareError::Threshold {
            name,
            value: 0.0,
            expected: "a whole number above 0",
        }),
        _ => Ok(()),
    }
}

fn fill_in(
    calibration: &mut Calibration,
    (view, unit): (&View, Unit),
    runs: &Runs,
    amounts: &[f64],
    options: &CalibrateOptions,
) -> Result<(), Cancelled> {
    // The other side of a real comparison is another build, whose program may have changed, but not
    // the libraries.
    let mut other_build = view.clone();
    other_build.selection.build.gnu_build_id = None;
    let functions = Functions::new(
        view,
        &other_build,
        options.compare.matching,
        &options.compare.attribution,
    );
    let tree = UnionTree::new(Pair::new(&view.tree, &other_build.tree), &functions);
    let owners = attribute_nodes(&tree, &functions);
    let costs: Pair<&[_]> = Pair::new(&runs.costs, &[]);
    let (counts, _) = count(costs, &tree, &owners, functions.list.len());
    let shares = shares(&counts.attributed);
    let watched = watched(&shares, &functions, options.compare.min_share);
    let below = |run: &Cow<SelfCosts>| -> Vec<Vec<u64>> {
        let below =
            |&function: &usize| samples_below(run, function, &tree, &owners, functions.list.len());
        watched.iter().map(below).collect()
    };
    let below = runs.costs.par_iter().map(below).collect();
    let totals = runs.totals(view);
    let table = SampleTable::new(counts, below, &runs.periods, amounts, totals);

    let methods = methods(
        Pair::new(view, view),
        Pair::new(runs, runs),
        &options.compare,
    );
    let splits = splits::splits(table.runs.len(), calibration.runs_a_side, options.splits);
    let judge = |split| {
        options.compare.cancel.check()?;
        let functions = (&functions, unit);
        let how = (&*methods, &options.compare);
        Ok(table.compare_split(split, &splits[split], functions, &watched, how))
    };
    let judged = (0..splits.len()).into_par_iter().map(judge);
    let judged: Vec<EqualComparison> = judged.collect::<Result<_, Cancelled>>()?;

    calibration.metrics = reported_metrics(&judged);
    let reports = judged.iter().filter(|j| !j.reported.is_empty()).count();
    calibration.false_reports = Some(FalseReports::new(reports, judged.len()));
    calibration.reported = reported(&judged, &functions);
    calibration.visible = watched
        .iter()
        .enumerate()
        .map(|(ix, &function)| Visible {
            function: functions.list[function].symbol.clone(),
            module: functions.list[function].module.clone(),
            share: round_for_output(shares[function]),
            change: quantile(judged.iter().map(|j| j.least_changes[ix])),
        })
        .collect();
    Ok(())
}

/// Returns each function's share of all attributed self samples.
fn shares(attributed: &Counts) -> Vec<f64> {
    let all = attributed.totals().iter().sum::<f64>();
    let samples = |f: usize| attributed.sums(f).baseline as f64;
    (0..attributed.functions())
        .map(|f| samples(f) / all)
        .collect()
}

/// Returns the functions that a change can be attributed to, the largest share first.
fn watched(shares: &[f64], functions: &Functions, min_share: f64) -> Vec<usize> {
    let mut watched: Vec<usize> = (0..shares.len())
        .filter(|&f| !functions.list[f].is_bystander())
        .filter(|&f| shares[f] > 0.0 && shares[f] >= min_share)
        .collect();
    watched.sort_by(|&a, &b| shares[b].total_cmp(&shares[a]));
    watched.truncate(WATCHED);
    watched
}

/// Returns, by function, the number of attributed self samples of `function` whose stacks contain
/// it.
fn samples_below(
    run: &SelfCosts,
    function: usize,
    tree: &UnionTree,
    owners: &[u32],
    functions: usize,
) -> Vec<u64> {
    let mut subtrees = vec![0_u64; tree.len()];
    for (node, cost) in run {
        let node = tree.of_node.baseline[node.get()] as usize;
        if tree.function(owners[node] as usize).get() == function {
            subtrees[node] = subtrees[node].saturating_add(cost.samples);
        }
    }
    tree.add_up(&mut subtrees, u64::saturating_add);
    let mut samples = vec![0_u64; functions];
    for (node, below) in subtrees.into_iter().enumerate() {
        if tree.is_outermost(node) {
            let sum = &mut samples[tree.function(node).get()];
            *sum = sum.saturating_add(below);
        }
    }
    samples
}

/// Returns how often each function was reported, most often first.
fn reported(judged: &[EqualComparison], functions: &Functions) -> Vec<Reported> {
    let mut comparisons = vec![0; functions.list.len()];
    for &function in judged.iter().flat_map(|judged| &judged.reported) {
        comparisons[function] += 1;
    }
    let mut often: Vec<usize> = (0..comparisons.len())
        .filter(|&f| comparisons[f] > 0)
        .collect();
    often.sort_by_key(|&f| Reverse(comparisons[f]));
    let name = |f: usize| Reported {
        function: functions.list[f].symbol.clone(),
        module: functions.list[f].module.clone(),
        comparisons: comparisons[f],
    };
    often.into_iter().map(name).collect()
}

/// Returns how often each metric was reported, for metrics that count in all comparisons.
fn reported_metrics(judged: &[EqualComparison]) -> Vec<ReportedMetric> {
    let mut outcomes: BTreeMap<&str, Vec<MetricOutcome>> = BTreeMap::new();
    for (name, outcome) in judged.iter().flat_map(|judged| &judged.metrics) {
        outcomes.entry(name).or_default().push(*outcome);
    }
    let reports = |outcomes: &[MetricOutcome]| {
        let has_changed = |outcome: &&MetricOutcome| {
            matches!(outcome, MetricOutcome::Worse | MetricOutcome::Better)
        };
        outcomes.iter().filter(has_changed).count()
    };
    let metric = |(name, outcomes): (&str, Vec<MetricOutcome>)| ReportedMetric {
        name: name.to_owned(),
        false_reports: FalseReports::new(reports(&outcomes), outcomes.len()),
    };
    outcomes.into_iter().map(metric).collect()
}

/// Returns the [`POWER`] quantile of the changes; `None` if it is unbounded.
fn quantile(changes: impl Iterator<Item = Option<f64>>) -> Option<f64> {
    let mut changes: Vec<f64> = changes.map(|c| c.unwrap_or(f64::INFINITY)).collect();
    changes.sort_unstable_by(f64::total_cmp);
    let ix = (POWER * changes.len() as f64).ceil() as usize;
    let change = *changes.get(ix.checked_sub(1)?)?;
    change.is_finite().then(|| round_for_output(change))
}
