//! Significance of a correlation over time, by circular shifts of the target.

use super::correlators::{
    Correlator, coefficient, dtw, manhattan, score_best_splits, score_fixed_splits,
};
use super::grid::{Grid, normal_ranks};
use super::result::median;
use super::segments::{Boundaries, Sums, Times};
use std::ops::Range;

/// A target and its circular shifts, on one grid.
pub(super) struct ShiftedTargets {
    grid: Grid,
    times: Times,
    segments: usize,
    by: Vec<Correlator>,
    /// The target twice in a row, so that each shift is a slice of it.
    target: Vec<f64>,
    ranks: Vec<f64>,
    pattern: Option<Vec<f64>>,
    /// Segment boundaries of each shift.
    boundaries: Vec<Boundaries>,
}

impl ShiftedTargets {
    /// Creates all shifts by at least 5 % of the length, after the unshifted target; `None` if the target does not
    /// vary on the grid. The Euclidean distance needs no scores of its own: it orders shifts as Pearson's coefficient
    /// does.
    pub(super) fn new(
        grid: Grid,
        (target, pattern): (&[f64], Option<&[f64]>),
        by: &[Correlator],
        segments: usize,
    ) -> Option<ShiftedTargets> {
        let target = grid.normal_means(target)?;
        let times = Times::new(grid.times.clone());
        let mut shifts = ShiftedTargets {
            ranks: normal_ranks(&target)?.repeat(2),
            target: target.repeat(2),
            pattern: pattern.and_then(|pattern| Some(grid.normal_means(pattern)?.repeat(2))),
            by: by.to_vec(),
            boundaries: Vec::new(),
            grid,
            times,
            segments,
        };
        shifts.boundaries = shifts
            .all()
            .map(|shift| shifts.boundaries_of(shift))
            .collect();
        Some(shifts)
    }

    fn boundaries_of(&self, shift: usize) -> Boundaries {
        let needs = [Correlator::SameSplits, Correlator::BestSplits];
        if self.by.iter().any(|by| needs.contains(by)) {
            let values = self.target[self.part(shift)].iter().copied();
            Sums::new(&self.times, values).boundaries(self.segments)
        } else {
            Boundaries::new()
        }
    }

    fn part(&self, shift: usize) -> Range<usize> {
        shift..shift + self.times.all.len()
    }

    /// Returns zero, and then all other shifts.
    fn all(&self) -> impl Iterator<Item = usize> + use<> {
        let count = self.times.all.len();
        let least = count.div_ceil(20).max(1);
        std::iter::once(0).chain(least..=count - least)
    }

    /// Number of shifts, without the unshifted target.
    pub(super) fn count(&self) -> usize {
        self.all().count() - 1
    }

    /// Computes the significance of a metric, and updates the highest scores.
    pub(super) fn significance(
        &self,
        metric: &[f64],
        highest: &mut HighestScores,
    ) -> Option<Significance> {
        let metric = self.grid.normal_means(metric)?;
        let ranks = normal_ranks(&metric).unwrap_or_default();
        let sums = Sums::new(&self.times, metric.iter().copied());
        let own = if self.by.contains(&Correlator::BestSplits) {
            sums.boundaries(self.segments)
        } else {
            Boundaries::new()
        };
        let scores_by = self.by.iter().map(|by| {
            let scores = self
                .all()
                .zip(&self.boundaries)
                .map(|(shift, target)| match by {
                    Correlator::Spearman => coefficient(&ranks, &self.ranks[self.part(shift)]).0,
                    Correlator::Manhattan => manhattan(&metric, &self.target[self.part(shift)]).0,
                    Correlator::Dtw => dtw(&metric, &self.target[self.part(shift)]).0,
                    Correlator::SameSplits => score_fixed_splits(&sums, target),
                    Correlator::BestSplits => score_best_splits(&self.times, &own, target),
                    Correlator::LinearPattern => match &self.pattern {
                        Some(pattern) => coefficient(&metric, &pattern[self.part(shift)]).0,
                        None => 0.0,
                    },
                    _ => coefficient(&metric, &self.target[self.part(shift)]).0,
                });
            scores.collect::<Vec<f64>>()
        });
        let scores_by: HighestScores = HighestScores(scores_by.collect());
        let ranks_by: Vec<Vec<f64>> = scores_by.0.iter().map(|s| counts_as_high(s)).collect();
        let place = |shift: usize| median(ranks_by.iter().map(|ranks| ranks[shift]).collect());
        let places = (0..self.boundaries.len()).map(place);
        let own = place(0);
        let as_good = places.filter(|&found| found <= own).count();
        highest.add(&scores_by);
        Some(Significance {
            p: as_good as f64 / self.boundaries.len() as f64,
            scores: scores_by.0.iter().map(|scores| scores[0]).collect(),
        })
    }
}

/// Significance of a metric.
pub(super) struct Significance {
    /// Probability that the metric explains a shifted target as well. With several correlators, it is based on the
    /// median of their ranks of the shifts.
    pub(super) p: f64,
    /// Scores with the unshifted target, by correlator.
    scores: Vec<f64>,
}

/// The highest score of any metric, by correlator and shift.
#[derive(Default)]
pub(super) struct HighestScores(Vec<Vec<f64>>);

impl HighestScores {
    /// Merges other highest scores into these.
    pub(super) fn add(&mut self, scores: &HighestScores) {
        if self.0.is_empty() {
            self.0.clone_from(&scores.0);
        }
        for (highest, score) in self.0.iter_mut().flatten().zip(scores.0.iter().flatten()) {
            *highest = highest.max(*score);
        }
    }

    /// Returns the probability that any metric explains a shifted target as well as this one does the unshifted one,
    /// by the median over the correlators.
    pub(super) fn q(&self, chance: &Significance) -> f64 {
        let share = |(highest, score): (&Vec<f64>, &f64)| {
            let as_good = highest.iter().filter(|other| is_as_high(**other, *score));
            as_good.count() as f64 / highest.len() as f64
        };
        let shares = self.0.iter().zip(&chance.scores).map(share);
        median(shares.collect()).max(chance.p)
    }
}

/// Returns `true` if a score is at least as high as another, apart from rounding.
fn is_as_high(score: f64, other: f64) -> bool {
    score >= other - 1e-9 * other.abs()
}

/// Returns for each score the number of scores that are at least as high.
fn counts_as_high(scores: &[f64]) -> Vec<f64> {
    let mut sorted = scores.to_vec();
    sorted.sort_unstable_by(|a, b| b.total_cmp(a));
    let rank = |score: &f64| sorted.partition_point(|other| is_as_high(*other, *score));
    scores.iter().map(|score| rank(score) as f64).collect()
}
