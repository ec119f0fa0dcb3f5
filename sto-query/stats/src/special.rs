//! Special functions missing from statrs, and tails of distributions.

use statrs::distribution::{ContinuousCDF, StudentsT};
use statrs::function::{
    beta::beta_reg,
    erf::{erfc, erfc_inv},
};

/// Returns the derivative of the digamma function at a positive number (M. Abramowitz and I. A. Stegun, Handbook of
/// Mathematical Functions, 6.4.6 and 6.4.12).
pub(super) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series =
        1.0 / 6.0 - r * (1.0 / 30.0 - r * (1.0 / 42.0 - r * (1.0 / 30.0 - r * 5.0 / 66.0)));
    sum + 1.0 / x + r / 2.0 + series * r / x
}

/// Returns the inverse of the trigamma function, by bisection of its logarithm.
pub(super) fn trigamma_inverse(value: f64) -> f64 {
    // 1/x < trigamma(x) < 1/x + 1/x^2
    let mut low = 1.0 / value;
    let mut high = (1.0 + (1.0 + 4.0 * value).sqrt()) / (2.0 * value);
    for _ in 0..60 {
        let middle = (low * high).sqrt();
        if trigamma(middle) > value {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

/// Returns the probability that a standard normal deviate is farther from zero than `z`, on either side.
pub fn normal_two_sided(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2)
}

/// Returns the probability that Student's t is farther from zero than `t`, on either side.
pub fn student_two_sided(t: f64, degrees_of_freedom: f64) -> f64 {
    // Above ten million degrees of freedom, it equals the normal distribution to seven digits.
    let df = degrees_of_freedom.min(1e7);
    beta_reg(df / 2.0, 0.5, df / (df + t * t))
}

/// Returns the quantile of Student's t for at least half a degree of freedom; above ten million degrees, the normal
/// quantile.
pub fn student_quantile(probability: f64, degrees_of_freedom: f64) -> f64 {
    if degrees_of_freedom > 1e7 {
        return -std::f64::consts::SQRT_2 * erfc_inv(2.0 * probability);
    }
    let df = degrees_of_freedom.max(0.5);
    StudentsT::new(0.0, 1.0, df).map_or(f64::NAN, |student| student.inverse_cdf(probability))
}
