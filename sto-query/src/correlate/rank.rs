//! Metrics ranked by how well they explain a target.

use super::chance::{HighestScores, ShiftedTargets, Significance};
use super::correlators::{
    Correlator, coefficient, dtw, euclidean, lag, manhattan, score_best_splits, score_fixed_splits,
};
use super::error::{CorrelateError, LeftOut, WhyLeftOut};
use super::grid::{DRAWN_STRETCHES, Grid, fill_gaps, is_same, normal_ranks, normalised};
use super::result::{DrawnSeries, RankedMetric, RankedMetrics};
use super::segments::{Boundaries, Sums, Times};
use super::table::{self, NamedSeries};
use super::windows::{RowTimes, within};
use crate::text::find_closest;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hasher};

/// Maximum number of segments of a target if none is given.
const MOST_SEGMENTS: usize = 20;
/// Maximum number of stretches of equal time for warping, lags and shifts.
const STRETCHES: usize = 1_000;
/// Maximum number of stretches for shifts with time warping.
const WARPED_STRETCHES: usize = 100;

/// Options of ranking metrics.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CorrelateOptions {
    /// Name of the target.
    pub target: String,
    /// Correlator whose score ranks metrics; without one, the median of the ranks by all correlators.
    pub by: Option<Correlator>,
    /// Number of segments, from 2; without it, chosen to suit the target.
    pub splits: Option<usize>,
    /// Pattern to look for in place of the target, as ascending times and values; empty for none.
    pub pattern: Vec<(f64, f64)>,
    /// Windows of time whose rows are compared, both ends included; either end may be open. Rows in several windows count
    /// once. All rows are compared if it is empty.
    pub windows: Vec<(Option<f64>, Option<f64>)>,
}

/// Ranks the columns of a CSV table whose first line names them.
///
/// # Errors
///
/// Returns an error if the table cannot be read, does not have the target, or if the target is constant.
pub(crate) fn correlate_table(
    text: &str,
    options: &CorrelateOptions,
) -> Result<RankedMetrics, CorrelateError> {
    let table = table::read(text, &options.target)?;
    let (times, mut series) = within(&table.times, table.series, &options.windows);
    let target = target_of(&mut series, &table.left_out, &options.target)?;
    let mut ranked = RankedMetrics::new(&times, (&options.target, options.by), table.time);
    ranked.left_out = table.left_out;
    rank(times, (target, series), options, &mut ranked)?;
    Ok(ranked)
}

/// Removes the target from the series.
fn target_of(
    series: &mut Vec<NamedSeries>,
    left_out: &[LeftOut],
    target: &str,
) -> Result<NamedSeries, CorrelateError> {
    let owned = || target.to_owned();
    let count = series.iter().filter(|one| one.name == target).count();
    let out = left_out.iter().find(|out| out.name == target);
    match (series.iter().position(|one| one.name == target), out) {
        (Some(ix), None) if count == 1 => Ok(series.remove(ix)),
        (None, Some(out)) => Err(CorrelateError::Target {
            target: owned(),
            why: out.why,
        }),
        (None, None) => {
            let names = series.iter().map(|one| &*one.name);
            Err(CorrelateError::NoTarget {
                target: owned(),
                closest: find_closest(target, names).map(str::to_owned),
            })
        }
        (Some(_), _) => Err(CorrelateError::SeveralTargets {
            target: owned(),
            count: count + usize::from(out.is_some()),
        }),
    }
}

/// Returns `true` if at least half of the values are missing.
fn has_gaps(values: &[f64]) -> bool {
    2 * values.iter().filter(|value| value.is_nan()).count() >= values.len()
}

/// Ranks series by how well they explain the target. Each has one value, possibly NaN, for each row.
pub(super) fn rank(
    times: RowTimes,
    (mut target, series): (NamedSeries, Vec<NamedSeries>),
    options: &CorrelateOptions,
    ranked: &mut RankedMetrics,
) -> Result<(), CorrelateError> {
    let pattern = pattern_at(&options.pattern, &times.all)?;
    let times = times.joined;
    if options.by == Some(Correlator::LinearPattern) && pattern.is_none() {
        return Err(CorrelateError::NoPattern);
    }
    if times.len() < RankedMetrics::LEAST_ROWS {
        return Ok(());
    }
    if has_gaps(&target.values) {
        let (target, why) = (target.name, WhyLeftOut::Gaps);
        return Err(CorrelateError::Target { target, why });
    }
    fill_gaps(&times, &mut target.values);
    let constant = || CorrelateError::ConstantTarget {
        target: target.name.clone(),
    };
    let comparison = Comparison::new(&times, &target.values, pattern, options);
    let comparison = comparison.ok_or_else(constant)?;
    let (gaps, series) = series.into_iter().partition(|one| has_gaps(&one.values));
    let (gaps, series): (Vec<NamedSeries>, Vec<NamedSeries>) = (gaps, series);
    ranked.left_out.extend(gaps.into_iter().map(|one| LeftOut {
        name: one.name,
        why: WhyLeftOut::Gaps,
    }));
    ranked.splits = comparison.segments;
    ranked.shifts = comparison.shifts.count();
    ranked.drawn = comparison.drawn(&target, &comparison.boundaries);
    let (series, same) = distinct(series);
    let ranked_one = |(mut all, mut highest): (Vec<_>, HighestScores), (one, same)| {
        let (metric, chance) = comparison.metric(&times, one, &mut highest);
        all.push((RankedMetric { same, ..metric }, chance));
        (all, highest)
    };
    let all = series.into_par_iter().zip(same);
    let all = all.fold(Default::default, ranked_one);
    let (metrics, highest) = all.reduce(
        Default::default,
        |(mut all, mut highest), (more, others)| {
            all.extend(more);
            highest.add(&others);
            (all, highest)
        },
    );
    let metrics = metrics.into_iter().map(|(metric, chance)| RankedMetric {
        p: chance.as_ref().map(|chance| chance.p),
        q: chance.as_ref().map(|chance| highest.q(chance)),
        ..metric
    });
    ranked.metrics = metrics.collect();
    ranked.rank(&comparison.all);
    Ok(())
}

/// Removes duplicate series, and returns the names of the duplicates of each remaining one.
fn distinct(series: Vec<NamedSeries>) -> (Vec<NamedSeries>, Vec<Vec<String>>) {
    let mut places: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut kept: Vec<NamedSeries> = Vec::with_capacity(series.len());
    let mut same: Vec<Vec<String>> = Vec::with_capacity(series.len());
    for one in series {
        let places = places.entry(hash(&one.values)).or_default();
        match places
            .iter()
            .find(|&&ix| is_same(&kept[ix].values, &one.values))
        {
            Some(&ix) => same[ix].push(one.name),
            None => {
                places.push(kept.len());
                kept.push(one);
                same.push(Vec::new());
            }
        }
    }
    (kept, same)
}

fn hash(values: &[f64]) -> u64 {
    // Equal series have equal bits, because none contains negative zero or a different NaN.
    let mut hasher = DefaultHasher::new();
    values
        .iter()
        .for_each(|value| hasher.write_u64(value.to_bits()));
    hasher.finish()
}

/// Returns the values of the pattern at these times, interpolated linearly and constant beyond its ends.
fn pattern_at(points: &[(f64, f64)], times: &[f64]) -> Result<Option<Vec<f64>>, CorrelateError> {
    let wrong = |why| Err(CorrelateError::Pattern(why));
    let are_finite = points
        .iter()
        .all(|(time, value)| time.is_finite() && value.is_finite());
    match points {
        [] => return Ok(None),
        [_] => return wrong("has one point; expected two or more, such as t0:v0,t1:v1"),
        _ if !are_finite => return wrong("has a point that is not finite"),
        _ if points.windows(2).any(|pair| pair[0].0 >= pair[1].0) => {
            return wrong("goes back in time; expected points in ascending order of time");
        }
        _ => {}
    }
    let (first, last) = (points[0], points[points.len() - 1]);
    let value = |&time: &f64| match points.partition_point(|point| point.0 <= time) {
        0 => first.1,
        after if after == points.len() => last.1,
        after => {
            let (a, b) = (points[after - 1], points[after]);
            a.1 + (b.1 - a.1) * (time - a.0) / (b.0 - a.0)
        }
    };
    let values: Vec<f64> = times.iter().map(value).collect();
    if times.len() < RankedMetrics::LEAST_ROWS || normalised(&values).is_some() {
        Ok(Some(values))
    } else {
        wrong("is constant in these rows")
    }
}

/// The target, prepared for comparison with metrics.
struct Comparison {
    by: Correlator,
    all: Vec<Correlator>,
    times: Times,
    grid: Grid,
    drawn_grid: Grid,
    segments: usize,
    normal: Vec<f64>,
    ranks: Vec<f64>,
    means: Vec<f64>,
    pattern: Option<Vec<f64>>,
    boundaries: Boundaries,
    shifts: ShiftedTargets,
}

impl Comparison {
    /// Returns `None` if the target is constant.
    fn new(
        times: &[f64],
        target: &[f64],
        pattern: Option<Vec<f64>>,
        options: &CorrelateOptions,
    ) -> Option<Comparison> {
        let normal = normalised(target)?;
        let scaled = Times::new(times.to_vec());
        let sums = Sums::new(&scaled, normal.iter().copied());
        let segments = options
            .splits
            .unwrap_or_else(|| sums.best_number(MOST_SEGMENTS));
        let boundaries = sums.boundaries(segments);
        let segments = boundaries.len() + 1;
        let mut all = Correlator::ALL.to_vec();
        all.retain(|&by| by != Correlator::LinearPattern || pattern.is_some());
        let of_shifts = match options.by {
            Some(by) => vec![by],
            None => all
                .iter()
                .copied()
                .filter(|&by| by != Correlator::Dtw)
                .collect(),
        };
        let stretches = match options.by {
            Some(Correlator::Dtw) => WARPED_STRETCHES,
            _ => STRETCHES,
        };
        let both = (target, pattern.as_deref());
        let shifts = ShiftedTargets::new(Grid::new(times, stretches), both, &of_shifts, segments)?;
        let grid = Grid::new(times, STRETCHES);
        drop(sums);
        Some(Comparison {
            ranks: normal_ranks(target)?,
            means: grid.normal_means(target)?,
            drawn_grid: Grid::new(times, DRAWN_STRETCHES),
            pattern: pattern.and_then(|pattern| normalised(&pattern)),
            by: options.by.unwrap_or(Correlator::Pearson),
            all,
            times: scaled,
            grid,
            segments,
            normal,
            boundaries,
            shifts,
        })
    }

    /// Returns a series without gaps as pages draw it.
    fn drawn(&self, series: &NamedSeries, boundaries: &[usize]) -> DrawnSeries {
        let times = &self.times.all;
        // A time is in the middle of its stretch.
        let place = |time: f64| (time - times[0]) / self.drawn_grid.step + 0.5;
        let border = |&first: &usize| place(f64::midpoint(times[first - 1], times[first]));
        let lines = Sums::new(&self.times, series.values.iter().copied()).lines(boundaries);
        DrawnSeries {
            means: self.drawn_grid.means(&series.values),
            unit: series.unit.clone(),
            boundaries: boundaries.iter().map(border).collect(),
            lines: lines
                .into_iter()
                .map(|ends| ends.map(|(time, value)| (place(time), value)))
                .collect(),
        }
    }

    /// Computes a metric's scores and their significance.
    fn metric(
        &self,
        times: &[f64],
        mut series: NamedSeries,
        highest: &mut HighestScores,
    ) -> (RankedMetric, Option<Significance>) {
        fill_gaps(times, &mut series.values);
        let both = (
            normalised(&series.values),
            self.grid.normal_means(&series.values),
        );
        let (Some(normal), Some(means)) = both else {
            let metric = RankedMetric {
                drawn: self.drawn(&series, &[]),
                ..RankedMetric::constant(series, &self.all)
            };
            return (metric, None);
        };
        let ranks = normal_ranks(&series.values).unwrap_or_default();
        let sums = Sums::new(&self.times, normal.iter().copied());
        let boundaries = sums.boundaries(self.segments);
        let pearson = coefficient(&normal, &self.normal);
        let scored = self.all.iter().map(|&by| {
            let scored = match by {
                Correlator::Pearson => pearson,
                Correlator::Spearman => coefficient(&ranks, &self.ranks),
                Correlator::Euclidean => euclidean(&normal, &self.normal),
                Correlator::Manhattan => manhattan(&normal, &self.normal),
                Correlator::Dtw => dtw(&means, &self.means),
                Correlator::SameSplits => (score_fixed_splits(&sums, &self.boundaries), pearson.1),
                Correlator::BestSplits => (
                    score_best_splits(&self.times, &boundaries, &self.boundaries),
                    pearson.1,
                ),
                Correlator::LinearPattern => match &self.pattern {
                    Some(pattern) => coefficient(&normal, pattern),
                    None => (0.0, pearson.1),
                },
            };
            (by, scored)
        });
        let scored: Vec<_> = scored.collect();
        let sign = scored.iter().find(|(by, _)| *by == self.by);
        let chance = self.shifts.significance(&series.values, highest);
        let metric = RankedMetric {
            sign: sign.map(|(_, scored)| scored.1),
            scores: scored.iter().map(|&(by, scored)| (by, scored.0)).collect(),
            lag: Some(lag(&means, &self.means) as f64 * self.grid.step),
            drawn: self.drawn(&series, &boundaries),
            ..RankedMetric::constant(series, &self.all)
        };
        (metric, chance)
    }
}
