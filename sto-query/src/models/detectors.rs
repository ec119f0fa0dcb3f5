//! Perun's detectors, which run in addition to sto's own test.

use serde::{Deserialize, Serialize};
use sto_stats::models::changes::{
    Change, DetectorRules, average_amount, best_model_order, fast_check, integral_comparison,
    linear_check, local_statistics, polynomial_check,
};
use sto_stats::models::{Model, Models, Points};

/// Perun's detector of changes between two curves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detector {
    /// Compares the areas under the curves.
    IntegralComparison,
    /// Compares statistics of parts of x.
    LocalStatistics,
    /// Compares the means of y.
    AverageAmount,
    /// Compares the kinds of the best models.
    BestModelOrder,
    /// Examines the difference of the best models.
    FastCheck,
    /// Examines the difference of straight lines.
    LinearCheck,
    /// Fits a polynomial to the difference of the best models.
    PolynomialCheck,
}

/// Result of a detector for one function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Detected {
    /// The detector.
    pub detector: Detector,
    /// The result; `null` if the detector cannot compare the sides.
    pub change: Option<Change>,
}

impl Detector {
    /// All detectors.
    pub const ALL: [Detector; 7] = [
        Detector::IntegralComparison,
        Detector::LocalStatistics,
        Detector::AverageAmount,
        Detector::BestModelOrder,
        Detector::FastCheck,
        Detector::LinearCheck,
        Detector::PolynomialCheck,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Detector::IntegralComparison => "integral-comparison",
            Detector::LocalStatistics => "local-statistics",
            Detector::AverageAmount => "average-amount",
            Detector::BestModelOrder => "best-model-order",
            Detector::FastCheck => "fast-check",
            Detector::LinearCheck => "linear-check",
            Detector::PolynomialCheck => "polynomial-check",
        }
    }

    /// Compares the points and models of two sides, baseline first.
    pub(super) fn compare(
        self,
        [before, now]: [(&Points, &Models); 2],
        rules: &DetectorRules,
    ) -> Detected {
        let best = || before.1.models.first().zip(now.1.models.first());
        let change = match self {
            Detector::IntegralComparison => {
                best().and_then(|(old, new)| integral_comparison(old, new, rules))
            }
            Detector::LocalStatistics => {
                best().and_then(|(old, new)| local_statistics(old, new, rules))
            }
            Detector::AverageAmount => average_amount(before.0, now.0),
            Detector::BestModelOrder => best().and_then(|(old, new)| best_model_order(old, new)),
            Detector::FastCheck => fast_check(before.1, now.1),
            Detector::LinearCheck => linear_check(before.1, now.1),
            Detector::PolynomialCheck => polynomial_check(before.1, now.1),
        };
        Detected {
            detector: self,
            change,
        }
    }
}

/// Curves of two sides that were fitted by the same method, and what Perun's detectors find in them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ComparedCurves {
    /// The baseline's curve; `null` if none can be fitted.
    pub baseline: Option<Model>,
    /// The candidate's curve; `null` if none can be fitted.
    pub candidate: Option<Model>,
    /// The candidate's regressogram with as many buckets as the baseline's, which is compared in place of `candidate`;
    /// omitted from JSON for other curves, and if `candidate` has as many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unified: Option<Model>,
    /// Results of the detectors.
    pub detectors: Vec<Detected>,
}
