//! Trimmed mean of M values (TMM): normalisation factors that make runs comparable.
//!
//! Shares are misleading: if one function grows, the shares of all others shrink, and they seem to improve. TMM
//! assumes that most functions are unchanged: of the log ratios (M) of their shares in two runs, it drops the largest
//! and smallest, and the functions with the most and the fewest samples, and averages the rest (M. D. Robinson and A.
//! Oshlack, Genome Biology 11:R25, 2010).

use super::ranks::ranks;
use super::spline::quantile;
use rayon::prelude::*;

/// Share of functions dropped at each end of the log ratios, and of the abundances.
const TRIM_RATIOS: f64 = 0.3;
const TRIM_ABUNDANCES: f64 = 0.05;

/// Returns the factor for each run by which its total must be multiplied to be comparable; their product is 1.
///
/// `counts` are by function, then by run; `totals` are the total samples of each run, all positive. The reference is
/// the run whose upper quartile is nearest to the mean of all.
pub fn tmm(counts: &[Vec<f64>], totals: &[f64]) -> Vec<f64> {
    let seen: Vec<&[f64]> = counts
        .iter()
        .map(Vec::as_slice)
        .filter(|counts| counts.iter().any(|&count| count > 0.0))
        .collect();
    if seen.is_empty() {
        return vec![1.0; totals.len()];
    }
    let reference = reference(&seen, totals);
    let log = |run| log_factor(&seen, totals, run, reference);
    let logs: Vec<f64> = (0..totals.len()).into_par_iter().map(log).collect();
    let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
    logs.into_iter().map(|log| (log - mean).exp2()).collect()
}

fn reference(counts: &[&[f64]], totals: &[f64]) -> usize {
    let upper_quartile = |(run, total): (usize, &f64)| {
        let mut column: Vec<f64> = counts.iter().map(|counts| counts[run]).collect();
        column.sort_unstable_by(f64::total_cmp);
        quantile(&column, 0.75) / total
    };
    let quartiles: Vec<f64> = totals.par_iter().enumerate().map(upper_quartile).collect();
    let mean = quartiles.iter().sum::<f64>() / quartiles.len() as f64;
    let distance = |&run: &usize| (quartiles[run] - mean).abs();
    (0..totals.len())
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
        .unwrap_or(0)
}

/// Returns the logarithm to base 2 of a run's factor relative to the reference.
fn log_factor(counts: &[&[f64]], totals: &[f64], run: usize, reference: usize) -> f64 {
    struct Ratio {
        m: f64,
        a: f64,
        /// Inverse of the variance of M under binomial counts.
        weight: f64,
    }
    let ratios: Vec<Ratio> = counts
        .iter()
        .map(|counts| (counts[run], counts[reference]))
        .filter(|&(x, r)| x > 0.0 && r > 0.0)
        .map(|(x, r)| {
            let (nx, nr) = (totals[run], totals[reference]);
            let (share, reference) = (x / nx, r / nr);
            Ratio {
                m: (share / reference).log2(),
                a: (share.log2() + reference.log2()) / 2.0,
                weight: 1.0 / ((nx - x) / nx / x + (nr - r) / nr / r),
            }
        })
        .collect();
    if ratios.iter().all(|ratio| ratio.m.abs() < 1e-6) {
        return 0.0;
    }
    let m_ranks = ranks(&ratios.iter().map(|ratio| ratio.m).collect::<Vec<_>>());
    let a_ranks = ranks(&ratios.iter().map(|ratio| ratio.a).collect::<Vec<_>>());
    let inside = |rank: f64, trim: f64| {
        let first = (ratios.len() as f64 * trim).floor() + 1.0;
        (first..=ratios.len() as f64 + 1.0 - first).contains(&rank)
    };
    let (mut sum, mut weights) = (0.0, 0.0);
    for ((ratio, m_rank), a_rank) in ratios.iter().zip(m_ranks).zip(a_ranks) {
        if inside(m_rank, TRIM_RATIOS) && inside(a_rank, TRIM_ABUNDANCES) {
            sum += ratio.m * ratio.weight;
            weights += ratio.weight;
        }
    }
    if weights > 0.0 { sum / weights } else { 0.0 }
}
