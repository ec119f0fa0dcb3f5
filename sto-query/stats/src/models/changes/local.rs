//! Comparison of two curves by statistics of their parts.

use super::{
    Change, ChangeKind, DetectorRules, PartialChange, classify, relative, samples, shared,
};
use crate::models::curve::Curve;
use crate::models::model::Model;
use crate::models::quantiles::quantile;
use crate::models::simpson::simpson;

/// Minimum number of values in a part, except the last one.
const MIN_VALUES: usize = 2;
/// Number of statistics of a part.
const STATISTICS: usize = 8;
/// Share of the statistics that may change in an unchanged part.
const FOR_NO_CHANGE: f64 = 0.2;
/// Share of changed statistics above which the change of a part is certain.
const FOR_CHANGE: f64 = 0.5;

/// Compares two curves by statistics of parts of the x that both cover; `None` if they have no x in common.
pub fn local_statistics(
    baseline: &Model,
    candidate: &Model,
    rules: &DetectorRules,
) -> Option<Change> {
    let mut x = samples(baseline, shared(baseline, candidate)?);
    x.retain(|&x| baseline.curve.at(x).is_finite() && candidate.curve.at(x).is_finite());
    let of = |model: &Model| -> Vec<f64> { x.iter().map(|&x| model.curve.at(x)).collect() };
    let mut found = local_statistics_of(&x, &of(baseline), &of(candidate), rules)?;
    if let Curve::Steps { edges, .. } = &baseline.curve {
        // Buckets are compared in their middles.
        for part in &mut found.intervals {
            let [first, last] =
                [part.x_start, part.x_end].map(|x| edges.partition_point(|edge| *edge <= x));
            part.x_start = edges
                .get(first.saturating_sub(1))
                .copied()
                .unwrap_or(part.x_start);
            part.x_end = edges.get(last).copied().unwrap_or(part.x_end);
        }
    }
    Some(Change {
        intervals: found.intervals,
        ..Change::of_models(baseline, candidate, found.result, found.error_rate)
    })
}

/// Compares two curves by their values at the same ascending x; `None` if there are no values.
pub fn local_statistics_of(
    x: &[f64],
    baseline: &[f64],
    candidate: &[f64],
    rules: &DetectorRules,
) -> Option<Change> {
    let size = x.len().min(baseline.len()).min(candidate.len());
    let part = (size / rules.parts.max(1) as usize).max(MIN_VALUES);
    let intervals: Vec<PartialChange> = (0..size)
        .step_by(part)
        .map(|from| {
            let range = from..(from + part).min(size);
            let x = &x[range.clone()];
            let of = |y: &[f64]| statistics(x, &y[range.clone()]);
            compare(x, of(baseline), of(candidate), rules)
        })
        .collect();
    let sum: f64 = intervals.iter().map(|part| part.error_rate).sum();
    let error_rate = sum / intervals.len() as f64;
    error_rate.is_finite().then(|| Change {
        result: classify(error_rate, rules.no_change, rules.change),
        error_rate,
        confidence: None,
        from: None,
        to: None,
        difference: None,
        intervals,
    })
}

/// Returns the integral, mean, median, minimum, maximum, sum and quartiles.
fn statistics(x: &[f64], y: &[f64]) -> [f64; STATISTICS] {
    let mut sorted = y.to_vec();
    sorted.sort_by(f64::total_cmp);
    let sum: f64 = y.iter().sum();
    [
        simpson(x, y),
        sum / y.len() as f64,
        quantile(&sorted, 0.5),
        sorted[sorted.len() - 1],
        sorted[0],
        sum,
        quantile(&sorted, 0.25),
        quantile(&sorted, 0.75),
    ]
}

fn compare(
    x: &[f64],
    baseline: [f64; STATISTICS],
    candidate: [f64; STATISTICS],
    rules: &DetectorRules,
) -> PartialChange {
    let (mut score, mut sum) = (0.0, 0.0);
    for (baseline, candidate) in baseline.into_iter().zip(candidate) {
        let error = relative(baseline, candidate);
        sum += error;
        score += match classify(error, rules.no_change, rules.change) {
            ChangeKind::Degradation => 1.0,
            ChangeKind::MaybeDegradation => 0.5,
            ChangeKind::NoChange => 0.0,
            ChangeKind::MaybeOptimisation => -0.5,
            ChangeKind::Optimisation => -1.0,
        };
    }
    let all = STATISTICS as f64;
    PartialChange {
        result: classify(score, FOR_NO_CHANGE * all, FOR_CHANGE * all),
        score,
        error_rate: sum / all,
        x_start: x[0],
        x_end: x[x.len() - 1],
    }
}
