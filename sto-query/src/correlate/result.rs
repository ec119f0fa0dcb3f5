//! Ranking of metrics by how well they explain a target.

use super::align::RankedRun;
use super::correlators::{Correlator, Sign};
use super::error::LeftOut;
use super::table::NamedSeries;
use super::windows::RowTimes;
use crate::answer::Answer;
use serde::Serialize;
use std::collections::BTreeMap;

/// Rank up to which a correlator counts as agreeing on a metric.
const FIRST: f64 = 3.0;

/// Metrics ranked by how well they explain a target.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RankedMetrics {
    /// The target.
    pub target: String,
    /// Correlator that ranks; without one, the median of the ranks by all correlators.
    pub by: Option<Correlator>,
    /// The runs whose metrics are compared, the target's first; empty for a table.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<RankedRun>,
    /// Column of times. Without one, times are row numbers from 1, or for runs, seconds since the first sample of the
    /// first run.
    pub time: Option<String>,
    /// Number of rows or slices in the windows.
    pub rows: usize,
    /// Time of the first row; 0 without rows.
    pub from: f64,
    /// Time of the last row.
    pub to: f64,
    /// First and last time of each window with rows; windows that overlap or follow each other are one.
    pub windows: Vec<[f64; 2]>,
    /// Number of segments of the target.
    pub splits: usize,
    /// Number of shifts of the target from which p is computed.
    pub shifts: usize,
    /// The metrics, best explanation first; equal scores by the mean of all ranks.
    pub metrics: Vec<RankedMetric>,
    /// Number of metrics that a limit left out.
    pub omitted: usize,
    /// Number of metrics of functions and the like that are not compared because others cost more or because they
    /// have values in too few slices.
    pub unranked: usize,
    /// Metrics that are not compared.
    pub left_out: Vec<LeftOut>,
    /// The target's values, for pages.
    #[serde(skip)]
    pub(crate) drawn: DrawnSeries,
}

impl Answer for RankedMetrics {
    const SCHEMA: &'static str = "sto.correlate/1";
}

impl RankedMetrics {
    /// Minimum number of rows: two segments of two points.
    pub const LEAST_ROWS: usize = 4;

    pub(super) fn new(
        times: &RowTimes,
        (target, by): (&str, Option<Correlator>),
        time: Option<String>,
    ) -> Self {
        RankedMetrics {
            target: target.to_owned(),
            by,
            runs: Vec::new(),
            time,
            rows: times.all.len(),
            from: times.all.first().copied().unwrap_or(0.0),
            to: times.all.last().copied().unwrap_or(0.0),
            windows: times.windows.clone(),
            splits: 0,
            shifts: 0,
            metrics: Vec::new(),
            omitted: 0,
            unranked: 0,
            left_out: Vec::new(),
            drawn: DrawnSeries::default(),
        }
    }

    /// Sorts the metrics, and sets their ranks by each correlator.
    pub(super) fn rank(&mut self, all: &[Correlator]) {
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

/// A metric and how well it explains the target.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RankedMetric {
    /// The metric.
    pub name: String,
    /// Other metrics with the same values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<String>,
    /// Index in `runs` of the metric's run; `None` for a table.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<usize>,
    /// Score by the correlator that ranks, or the inverse of the median rank by all; 0 if the metric is constant.
    pub score: f64,
    /// Direction of the correlation with the target; `None` if the metric is constant.
    pub sign: Option<Sign>,
    /// Score by each correlator, higher for greater similarity.
    pub scores: BTreeMap<Correlator, f64>,
    /// Rank by each correlator, from 1; equal scores share their mean rank.
    pub ranks: BTreeMap<Correlator, f64>,
    /// Correlators that rank the metric among the first three.
    pub agreeing: Vec<Correlator>,
    /// Time, or number of rows, by which the metric precedes the target; negative if it follows.
    pub lag: Option<f64>,
    /// Probability that the metric explains a time-shifted target as well.
    pub p: Option<f64>,
    /// Probability that any of the metrics explains a time-shifted target as well.
    pub q: Option<f64>,
    /// The metric's values, for pages.
    #[serde(skip)]
    pub(crate) drawn: DrawnSeries,
}

/// A series as pages draw it.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct DrawnSeries {
    /// Means over equal stretches of the time.
    pub(crate) means: Vec<f64>,
    /// Unit of the values, if they have one.
    pub(crate) unit: Option<String>,
    /// Boundaries between the segments of the series, in stretches from the first.
    pub(crate) boundaries: Vec<f64>,
    /// Ends of the segments' regression lines: place, in stretches from the first, and value.
    pub(crate) lines: Vec<[(f64, f64); 2]>,
}

impl RankedMetric {
    /// Creates the entry of a constant metric.
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
            drawn: DrawnSeries::default(),
        }
    }
}

/// Returns the median.
pub(super) fn median(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_unstable_by(f64::total_cmp);
    let count = numbers.len();
    f64::midpoint(numbers[(count - 1) / 2], numbers[count / 2])
}

/// Returns the rank of each score, the highest being first.
fn ranks_from_top(scores: &[f64]) -> Vec<f64> {
    let negated: Vec<f64> = scores.iter().map(|score| -score).collect();
    sto_stats::ranks(&negated)
}
