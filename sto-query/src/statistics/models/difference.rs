//! Whether two groups of runs follow different curves.

use super::points::Points;
use super::regression::weighted_regression;
use super::{Curve, ModelKind};
use crate::statistics::Random;

/// Relabellings that are tried where there are more.
const TRIED: u32 = 9_999;
/// Differences between statistics that are but rounding.
const ROUNDING: f64 = 1e-9;

/// How likely runs of one curve differ as much as two groups of them do: the share of ways to deal the runs of each x
/// to the two groups that make the groups differ at least as much. `None` where no other way exists, as no x has runs
/// of both.
///
/// Runs differ by their cost relative to the curve of all of them, so that where y is large does not decide alone. The
/// statistic is the sum over x of the squared difference of the groups' means, each weighed as by n m / (n + m) of n
/// and m runs (a stratified permutation test: P. Good, Permutation, Parametric and Bootstrap Tests of Hypotheses,
/// 3rd edition, section 7). Runs of different x are dealt together with their neighbours, so that each part has runs of
/// both groups. Up to 10,000 ways are all tried; of more, 9,999 that chance chooses, always the same ones.
pub fn curves_differ(baseline: &Points, candidate: &Points) -> Option<f64> {
    let parts = parts(baseline, candidate)?;
    let observed: f64 = parts
        .iter()
        .map(|part| part.statistic(&part.is_candidate))
        .sum();
    let ways = parts.iter().map(Part::ways).try_fold(1.0, |all, ways| {
        let all: f64 = all * ways;
        (all <= f64::from(TRIED) + 1.0).then_some(all)
    });
    let threshold = observed * (1.0 - ROUNDING);
    match ways {
        Some(ways) if ways < 1.5 => None,
        Some(ways) => {
            let sums = parts.iter().fold(vec![0.0], |sums, part| {
                let own = part.all_statistics();
                let each = sums
                    .iter()
                    .flat_map(|sum| own.iter().map(move |own| sum + own));
                each.collect()
            });
            let as_far = sums.iter().filter(|sum| **sum >= threshold).count();
            Some(as_far as f64 / ways)
        }
        None => {
            let mut random = Random::new(1);
            let mut labels: Vec<Vec<bool>> =
                parts.iter().map(|part| part.is_candidate.clone()).collect();
            let as_far = (0..TRIED).filter(|_| {
                let dealt = parts.iter().zip(&mut labels).map(|(part, labels)| {
                    shuffle(labels, &mut random);
                    part.statistic(labels)
                });
                dealt.sum::<f64>() >= threshold
            });
            // What was observed is one of the ways.
            Some((as_far.count() + 1) as f64 / f64::from(TRIED + 1))
        }
    }
}

/// Runs that may be dealt to either group.
struct Part {
    /// By run: its cost as a part of what the curve of all says.
    cost: Vec<f64>,
    is_candidate: Vec<bool>,
}

impl Part {
    fn statistic(&self, is_candidate: &[bool]) -> f64 {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for (cost, &is_candidate) in self.cost.iter().zip(is_candidate) {
            sums[usize::from(is_candidate)] += cost;
            counts[usize::from(is_candidate)] += 1.0;
        }
        let difference = sums[1] / counts[1] - sums[0] / counts[0];
        difference * difference * counts[0] * counts[1] / (counts[0] + counts[1])
    }

    fn candidates(&self) -> usize {
        self.is_candidate.iter().filter(|is| **is).count()
    }

    /// Number of ways to deal its runs.
    fn ways(&self) -> f64 {
        let (runs, chosen) = (self.cost.len(), self.candidates());
        (0..chosen).fold(1.0, |ways, k| ways * (runs - k) as f64 / (k + 1) as f64)
    }

    /// The statistic of each way; there are few.
    fn all_statistics(&self) -> Vec<f64> {
        let chosen = self.candidates();
        let mut labels = vec![false; self.cost.len()];
        let mut statistics = Vec::new();
        self.deal(0, chosen, &mut labels, &mut statistics);
        statistics
    }

    fn deal(&self, from: usize, left: usize, labels: &mut [bool], statistics: &mut Vec<f64>) {
        if left == 0 {
            statistics.push(self.statistic(labels));
            return;
        }
        for run in from..=labels.len() - left {
            labels[run] = true;
            self.deal(run + 1, left - 1, labels, statistics);
            labels[run] = false;
        }
    }
}

/// The runs by x, and where an x has runs of one group alone together with those of the next.
fn parts(baseline: &Points, candidate: &Points) -> Option<Vec<Part>> {
    let of = |points: &Points, is_candidate: bool| {
        let points = points.x().iter().zip(points.y());
        let points = points.map(|(&x, &y)| (x, y, is_candidate));
        points.collect::<Vec<_>>()
    };
    let mut runs = [of(baseline, false), of(candidate, true)].concat();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let expected = expected(&runs)?;
    let mut parts: Vec<Part> = Vec::new();
    let mut part = Part {
        cost: Vec::new(),
        is_candidate: Vec::new(),
    };
    for of_x in runs.chunk_by(|a, b| a.0 == b.0) {
        for &(x, y, is_candidate) in of_x {
            part.cost.push(y / expected(x));
            part.is_candidate.push(is_candidate);
        }
        if (1..part.cost.len()).contains(&part.candidates()) {
            parts.push(std::mem::replace(
                &mut part,
                Part {
                    cost: Vec::new(),
                    is_candidate: Vec::new(),
                },
            ));
        }
    }
    let last = parts.last_mut()?;
    last.cost.extend(part.cost);
    last.is_candidate.extend(part.is_candidate);
    Some(parts)
}

/// What the curve of all runs says at x: the best one, but never less than a hundredth of the mean.
fn expected(runs: &[(f64, f64, bool)]) -> Option<impl Fn(f64) -> f64 + use<>> {
    let points = Points::new(runs.iter().map(|&(x, y, _)| (x, y))).ok()?;
    let best = weighted_regression(&points, &ModelKind::REGRESSION)
        .models
        .into_iter()
        .next()?;
    let mean = points.y().iter().sum::<f64>() / points.len() as f64;
    let least = (mean.abs() / 100.0).max(f64::MIN_POSITIVE);
    let curve: Curve = best.curve;
    Some(move |x: f64| {
        let value = curve.at(x);
        if value > least { value } else { least }
    })
}

fn shuffle(labels: &mut [bool], random: &mut Random) {
    for last in (1..labels.len()).rev() {
        labels.swap(last, random.below(last + 1));
    }
}
