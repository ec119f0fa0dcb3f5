//! Compares measurements of whole runs: time, total cost, and all other metrics that both sides
//! have.

use super::pair::Pair;
use super::result::{
    Basis, CompareOptions, Finding, Measured, MetricChange, MetricOutcome, MetricUnit,
    NormalisationMethod, SECONDS, TOTAL_COST, WorseIf, round_for_output,
};
use super::runs::{Metrics, Runs};
use crate::tree::View;
use std::collections::BTreeSet;
use sto_core::units::Unit;
use sto_stats::{Group, holm, welch};

/// The unit that totals of parts of a run are divided by.
const SECOND: &str = "second";
/// Metric with the exit status of a run. It is not a quantity: see [`statuses`](super::statuses).
pub(crate) const EXIT_STATUS: &str = "exit_status";
/// Minimum relative deviation of a metric: no run repeats itself to better than 2 %, as with
/// functions.
const MIN_DEVIATION: f64 = 0.02;
/// Minimum variance of the samples of a run, relative to Poisson's variance, as with functions.
const MIN_POISSON_RATIO: f64 = 0.25;

/// Measurements of the runs of a side.
#[derive(Default)]
pub(super) struct Side<'a> {
    /// The metrics of all runs.
    pub(super) metrics: Vec<&'a Metrics>,
    /// Metrics and total cost of each run that has samples of the event.
    pub(super) totals: Vec<(&'a Metrics, f64)>,
    /// Mean number of samples of a run.
    pub(super) mean_samples: f64,
    /// Whether the totals are costs per second.
    pub(super) is_per_second: bool,
}

impl<'a> Side<'a> {
    pub(super) fn new(view: &'a View, runs: Option<&Runs>) -> Side<'a> {
        let profiles = view.selection.profiles.iter();
        let metrics = profiles.map(|stored| &stored.profile.metrics);
        Side {
            // Metrics describe whole runs, not parts of them.
            metrics: if view.windows.is_empty() {
                metrics.collect()
            } else {
                Vec::new()
            },
            totals: runs.map_or(Vec::new(), |runs| runs.totals(view)),
            mean_samples: runs.map_or(0.0, Runs::mean_samples),
            is_per_second: false,
        }
    }

    /// Divides the cost of each run by its length in seconds.
    pub(super) fn divide_by_seconds(&mut self, seconds: &[f64]) {
        for ((_, total), seconds) in self.totals.iter_mut().zip(seconds) {
            *total /= seconds;
        }
        self.is_per_second = true;
    }

    /// Returns the total cost of each run, per unit of the metric `per` if there is one.
    fn costs(&self, per: Option<&str>) -> Vec<f64> {
        let cost = |(metrics, total): &(&Metrics, f64)| {
            let amount = match per {
                Some(per) => *metrics.get(per)?,
                None => 1.0,
            };
            Some(total / amount).filter(|cost| cost.is_finite())
        };
        self.totals.iter().filter_map(cost).collect()
    }
}

/// How the counts of the sides were compared.
#[derive(Clone, Copy)]
pub(super) struct Compared {
    pub(super) unit: Unit,
    /// Whether size factors rest on the majority of functions.
    pub(super) rests_on_majority: bool,
    pub(super) candidate_size: f64,
}

/// Compares all metrics that both sides have: time first, then total cost, then others by name.
///
/// The cost of ignored findings is also allowed for in the time and the total cost of a run.
pub(super) fn metrics(
    sides: Pair<&Side>,
    compared: Option<Compared>,
    findings: &[Finding],
    options: &CompareOptions,
) -> Vec<MetricChange> {
    let per = match &options.normalisation {
        Some(NormalisationMethod::PerMetric(metric)) => Some(metric.as_str()),
        _ => None,
    };
    let names = sides.map(|side| -> BTreeSet<&String> {
        side.metrics
            .iter()
            .flat_map(|metrics| metrics.keys())
            .collect()
    });
    let are_shares = options.normalisation == Some(NormalisationMethod::Total);
    let mut metrics = Vec::new();
    let has_seconds = names.baseline.iter().any(|name| *name == SECONDS)
        && names.candidate.iter().any(|name| *name == SECONDS);
    if has_seconds {
        let numbers = sides.map(|side| metric_values(side, SECONDS, per));
        let usual = if are_shares {
            WorseIf::Never
        } else {
            WorseIf::Higher
        };
        let worse_if = worse_if(options, SECONDS, usual);
        let described = (SECONDS, per, Some(MetricUnit::Seconds), worse_if);
        metrics.extend(change(described, numbers, MIN_DEVIATION, options));
    }
    if let Some(compared) = compared {
        let Compared {
            unit,
            rests_on_majority,
            candidate_size,
        } = compared;
        let numbers = sides.map(|side| side.costs(per));
        // If most functions cost more, the recording may be longer, unless the run time says
        // otherwise. A run then costs more if it does so even relative to most functions.
        let is_change = |ratio: f64| ratio.ln().abs() > options.min_effect.ln_1p();
        let growth = mean(&numbers.candidate) / mean(&numbers.baseline);
        let differ_in_length = rests_on_majority
            && !has_seconds
            && is_change(candidate_size)
            && !(is_change(growth / candidate_size) && (growth > 1.0) == (growth > candidate_size));
        let is_per_second = sides.baseline.is_per_second;
        // Different amounts of work at different times are no regression.
        let usual = if are_shares || differ_in_length || is_per_second {
            WorseIf::Never
        } else {
            WorseIf::Higher
        };
        let worse_if = worse_if(options, TOTAL_COST, usual);
        let per = if is_per_second { Some(SECOND) } else { per };
        let samples = sides.map(|side| side.mean_samples);
        let of_samples = MIN_POISSON_RATIO / samples.baseline.min(samples.candidate);
        let least = MIN_DEVIATION.max(of_samples.sqrt());
        let described = (TOTAL_COST, per, Some(MetricUnit::Event(unit)), worse_if);
        metrics.extend(change(described, numbers, least, options));
    }
    let shared = names.baseline.intersection(&names.candidate);
    for name in shared.filter(|name| ![SECONDS, EXIT_STATUS].contains(&name.as_str())) {
        let numbers = sides.map(|side| metric_values(side, name, None));
        let worse_if = worse_if(options, name, WorseIf::Never);
        let described = (name.as_str(), None, None, worse_if);
        metrics.extend(change(described, numbers, MIN_DEVIATION, options));
    }
    judge(&mut metrics, options);
    excuse(&mut metrics, findings, options);
    metrics
}

fn mean(numbers: &[f64]) -> f64 {
    numbers.iter().sum::<f64>() / numbers.len() as f64
}

fn worse_if(options: &CompareOptions, name: &str, usual: WorseIf) -> WorseIf {
    options.worse_if.get(name).copied().unwrap_or(usual)
}

/// Returns the values of a metric in the runs that have it, per unit of the metric `per` if there
/// is one.
fn metric_values(side: &Side, name: &str, per: Option<&str>) -> Vec<f64> {
    let number = |metrics: &&Metrics| {
        let number = *metrics.get(name)?;
        let amount = match per {
            Some(per) => *metrics.get(per)?,
            None => 1.0,
        };
        Some(number / amount).filter(|number| number.is_finite())
    };
    side.metrics.iter().filter_map(number).collect()
}

fn change(
    (name, per, unit, worse_if): (&str, Option<&str>, Option<MetricUnit>, WorseIf),
    numbers: Pair<Vec<f64>>,
    least: f64,
    options: &CompareOptions,
) -> Option<MetricChange> {
    let groups = Pair::new(
        Group::from_numbers(&numbers.baseline)?,
        Group::from_numbers(&numbers.candidate)?,
    );
    let p = welch(&numbers.baseline, &numbers.candidate, least);
    let (old, new) = (groups.baseline.mean, groups.candidate.mean);
    let is_large = (new - old).abs() > options.min_effect * old.abs().min(new.abs());
    let outcome = match p {
        None => MetricOutcome::Untested,
        Some(p) if p <= options.alpha && is_large => MetricOutcome::Changed,
        Some(_) => MetricOutcome::Same,
    };
    let measured = groups.map(|group| Measured {
        runs: group.runs,
        mean: round_for_output(group.mean),
        deviation: group.deviation.map(round_for_output),
    });
    Some(MetricChange {
        name: name.to_owned(),
        per: per.map(str::to_owned),
        unit,
        baseline: measured.baseline,
        candidate: measured.candidate,
        change: (old > 0.0).then(|| round_for_output(new / old)),
        p: p.map(round_for_output),
        q: None,
        worse_if,
        outcome,
    })
}

/// Adjusts for the number of metrics that count for the verdict, and sets whether they got worse or
/// better.
fn judge(metrics: &mut [MetricChange], options: &CompareOptions) {
    let counts = |metric: &&mut MetricChange| metric.worse_if != WorseIf::Never;
    let tested: Vec<(&mut MetricChange, f64)> = metrics
        .iter_mut()
        .filter(counts)
        .filter_map(|metric| metric.p.map(|p| (metric, p)))
        .collect();
    let p_values: Vec<f64> = tested.iter().map(|(_, p)| *p).collect();
    for ((metric, _), q) in tested.into_iter().zip(holm(&p_values)) {
        let is_higher = metric.candidate.mean > metric.baseline.mean;
        let is_worse = is_higher == (metric.worse_if == WorseIf::Higher);
        metric.q = Some(round_for_output(q));
        metric.outcome = match metric.outcome {
            MetricOutcome::Changed if q > options.alpha => MetricOutcome::Same,
            MetricOutcome::Changed if is_worse => MetricOutcome::Worse,
            MetricOutcome::Changed => MetricOutcome::Better,
            outcome => outcome,
        };
    }
}

/// Ignores a longer run time or a higher total cost that ignored findings explain.
fn excuse(metrics: &mut [MetricChange], findings: &[Finding], options: &CompareOptions) {
    let ignored = findings.iter().filter(|finding| finding.ignored.is_some());
    let growths = ignored.filter(|f| f.kind.is_worse()).map(|finding| {
        let change = match finding.basis {
            Basis::AttributedSelf => &finding.attributed_self,
            Basis::Total | Basis::Calls => &finding.total,
        };
        // A new function counts with its share of the candidate.
        change.change.map_or(change.candidate_share, |ratio| {
            change.baseline_share * (ratio - 1.0)
        })
    });
    let excused: f64 = growths.sum();
    for metric in metrics {
        let is_cost_of_run = [SECONDS, TOTAL_COST].contains(&metric.name.as_str());
        let is_explained = metric
            .change
            .is_some_and(|change| change - excused <= 1.0 + options.min_effect);
        if is_cost_of_run && excused > 0.0 && is_explained && metric.outcome == MetricOutcome::Worse
        {
            metric.outcome = MetricOutcome::Ignored;
        }
    }
}
