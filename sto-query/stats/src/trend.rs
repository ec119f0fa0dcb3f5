//! Dispersion of the negative binomial as a function of abundance.
//!
//! For each function, the likelihood of each dispersion on a grid is computed with the Cox-Reid adjustment for the
//! estimated means (D. R. Cox and N. Reid, J. R. Statist. Soc. B 49:1, 1987). The dispersion at an abundance
//! maximises a weighted sum of the likelihoods of the functions near it (D. J. McCarthy, Y. Chen and G. K. Smyth,
//! Nucleic Acids Research 40:4288, 2012).

use super::design::Design;
use super::negbin;
use rayon::prelude::*;

/// Grid of dispersions: 0.1 times 2 to the power of -12, -11.4, ... 6. The lowest means a standard deviation of half
/// a percent from run to run.
const GRID: usize = 31;
const FIRST_POWER: f64 = -12.0;
const STEP: f64 = 0.6;
/// Maximum number of functions from which the trend is estimated. With three runs per side, they determine the
/// variance at an abundance to 2 %; more would cost time and add little.
const MOST_FUNCTIONS: usize = 5_000;
/// Number of abundances at which the trend is computed; it is interpolated linearly between them.
const KNOTS: usize = 100;
/// Minimum number of functions for a trend that is more than chance.
pub(super) const MIN_TREND: usize = 30;

fn dispersion(position: f64) -> f64 {
    0.1 * (FIRST_POWER + STEP * position).exp2()
}

/// Dispersion by abundance.
#[derive(Clone, Debug)]
pub(super) struct Trend {
    /// Abundance and position in the grid of dispersions, ascending.
    knots: Vec<(f64, f64)>,
}

impl Trend {
    /// Creates a trend with the same dispersion at every abundance.
    pub(super) fn constant(dispersion: f64) -> Trend {
        let position = ((dispersion / 0.1).log2() - FIRST_POWER) / STEP;
        Trend {
            knots: vec![(0.0, position)],
        }
    }

    /// Estimates the trend from the abundances and the counts by run of at least one function.
    pub(super) fn estimate(rows: &[(f64, &[f64])], design: &Design) -> Trend {
        let mut rows = rows.to_vec();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        let span = span(rows.len());
        let likelihoods: Vec<(f64, [f64; GRID])> = evenly(rows.len(), MOST_FUNCTIONS)
            .into_par_iter()
            .map(|row| {
                let (abundance, counts) = rows[row];
                let at = |position| adjusted_profile(counts, design, dispersion(position as f64));
                (abundance, std::array::from_fn(at))
            })
            .collect();
        let mut abundances: Vec<f64> = evenly(likelihoods.len(), KNOTS)
            .into_iter()
            .map(|knot| likelihoods[knot].0)
            .collect();
        abundances.dedup();
        let knot = |abundance: f64| (abundance, most_likely(&likelihoods, span, abundance));
        Trend {
            knots: abundances.into_par_iter().map(knot).collect(),
        }
    }

    pub(super) fn at(&self, abundance: f64) -> f64 {
        let above = self.knots.partition_point(|knot| knot.0 < abundance);
        let position = match (above.checked_sub(1), self.knots.get(above)) {
            (None, _) => self.knots[0].1,
            (Some(below), None) => self.knots[below].1,
            (Some(below), Some(above)) => {
                let below = self.knots[below];
                let part = (abundance - below.0) / (above.0 - below.0);
                below.1 + (above.1 - below.1) * part
            }
        };
        dispersion(position)
    }
}

/// Returns all of `count` indices, or `most` evenly spaced ones including the first and last.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    let chosen = count.min(most);
    let index = |number| number * (count - 1) / (chosen - 1).max(1);
    (0..chosen).map(index).collect()
}

/// Returns the share of the functions from which the dispersion at an abundance is estimated.
fn span(functions: usize) -> f64 {
    (0.25 + 0.75 * (50.0 / functions as f64).sqrt()).min(1.0)
}

fn adjusted_profile(counts: &[f64], design: &Design, dispersion: f64) -> f64 {
    let sides = design
        .sides(counts)
        .into_iter()
        .zip(design.sides(design.sizes()));
    let of_side = |(counts, sizes): (&[f64], &[f64])| {
        let mean = negbin::mean(counts, sizes, dispersion);
        if mean == 0.0 {
            // All counts are zero, which is independent of the dispersion.
            return 0.0;
        }
        negbin::log_likelihood(counts, sizes, mean, dispersion)
            - negbin::information(sizes, mean, dispersion).ln() / 2.0
    };
    sides.map(of_side).sum()
}

/// Returns the most likely grid position at an abundance, from the nearest functions with tricube weights.
fn most_likely(likelihoods: &[(f64, [f64; GRID])], span: f64, abundance: f64) -> f64 {
    let mut distances: Vec<f64> = likelihoods
        .iter()
        .map(|l| (l.0 - abundance).abs())
        .collect();
    let nearest = ((likelihoods.len() as f64 * span) as usize).max(1) - 1;
    let (_, &mut reach, _) = distances.select_nth_unstable_by(nearest, f64::total_cmp);
    let mut sum = [0.0; GRID];
    for (at, likelihood) in likelihoods {
        let distance = (at - abundance).abs();
        if distance <= reach {
            let part = if reach > 0.0 { distance / reach } else { 0.0 };
            let weight = match likelihoods.len() {
                0..MIN_TREND => 1.0,
                _ => (1.0 - part.powi(3)).powi(3),
            };
            sum.iter_mut()
                .zip(likelihood)
                .for_each(|(s, l)| *s += weight * l);
        }
    }
    peak(&sum)
}

/// Returns the maximum of the polynomial through the highest point and two neighbours on each side.
fn peak(values: &[f64; GRID]) -> f64 {
    let highest = (0..GRID)
        .max_by(|&a, &b| values[a].total_cmp(&values[b]))
        .unwrap_or(0);
    if !(2..GRID - 2).contains(&highest) {
        return highest as f64;
    }
    let [a, b, c, d, e] = [0, 1, 2, 3, 4].map(|ix| values[highest - 2 + ix]);
    let first = (a - 8.0 * b + 8.0 * d - e) / 12.0;
    let second = (-a + 16.0 * b - 30.0 * c + 16.0 * d - e) / 24.0;
    let third = (-a + 2.0 * b - 2.0 * d + e) / 12.0;
    let fourth = (a - 4.0 * b + 6.0 * c - 4.0 * d + e) / 24.0;
    let mut shift = 0.0_f64;
    for _ in 0..8 {
        let slope = first + shift * (2.0 * second + shift * (3.0 * third + shift * 4.0 * fourth));
        let bend = 2.0 * second + shift * (6.0 * third + shift * 12.0 * fourth);
        if bend >= 0.0 {
            break;
        }
        shift = (shift - slope / bend).clamp(-1.0, 1.0);
    }
    highest as f64 + shift
}
