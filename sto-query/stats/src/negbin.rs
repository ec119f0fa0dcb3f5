//! The negative binomial distribution of one function's counts on one side.
//!
//! A run of size s has the mean μ = s m and the variance μ + φ μ², where φ is the dispersion. Each of the two groups
//! of runs has its own mean, so the generalised linear model separates into one equation per group (D. J. McCarthy,
//! Y. Chen and G. K. Smyth, Nucleic Acids Research 40:4288, 2012).

use statrs::function::gamma::ln_gamma;

/// Returns the maximum likelihood estimate of the mean of a run of size 1.
///
/// It solves Σ (x - s m) / (1 + φ s m) = 0, by Newton's method on log m.
pub(super) fn mean(counts: &[f64], sizes: &[f64], dispersion: f64) -> f64 {
    let all: f64 = counts.iter().sum();
    // Exact for runs of one size, and for a dispersion of zero.
    let mut mean = all / sizes.iter().sum::<f64>();
    if all == 0.0 {
        return 0.0;
    }
    for _ in 0..50 {
        let (mut score, mut information) = (0.0, 0.0);
        for (x, s) in counts.iter().zip(sizes) {
            let expected = s * mean;
            let weight = 1.0 / (1.0 + dispersion * expected);
            score += (x - expected) * weight;
            information += expected * weight;
        }
        // Limits a step to a factor of e, because the equation is steep far from its root.
        let step = (score / information).clamp(-1.0, 1.0);
        mean *= step.exp();
        // Newton's method converges quadratically, so the next step is negligible.
        if step.abs() < 1e-6 {
            break;
        }
    }
    mean
}

/// Returns the deviance: twice the log-likelihood ratio of a model with one mean per run to this model.
pub(super) fn deviance(counts: &[f64], sizes: &[f64], mean: f64, dispersion: f64) -> f64 {
    let unit = |(&x, &s): (&f64, &f64)| {
        let expected = s * mean;
        let surprise = if x > 0.0 {
            x * (x / expected).ln()
        } else {
            0.0
        };
        if dispersion * x.max(expected) < 1e-8 {
            return surprise - (x - expected);
        }
        let spread = (dispersion * (x - expected) / (1.0 + dispersion * expected)).ln_1p();
        surprise - (x + 1.0 / dispersion) * spread
    };
    let half: f64 = counts.iter().zip(sizes).map(unit).sum();
    (2.0 * half).max(0.0)
}

/// Returns the Fisher information about the logarithm of the mean: the inverse of its variance.
pub(super) fn information(sizes: &[f64], mean: f64, dispersion: f64) -> f64 {
    let of_run = |s: &f64| s * mean / (1.0 + dispersion * s * mean);
    sizes.iter().map(of_run).sum()
}

/// Returns the log-likelihood, without terms that depend on neither the dispersion nor the mean of a run of size 1.
pub(super) fn log_likelihood(counts: &[f64], sizes: &[f64], mean: f64, dispersion: f64) -> f64 {
    let size = 1.0 / dispersion;
    let at_zero = log_gamma(size);
    let log_rate = (dispersion * mean).ln();
    let of_run = |(&x, &s): (&f64, &f64)| {
        let occurrences = if x > 0.0 {
            log_gamma(x + size) - at_zero + x * log_rate
        } else {
            0.0
        };
        occurrences - (x + size) * (dispersion * s * mean).ln_1p()
    };
    counts.iter().zip(sizes).map(of_run).sum()
}

/// Returns the logarithm of the gamma function. For large arguments, it uses Stirling's series, which takes a third
/// of the time, because a comparison spends most of its time here.
fn log_gamma(x: f64) -> f64 {
    if x < 10.0 {
        return ln_gamma(x);
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r / 1260.0)) / x;
    (x - 0.5) * x.ln() - x + HALF_LOG_TAU + series
}

/// Half the logarithm of two pi.
const HALF_LOG_TAU: f64 = 0.918_938_533_204_672_7;
