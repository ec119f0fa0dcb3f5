//! Exact test of two sums of counts with a known dispersion.

use super::design::Design;
use statrs::function::beta::beta_reg;

/// Returns the two-sided p-value of the total samples of each side under the hypothesis that nothing changed.
///
/// If n samples of an unchanged function are Poisson distributed, the number of them on one side has the distribution
/// Binomial(n, size of the side / size of both) (J. Przyborowski and H. Wilenski, Biometrika 31:313, 1940). To account
/// for run-to-run variation, counts are divided by the design effect, the factor by which their variance exceeds
/// Poisson's (J. N. K. Rao and A. J. Scott, Biometrics 48:577, 1992). The binomial tail is computed as a regularised
/// incomplete beta function, which accepts fractional counts.
///
/// The two-sided value is twice the smaller tail, at most 1. It is 1 if there are no samples.
pub(super) fn p_value(samples: [f64; 2], design: &Design, dispersion: f64) -> f64 {
    let [baseline, candidate] = samples;
    if baseline + candidate == 0.0 {
        return 1.0;
    }
    let ([s1, s2], [r1, r2]) = (design.sums(), design.effective_runs());
    // Variance of the difference of the means: rate x poisson + rate^2 x (dispersion x between + uncertainty).
    let rate = (baseline + candidate) / (s1 + s2);
    let poisson = 1.0 / s1 + 1.0 / s2;
    let between = 1.0 / r1 + 1.0 / r2;
    let design_effect = 1.0 + rate * (dispersion * between + design.uncertainty()) / poisson;

    let (x1, x2) = (baseline / design_effect, candidate / design_effect);
    let at_least = |x: f64, other: f64, chance: f64| {
        if x > 0.0 {
            beta_reg(x, other + 1.0, chance)
        } else {
            1.0
        }
    };
    let in_candidate = s2 / (s1 + s2);
    let tail = at_least(x2, x1, in_candidate).min(at_least(x1, x2, 1.0 - in_candidate));
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_of_the_sizes_is_variation_that_all_runs_of_a_side_share() {
        let design = Design::new(vec![1.0, 1.5, 0.8, 1.2], 2);
        let uncertain = design.clone().with_uncertainty(0.01);
        let [r1, r2] = design.effective_runs();
        let between = 1.0 / r1 + 1.0 / r2;
        let samples = [1000.0, 1300.0];
        let with_error = p_value(samples, &uncertain, 0.02);
        let with_variation = p_value(samples, &design, 0.02 + 0.01 / between);
        assert!((with_error / with_variation - 1.0).abs() < 1e-9);
        assert!(with_error > 2.0 * p_value(samples, &design, 0.02));
    }
}
