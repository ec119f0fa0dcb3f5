//! Whether a count differs between the sides by more than chance and run-to-run variation explain.

use super::pair::Pair;
use statrs::function::{beta::beta_reg, erf::erfc_inv};

/// What p-values are rounded up to, so that no report claims certainty.
const LEAST_P: f64 = 1e-300;

/// What a test needs to know of the sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Design {
    /// Sum of the size factors of each side's runs.
    pub(super) sizes: Pair<f64>,
    /// Effective number of runs of each side.
    pub(super) runs: Pair<f64>,
    /// Degrees of freedom of the dispersion: how well it is known.
    pub(super) degrees_of_freedom: f64,
}

impl Design {
    /// Two-sided p-value of a function's samples on both sides, if nothing changed.
    ///
    /// Of n Poisson samples, a function that did not change has Binomial(n, size of the side /
    /// size of both) on one side: the exact conditional test (J. Przyborowski and H. Wilenski,
    /// Biometrika 31:313, 1940). Run-to-run variation makes counts worth less: they are divided by
    /// the design effect, the factor by which their variance exceeds Poisson's (J. N. K. Rao and
    /// A. J. Scott, Biometrics 48:577, 1992). The binomial tail is the regularised incomplete beta
    /// function, which takes such fractions of samples.
    ///
    /// As the dispersion is itself an estimate, the normal deviate of that tail is then looked up
    /// in Student's distribution; its degrees of freedom are those of the dispersion, or more where
    /// part of the variance is Poisson and thus known (F. E. Satterthwaite, Biometrics Bulletin
    /// 2:110, 1946).
    ///
    /// Two-sided means twice the smaller tail, at most 1. No samples at all give 1.
    pub(super) fn p_value(&self, samples: Pair<u64>, dispersion: f64) -> f64 {
        let Pair {
            baseline,
            candidate,
        } = samples.map(|count| count as f64);
        if baseline + candidate == 0.0 {
            return 1.0;
        }
        let (sizes, runs) = (self.sizes, self.runs);
        // Variance of the difference of the means: rate x poisson + dispersion x rate^2 x between.
        let rate = (baseline + candidate) / (sizes.baseline + sizes.candidate);
        let poisson = 1.0 / sizes.baseline + 1.0 / sizes.candidate;
        let between = 1.0 / runs.baseline + 1.0 / runs.candidate;
        let design_effect = 1.0 + dispersion * rate * between / poisson;

        let (x1, x2) = (baseline / design_effect, candidate / design_effect);
        let in_candidate = sizes.candidate / (sizes.baseline + sizes.candidate);
        let at_least_x2 = if x2 > 0.0 {
            beta_reg(x2, x1 + 1.0, in_candidate)
        } else {
            1.0
        };
        let at_least_x1 = if x1 > 0.0 {
            beta_reg(x1, x2 + 1.0, 1.0 - in_candidate)
        } else {
            1.0
        };
        let tail = at_least_x2.min(at_least_x1);

        let estimated_part = 1.0 - 1.0 / design_effect;
        let degrees_of_freedom = self.degrees_of_freedom / (estimated_part * estimated_part);
        (2.0 * student_tail(tail, degrees_of_freedom)).clamp(LEAST_P, 1.0)
    }
}

/// The tail of Student's distribution beyond the point that has this tail in the normal one.
fn student_tail(tail: f64, degrees_of_freedom: f64) -> f64 {
    // Beyond a million degrees of freedom the two are the same; at 1/2 and above, they agree.
    if degrees_of_freedom > 1e6 || tail >= 0.5 {
        return tail;
    }
    let deviate = std::f64::consts::SQRT_2 * erfc_inv(2.0 * tail.max(LEAST_P));
    // P(T > t) = I(df / (df + t^2); df / 2, 1 / 2) / 2
    let df = degrees_of_freedom;
    0.5 * beta_reg(df / 2.0, 0.5, df / (df + deviate * deviate))
}

/// Adjusts p-values for their number: among those of at most `alpha`, a share of at most `alpha`
/// is false on average (Y. Benjamini and Y. Hochberg, J. R. Statist. Soc. B 57:289, 1995).
pub(super) fn benjamini_hochberg(p_values: &[Option<f64>]) -> Vec<Option<f64>> {
    let mut order: Vec<(f64, usize)> = p_values
        .iter()
        .enumerate()
        .filter_map(|(place, p)| p.map(|p| (p, place)))
        .collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let tests = order.len() as f64;
    let mut q_values = vec![None; p_values.len()];
    let mut least = 1.0_f64;
    for (rank, &(p, place)) in order.iter().enumerate().rev() {
        least = least.min(p * tests / (rank + 1) as f64);
        q_values[place] = Some(least);
    }
    q_values
}
