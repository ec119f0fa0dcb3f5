//! Perun's detectors, beside the test of ours.

use serde::{Deserialize, Serialize};
use sto_stats::models::changes::{
    Change, average_amount, best_model_order, fast_check, integral_comparison, linear_check,
    local_statistics, polynomial_check,
};
use sto_stats::models::{Models, Points};

/// A way to find changes between two curves, in the words of Perun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Detector {
    /// Areas under the curves.
    IntegralComparison,
    /// Statistics of parts of x.
    LocalStatistics,
    /// Means of y.
    AverageAmount,
    /// Kinds of the best models.
    BestModelOrder,
    /// The difference of the best models.
    FastCheck,
    /// The difference of straight lines.
    LinearCheck,
    /// The difference of the best models, as a polynomial.
    PolynomialCheck,
}

/// What a detector finds of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Detected {
    /// Which one.
    pub detector: Detector,
    /// What it finds; `null` where it cannot compare the sides.
    pub change: Option<Change>,
}

impl Detector {
    /// All of them.
    pub const ALL: [Detector; 7] = [
        Detector::IntegralComparison,
        Detector::LocalStatistics,
        Detector::AverageAmount,
        Detector::BestModelOrder,
        Detector::FastCheck,
        Detector::LinearCheck,
        Detector::PolynomialCheck,
    ];

    /// As it is written on command lines.
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
    pub(super) fn ask(self, [before, now]: [(&Points, &Models); 2]) -> Detected {
        let best = || before.1.models.first().zip(now.1.models.first());
        let change = match self {
            Detector::IntegralComparison => {
                best().and_then(|(old, new)| integral_comparison(old, new))
            }
            Detector::LocalStatistics => best().and_then(|(old, new)| local_statistics(old, new)),
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
