//! Permutation test for two groups of runs following different curves.

use super::points::Points;
use super::regression::weighted_regression;
use super::{Curve, ModelKind};
use crate::Random;

/// Number of random permutations if there are too many to try all.
const TRIED: u32 = 9_999;
/// Difference between statistics that counts as rounding.
const ROUNDING: f64 = 1e-9;

/// Returns the probability that two groups of runs of the same curve differ at least as much: the share of ways to
/// assign the runs of each x to the two groups for which they do. Returns `None` if no other assignment exists
/// because no x has runs of both groups.
///
/// Runs are compared by their cost relative to the curve fitted to all of them, so that large y do not dominate. The
/// statistic is the sum over x of the squared difference of the groups' means, weighted by n m / (n + m) for n and m
/// runs, plus the part of that sum that is constant over x or grows with x, because real differences have such trends
/// and chance does not (a stratified permutation test: P. Good, Permutation, Parametric and Bootstrap Tests of
/// Hypotheses, 3rd edition, section 7). Without the trend part, exchanging two runs would not change the sum, and one
/// run per side for each x could never differ. Neighbouring x are combined so that each part has runs of both groups.
/// Up to 10,000 assignments are all tried; otherwise 9,999 random ones with a fixed seed.
pub fn curves_differ(baseline: &Points, candidate: &Points) -> Option<f64> {
    let parts = parts(baseline, candidate)?;
    let trends = trends(&parts);
    let own = |at: usize, part: &Part, is_candidate: &[bool]| {
        let difference = part.difference(is_candidate);
        let along = trends.each_ref().map(|trend| trend[at] * difference);
        Sums {
            squares: part.weight() * difference * difference,
            along,
        }
    };
    let dealt = |labels: &[Vec<bool>]| {
        let each = parts.iter().zip(labels).enumerate();
        let sums = each.map(|(at, (part, labels))| own(at, part, labels));
        sums.fold(Sums::default(), Sums::plus).statistic()
    };
    let mut labels: Vec<Vec<bool>> = parts.iter().map(|part| part.is_candidate.clone()).collect();
    let threshold = dealt(&labels) * (1.0 - ROUNDING);
    let ways = parts.iter().map(Part::ways).try_fold(1.0, |all, ways| {
        let all: f64 = all * ways;
        (all <= f64::from(TRIED) + 1.0).then_some(all)
    });
    match ways {
        Some(ways) if ways < 1.5 => None,
        Some(ways) => {
            let sums = parts.iter().enumerate();
            let sums = sums.fold(vec![Sums::default()], |sums, (at, part)| {
                let each = part.all_ways();
                let own: Vec<Sums> = each.iter().map(|labels| own(at, part, labels)).collect();
                let each = sums
                    .iter()
                    .flat_map(|sum| own.iter().map(|own| sum.plus(*own)));
                each.collect()
            });
            let as_far = sums.iter().filter(|sum| sum.statistic() >= threshold);
            Some(as_far.count() as f64 / ways)
        }
        None => {
            let mut random = Random::new(1);
            let as_far = (0..TRIED).filter(|_| {
                for labels in &mut labels {
                    shuffle(labels, &mut random);
                }
                dealt(&labels) >= threshold
            });
            // The observed assignment is one of the permutations.
            Some((as_far.count() + 1) as f64 / f64::from(TRIED + 1))
        }
    }
}

/// Sums over the differences of parts.
#[derive(Clone, Copy, Default)]
struct Sums {
    squares: f64,
    /// Projections on each trend.
    along: [f64; 2],
}

impl Sums {
    fn plus(self, other: Sums) -> Sums {
        Sums {
            squares: self.squares + other.squares,
            along: [0, 1].map(|trend| self.along[trend] + other.along[trend]),
        }
    }

    fn statistic(&self) -> f64 {
        self.squares + self.along.iter().map(|sum| sum * sum).sum::<f64>()
    }
}

/// Returns two trends, as one factor per part: a constant one and one that grows from part to part. They are
/// orthonormal in the weights of the parts.
fn trends(parts: &[Part]) -> [Vec<f64>; 2] {
    let weights: Vec<f64> = parts.iter().map(Part::weight).collect();
    let all: f64 = weights.iter().sum();
    let middle = (0..)
        .zip(&weights)
        .map(|(at, weight)| f64::from(at) * weight)
        .sum::<f64>()
        / all;
    let grown = (0..parts.len()).map(|at| at as f64 - middle);
    let spread = weights.iter().zip(grown.clone());
    let spread: f64 = spread.map(|(weight, at)| weight * at * at).sum();
    let alike = weights.iter().map(|weight| weight / all.sqrt());
    let grows = weights.iter().zip(grown).map(|(weight, at)| {
        if spread > 0.0 {
            weight * at / spread.sqrt()
        } else {
            0.0
        }
    });
    [alike.collect(), grows.collect()]
}

/// Runs that may be assigned to either group.
struct Part {
    /// Cost of each run relative to the curve of all runs.
    cost: Vec<f64>,
    is_candidate: Vec<bool>,
}

impl Part {
    /// Returns the difference of the groups' means.
    fn difference(&self, is_candidate: &[bool]) -> f64 {
        let (mut sums, mut counts) = ([0.0; 2], [0.0; 2]);
        for (cost, &is_candidate) in self.cost.iter().zip(is_candidate) {
            sums[usize::from(is_candidate)] += cost;
            counts[usize::from(is_candidate)] += 1.0;
        }
        sums[1] / counts[1] - sums[0] / counts[0]
    }

    fn weight(&self) -> f64 {
        let (runs, candidates) = (self.cost.len() as f64, self.candidates() as f64);
        candidates * (runs - candidates) / runs
    }

    fn candidates(&self) -> usize {
        self.is_candidate.iter().filter(|is| **is).count()
    }

    /// Returns the number of ways to assign the runs.
    fn ways(&self) -> f64 {
        let (runs, chosen) = (self.cost.len(), self.candidates());
        (0..chosen).fold(1.0, |ways, k| ways * (runs - k) as f64 / (k + 1) as f64)
    }

    /// Returns all ways to assign the runs; there must be few.
    fn all_ways(&self) -> Vec<Vec<bool>> {
        let mut ways = Vec::new();
        self.deal(
            0,
            self.candidates(),
            &mut vec![false; self.cost.len()],
            &mut ways,
        );
        ways
    }

    fn deal(&self, from: usize, left: usize, labels: &mut [bool], ways: &mut Vec<Vec<bool>>) {
        if left == 0 {
            ways.push(labels.to_vec());
            return;
        }
        for run in from..=labels.len() - left {
            labels[run] = true;
            self.deal(run + 1, left - 1, labels, ways);
            labels[run] = false;
        }
    }
}

/// Groups the runs by x; an x with runs of only one group is combined with the next.
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

/// Returns the best curve of all runs, bounded below by a hundredth of the mean.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_a_different_curve_with_one_run_for_each_x() {
        let points = |y: &[f64]| Points::new((1..).map(f64::from).zip(y.iter().copied())).unwrap();
        // One run per side at each of seven x: 2^7 assignments, of which two have the greatest difference.
        let old = points(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
        let shifted = points(&[1.2, 2.4, 3.6, 4.8, 6.0, 7.2, 8.4]);
        assert_eq!(curves_differ(&old, &shifted), Some(2.0 / 128.0));
        assert_eq!(curves_differ(&shifted, &old), Some(2.0 / 128.0));
        let grown = points(&[1.0, 2.2, 3.6, 5.2, 7.0, 9.0, 11.2]);
        assert_eq!(curves_differ(&old, &grown), Some(2.0 / 64.0));
        // Alternating differences are not a different curve.
        let jitter = points(&[1.1, 1.8, 3.3, 3.6, 5.5, 5.4, 7.7]);
        let p = curves_differ(&old, &jitter).unwrap();
        assert!(p > 0.5, "{p}");
        assert_eq!(curves_differ(&old, &old), Some(1.0));
        // No x has two runs that could be exchanged.
        assert_eq!(curves_differ(&points(&[1.0]), &points(&[])), None);
    }

    #[test]
    fn rejects_equal_builds_as_often_as_alpha() {
        // Expected: 20 of 400 and 3 of 60. With a probability of 99.9 %, at most 33 and 10.
        for (runs, times, most) in [(1, 400, 33), (3, 60, 10)] {
            let mut random = Random::new(runs);
            let mut side = || {
                let x =
                    (0..7).flat_map(|doubled| (0..runs).map(move |_| f64::from(100 << doubled)));
                let points = x.map(|x| (x, (500.0 + 3.0 * x) * (1.0 + 0.05 * random.normal())));
                Points::new(points.collect::<Vec<_>>()).unwrap()
            };
            let differ = (0..times).filter(|_| curves_differ(&side(), &side()).unwrap() <= 0.05);
            let differ = differ.count();
            assert!(differ <= most, "{runs}: {differ}");
        }
    }
}
