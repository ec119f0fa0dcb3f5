//! Variation of counts between runs of one build, and tests of differences against it.
//!
//! The test is the quasi-likelihood F-test (S. P. Lund, D. Nettleton, D. J. McCarthy and G. K. Smyth, Statistical
//! Applications in Genetics and Molecular Biology 11:5, 2012): a count has the variance σ² (μ + φ μ²), where φ is
//! common to all functions of one abundance. σ² is specific to the function, and shrunk towards the σ² of the other
//! functions as far as these agree.

use super::design::Design;
use super::interval::Interval;
use super::special::student_two_sided;
use super::squeeze::{ObservedVariance, Prior};
use super::trend::Trend;
use super::{exact, negbin};
use rayon::prelude::*;

/// Number of samples added to each run before the logarithm for the abundance is taken, and the dispersion from which
/// the weights of runs follow.
const PRIOR_COUNT: f64 = 2.0;
const ABUNDANCE_DISPERSION: f64 = 0.05;

/// Lower bound on reported p-values, so that no report claims certainty.
const LEAST_P: f64 = 1e-300;

/// Variation of counts from run to run beyond Poisson.
#[derive(Clone, Debug)]
pub struct Variation {
    trend: Trend,
    /// `None` if the dispersion is assumed rather than estimated.
    quasi: Option<Quasi>,
}

#[derive(Clone, Debug)]
struct Quasi {
    prior: Prior,
    /// Sum of the degrees of freedom from which the prior was estimated.
    most_degrees_of_freedom: f64,
}

/// Fit of one function.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Fit {
    /// Logarithm to base 2 of the mean count of a run of size 1, plus two samples.
    abundance: f64,
    /// φ of the functions of this abundance.
    pub dispersion: f64,
    /// Deviance of the counts from the means of their sides.
    pub deviance: f64,
    /// Residual degrees of freedom: number of runs minus one, summed over the sides that have samples.
    pub df_residual: f64,
    /// Prior σ² of functions of this abundance.
    pub quasi_prior: f64,
    /// Posterior σ² of this function.
    pub quasi_posterior: f64,
    /// Sum of the prior and residual degrees of freedom.
    pub df_total: f64,
}

impl Variation {
    /// Estimates the variation from the runs of a comparison; `None` if neither side has several runs.
    ///
    /// `rows` are counts by function, then by run. They should be well above zero: the deviances of counts of one or
    /// two do not measure variance.
    pub fn estimate(rows: &[Vec<f64>], design: &Design) -> Option<Variation> {
        let abundances: Vec<f64> = rows.par_iter().map(|row| abundance(row, design)).collect();
        let with_runs: Vec<(f64, &[f64])> = abundances
            .into_iter()
            .zip(rows.iter().map(Vec::as_slice))
            .filter(|(_, row)| df_residual(row, design) > 0.0)
            .collect();
        if with_runs.is_empty() {
            return None;
        }
        let trend = Trend::estimate(&with_runs, design);
        let seen: Vec<ObservedVariance> = with_runs
            .par_iter()
            .map(|&(abundance, row)| seen(row, design, abundance, trend.at(abundance)))
            .collect();
        Some(Variation {
            trend,
            quasi: Some(Quasi {
                prior: Prior::estimate(&seen),
                most_degrees_of_freedom: seen.iter().map(|seen| seen.degrees_of_freedom).sum(),
            }),
        })
    }

    /// Returns a more conservative estimate, which does not treat functions as alike or steady because a few runs
    /// agree by chance.
    ///
    /// edgeR's estimates are right on average. But with two or three runs per side and some functions far more
    /// erratic than the rest, a test based on them reports something in a quarter of the comparisons of equal builds.
    /// With the conservative estimate, this share is below 5 %.
    pub fn cautious(mut self) -> Variation {
        self.quasi = self.quasi.map(|quasi| Quasi {
            prior: quasi.prior.cautious(),
            ..quasi
        });
        self
    }

    /// Creates a variation with a known dispersion that is the same for all functions.
    pub fn with_dispersion(dispersion: f64) -> Variation {
        Variation {
            trend: Trend::constant(dispersion),
            quasi: None,
        }
    }

    /// Returns the prior degrees of freedom: the more similarly functions vary, the higher they are.
    pub fn df_prior(&self) -> f64 {
        let quasi = self.quasi.as_ref();
        quasi.map_or(f64::INFINITY, |quasi| quasi.prior.degrees_of_freedom)
    }

    /// Fits one function's counts.
    pub fn fit(&self, counts: &[f64], design: &Design) -> Fit {
        let abundance = abundance(counts, design);
        let dispersion = self.trend.at(abundance);
        let df_residual = df_residual(counts, design);
        let seen = seen(counts, design, abundance, dispersion);
        let mut fit = Fit {
            abundance,
            dispersion,
            deviance: seen.variance * df_residual.max(1.0),
            df_residual,
            quasi_prior: 1.0,
            quasi_posterior: 1.0,
            df_total: f64::INFINITY,
        };
        if let Some(quasi) = &self.quasi {
            fit.quasi_prior = quasi.prior.variance(abundance);
            fit.quasi_posterior = if df_residual > 0.0 {
                quasi.prior.posterior(seen)
            } else {
                fit.quasi_prior
            };
            fit.df_total =
                (quasi.prior.degrees_of_freedom + df_residual).min(quasi.most_degrees_of_freedom);
        }
        fit
    }
}

/// Lower bound on reported and planned dispersions: 2 % from run to run.
const LEAST_DISPERSION: f64 = 0.0004;
/// Lower bound on the variance of a count relative to Poisson's (half its standard deviation), however well a few
/// runs agree. A timer that samples steady work at a steady rate does make counts steadier than Poisson's.
const LEAST_VARIANCE: f64 = 0.25;

impl Variation {
    /// Returns the p-value of a function's counts under the hypothesis of equal means on both sides.
    ///
    /// If the dispersion was estimated, this is the p-value of the F-test or of the exact test with the same variance,
    /// whichever is larger, because likelihood ratios of small counts overstate the evidence.
    pub fn p_value(&self, fit: &Fit, counts: &[f64], design: &Design) -> f64 {
        let samples: [f64; 2] = design.sides(counts).map(|counts| counts.iter().sum());
        let p = match self.quasi {
            None => exact::p_value(samples, design, fit.dispersion),
            Some(_) => {
                let variance = fit.times_poisson().1.max(LEAST_VARIANCE);
                let worth = samples.map(|samples| samples / variance);
                fit.f_test_p_value(counts, design)
                    .max(exact::p_value(worth, design, 0.0))
            }
        };
        p.clamp(LEAST_P, 1.0)
    }

    /// Returns the p-value of the total samples of each side, for a function without counts by run.
    pub fn p_value_of_sums(&self, samples: [f64; 2], design: &Design) -> f64 {
        let [s1, s2] = design.sums();
        let mean = (samples[0] + samples[1]) / (s1 + s2);
        let row: Vec<f64> = design.sizes().iter().map(|size| size * mean).collect();
        let mut fit = self.fit(&row, design);
        fit.quasi_posterior = fit.quasi_prior;
        exact::p_value(samples, design, fit.overdispersion())
    }

    /// Returns the ratios candidate / baseline whose p-value exceeds `alpha`.
    pub fn interval(&self, fit: &Fit, counts: &[f64], design: &Design, alpha: f64) -> Interval {
        let [baseline, candidate] = design
            .sides(counts)
            .map(|counts| counts.iter().sum::<f64>());
        let [s1, s2] = design.sums();
        let ratio = (candidate / s2) / (baseline / s1);
        Interval::around(ratio, alpha, |ratio| {
            self.p_value(fit, counts, &design.scaled(ratio))
        })
    }
}

impl Fit {
    /// Returns the variance beyond Poisson relative to the squared mean; at least 0.0004, or 2 % from run to run.
    pub fn overdispersion(&self) -> f64 {
        let (mean, variance) = self.times_poisson();
        ((variance - 1.0) / mean).max(LEAST_DISPERSION)
    }

    /// Returns the mean of a run of size 1, and the variance there relative to Poisson's.
    fn times_poisson(&self) -> (f64, f64) {
        let mean = (self.abundance.exp2() - PRIOR_COUNT).max(1.0);
        (mean, self.quasi_posterior * (1.0 + self.dispersion * mean))
    }

    /// Returns the F statistic for equal means on both sides.
    ///
    /// F is the squared log ratio of the means over its variance, to which the error of the size factors adds.
    fn f(&self, counts: &[f64], design: &Design) -> f64 {
        let by_side = deviance_of_sides(counts, design, self.dispersion);
        let together = deviance(counts, design.sizes(), self.dispersion);
        let f = (together - by_side).max(0.0) / self.quasi_posterior;
        if design.uncertainty() == 0.0 {
            return f;
        }
        let variance = self.variance_of_ratio(counts, design);
        f * variance / (variance + design.uncertainty())
    }

    /// Returns the variance of the log ratio of the sides' means if nothing changed.
    fn variance_of_ratio(&self, counts: &[f64], design: &Design) -> f64 {
        let mean = negbin::mean(counts, design.sizes(), self.dispersion);
        let of_side = |sizes: &[f64]| {
            let information = |size: &f64| size * mean / (1.0 + self.dispersion * size * mean);
            1.0 / sizes.iter().map(information).sum::<f64>()
        };
        let [baseline, candidate] = design.sides(design.sizes()).map(of_side);
        self.quasi_posterior * (baseline + candidate)
    }

    /// Returns the p-value of the F statistic with one and `df_total` degrees of freedom.
    pub fn f_test_p_value(&self, counts: &[f64], design: &Design) -> f64 {
        student_two_sided(self.f(counts, design).sqrt(), self.df_total)
    }
}

fn deviance(counts: &[f64], sizes: &[f64], dispersion: f64) -> f64 {
    let mean = negbin::mean(counts, sizes, dispersion);
    negbin::deviance(counts, sizes, mean, dispersion)
}

fn deviance_of_sides(counts: &[f64], design: &Design, dispersion: f64) -> f64 {
    let sides = design
        .sides(counts)
        .into_iter()
        .zip(design.sides(design.sizes()));
    sides
        .map(|(counts, sizes)| deviance(counts, sizes, dispersion))
        .sum()
}

fn seen(counts: &[f64], design: &Design, abundance: f64, dispersion: f64) -> ObservedVariance {
    let deviance = deviance_of_sides(counts, design, dispersion);
    let degrees_of_freedom = df_residual(counts, design);
    ObservedVariance {
        abundance,
        variance: deviance / degrees_of_freedom.max(1.0),
        degrees_of_freedom,
    }
}

/// Returns the number of runs minus one, summed over the sides that have samples.
fn df_residual(counts: &[f64], design: &Design) -> f64 {
    let has_samples = |counts: &&[f64]| counts.iter().any(|&count| count > 0.0);
    let sides = design.sides(counts).into_iter().filter(has_samples);
    sides.map(|counts| counts.len() as f64 - 1.0).sum()
}

fn abundance(counts: &[f64], design: &Design) -> f64 {
    let sizes = design.sizes();
    let mean_size = sizes.iter().sum::<f64>() / sizes.len() as f64;
    let more: Vec<f64> = counts
        .iter()
        .zip(sizes)
        .map(|(count, size)| count + PRIOR_COUNT * size / mean_size)
        .collect();
    negbin::mean(&more, sizes, ABUNDANCE_DISPERSION).log2()
}
