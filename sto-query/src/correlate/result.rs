//! Metrics in the order in which they explain a target.

use super::align::RankedRun;
use super::correlators::{Correlator, Sign};
use super::error::LeftOut;
use super::table::NamedSeries;
use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;

/// Correlators agree on a metric that they rank among so many first ones.
const FIRST: f64 = 3.0;

/// Metrics ranked by how well they explain a target.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RankedMetrics {
    /// The target.
    pub target: String,
    /// The correlator that ranks; without one, it is the median of the ranks by all.
    pub by: Option<Correlator>,
    /// The runs whose metrics are compared, first that of the target; none where it is a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RankedRun>,
    /// The column of times; without one, they are the numbers of the rows, from 1, or of runs seconds since the
    /// first sample of the first.
    pub time: Option<String>,
    /// Number of rows in the window, or of slices.
    pub rows: usize,
    /// The time of the first of them; 0 where there is none.
    pub from: f64,
    /// The time of the last of them.
    pub to: f64,
    /// Number of segments of the target.
    pub splits: usize,
    /// Number of shifts of the target by which p is found.
    pub shifts: usize,
    /// The metrics that explain the target best first; of equal scores, by the mean of all ranks.
    pub metrics: Vec<RankedMetric>,
    /// Number of metrics that a limit left out.
    pub omitted: usize,
    /// Number of costs of functions and the like that are not compared: as others cost more, or in few slices.
    pub unranked: usize,
    /// Metrics that are not compared.
    pub left_out: Vec<LeftOut>,
}

impl Answer for RankedMetrics {
    const SCHEMA: &'static str = "sto.correlate/1";
}

impl RankedMetrics {
    /// Rows that it takes to say anything: two segments of two points.
    pub const LEAST_ROWS: usize = 4;

    pub(super) fn new(
        times: &[f64],
        (target, by): (&str, Option<Correlator>),
        time: Option<String>,
    ) -> Self {
        RankedMetrics {
            target: target.to_owned(),
            by,
            runs: Vec::new(),
            time,
            rows: times.len(),
            from: times.first().copied().unwrap_or(0.0),
            to: times.last().copied().unwrap_or(0.0),
            splits: 0,
            shifts: 0,
            metrics: Vec::new(),
            omitted: 0,
            unranked: 0,
            left_out: Vec::new(),
        }
    }

    /// Puts the metrics in order, with their ranks by each correlator.
    pub(super) fn place(&mut self, all: &[Correlator]) {
        let metrics = &mut self.metrics;
        for by in all {
            let scores: Vec<f64> = metrics.iter().map(|metric| metric.scores[by]).collect();
            for (metric, rank) in metrics.iter_mut().zip(ranks_from_top(&scores)) {
                metric.ranks.insert(*by, rank);
            }
        }
        for metric in metrics.iter_mut() {
            metric.score = match (self.by, metric.sign) {
                (_, None) => 0.0,
                (Some(by), _) => metric.scores[&by],
                (None, _) => 1.0 / median(metric.ranks.values().copied().collect()),
            };
            let agrees = |(&by, &rank): (&Correlator, &f64)| (rank <= FIRST).then_some(by);
            metric.agreeing = metric.ranks.iter().filter_map(agrees).collect();
        }
        let sum = |metric: &RankedMetric| metric.ranks.values().sum::<f64>();
        metrics.sort_by(|a, b| {
            let known = a.sign.is_none().cmp(&b.sign.is_none());
            let score = || b.score.total_cmp(&a.score);
            let ranks = || sum(a).total_cmp(&sum(b));
            known
                .then_with(score)
                .then_with(ranks)
                .then_with(|| (&a.name, a.run).cmp(&(&b.name, b.run)))
        });
    }
}

/// A metric, and how it explains the target.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RankedMetric {
    /// The metric.
    pub name: String,
    /// Other metrics that have the same values everywhere.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
    /// The index in `runs` of the run that it is of; `None` where it is a table's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// The score by the correlator that ranks, or the inverse of the median rank by all; 0 where it never varies.
    pub score: f64,
    /// Whether it goes with the target or against it; `None` where it never varies.
    pub sign: Option<Sign>,
    /// The score by each correlator, the higher the closer.
    pub scores: BTreeMap<Correlator, f64>,
    /// The rank by each correlator, from 1; equal scores share the mean of theirs.
    pub ranks: BTreeMap<Correlator, f64>,
    /// The correlators that rank it among the first three.
    pub agreeing: Vec<Correlator>,
    /// By how much time, or how many rows, it comes before the target; negative where it comes after.
    pub lag: Option<f64>,
    /// Probability that it explains a target as well that is shifted in time.
    pub p: Option<f64>,
    /// Probability that any of the metrics, whichever it is, explains a shifted target as well.
    pub q: Option<f64>,
}

impl RankedMetric {
    /// A metric that never varies.
    pub(super) fn constant(series: NamedSeries, all: &[Correlator]) -> RankedMetric {
        RankedMetric {
            name: series.name,
            same: Vec::new(),
            run: series.run,
            score: 0.0,
            sign: None,
            scores: all.iter().map(|&by| (by, 0.0)).collect(),
            ranks: BTreeMap::new(),
            agreeing: Vec::new(),
            lag: None,
            p: None,
            q: None,
        }
    }
}

/// The middle of numbers, or the mean of the two in the middle.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let count = numbers.len();
    f64::midpoint(numbers[(count - 1) / 2], numbers[count / 2])
}

/// The rank of each score, the highest having the first.
fn ranks_from_top(scores: &[f64]) -> Vec<f64> {
    let negated: Vec<f64> = scores.iter().map(|score| -score).collect();
    sto_stats::ranks(&negated)
}
