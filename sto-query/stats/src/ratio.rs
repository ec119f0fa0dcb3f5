//! Ratio of two sums over runs, such as processor time and wall time, and its confidence interval.

use super::special::student_quantile;

/// An estimate of a sum of ratios.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Estimate {
    /// The estimated value.
    pub value: f64,
    /// Variance of the value, and its degrees of freedom; `None` if a ratio comes from a single run.
    pub variance: Option<(f64, f64)>,
}

impl Estimate {
    /// Estimates the ratio of the sums of `numerators` and `denominators`, which have a number for each run; 0 if the
    /// denominators sum to 0.
    ///
    /// The variance is that of a ratio estimator by linearisation (W. G. Cochran, Sampling Techniques, 3rd edition,
    /// 1977, section 6.4), with n - 1 degrees of freedom for n runs.
    pub fn from_ratio(numerators: &[f64], denominators: &[f64]) -> Estimate {
        let whole: f64 = denominators.iter().sum();
        if whole <= 0.0 {
            return Estimate::default();
        }
        let value = numerators.iter().sum::<f64>() / whole;
        let residuals = numerators.iter().zip(denominators);
        let squares: f64 = residuals.map(|(n, d)| (n - value * d).powi(2)).sum();
        let runs = numerators.len() as f64;
        let variance = squares / whole.powi(2) * runs / (runs - 1.0);
        Estimate {
            value,
            variance: (runs > 1.0).then_some((variance, runs - 1.0)),
        }
    }

    /// Adds independent estimates. The degrees of freedom are those of F. E. Satterthwaite (Biometrics Bulletin 2:110,
    /// 1946).
    pub fn sum(estimates: &[Estimate]) -> Estimate {
        let variances: Option<Vec<(f64, f64)>> = estimates.iter().map(|e| e.variance).collect();
        let combined = variances.filter(|each| !each.is_empty()).map(|each| {
            let variance: f64 = each.iter().map(|(variance, _)| variance).sum();
            let squares: f64 = each
                .iter()
                .map(|(variance, df)| variance.powi(2) / df)
                .sum();
            let df = variance.powi(2) / squares;
            (variance, if df.is_finite() { df } else { 1.0 })
        });
        Estimate {
            value: estimates.iter().map(|estimate| estimate.value).sum(),
            variance: combined,
        }
    }

    /// Returns the interval that contains the true value with this probability, by Student's t.
    pub fn interval(&self, confidence: f64) -> Option<(f64, f64)> {
        let (variance, df) = self.variance?;
        let half = student_quantile((1.0 + confidence) / 2.0, df) * variance.sqrt();
        Some((self.value - half, self.value + half))
    }
}
