//! Methods of fitting curves to points, with their options.

use super::candidates::{Models, Why};
use super::kernel::{Bandwidth, Estimator, Kernel, kernel_regression, kernel_ridge};
use super::model::ModelKind;
use super::moving_average::{Average, iterative_moving_average, moving_average};
use super::normal_form::normal_form;
use super::points::Points;
use super::regression::{regression_with_certainty, weighted_regression};
use super::regressogram::{Buckets, Middle, regressogram};
use crate::models::Certainty;
use serde::{Deserialize, Serialize};

/// Gammas of kernel ridge regression that are tried if none are given: bandwidths from a quarter to a thousandth of
/// the range of x, each 0.6 times the one before.
const WIDEST: f64 = 0.25;
const NARROWEST: f64 = 1e-3;
const NEXT: f64 = 0.6;

/// Method of fitting a curve.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fit {
    /// Formulas of these kinds, weighted by the spread of the points; best first.
    Regression(Vec<ModelKind>),
    /// A constant and a term x^i log2(x)^j.
    NormalForm,
    /// One y for each bucket of x.
    Regressogram {
        /// Number of buckets.
        buckets: Buckets,
        /// Statistic of a bucket.
        middle: Middle,
    },
    /// Average of neighbouring points.
    MovingAverage(Average),
    /// Moving average whose window narrows until the curve fits.
    IterativeMovingAverage(Average),
    /// Average of neighbours whose weights decrease with distance.
    KernelRegression {
        /// Weight function.
        kernel: Kernel,
        /// Statistic of the weighted neighbours.
        estimator: Estimator,
        /// Width of the kernel.
        bandwidth: Bandwidth,
    },
    /// Kernel regression with weights e^(-gamma d²) and the best of these gammas; if empty, of gammas chosen by the
    /// range of x.
    KernelRidge(Vec<f64>),
    /// The best curve of each of these methods, in this order.
    Each(Vec<Fit>),
}

impl Default for Fit {
    fn default() -> Self {
        Fit::Regression(ModelKind::REGRESSION.to_vec())
    }
}

impl Fit {
    /// Returns the methods to use one by one: those of [`Fit::Each`], or this one.
    pub fn each(&self) -> &[Fit] {
        match self {
            Fit::Each(fits) => fits,
            fit => std::slice::from_ref(fit),
        }
    }

    /// Fits the models, and estimates the certainty of the best one if all are formulas.
    pub fn models_with_certainty(&self, points: &Points) -> (Models, Option<Certainty>) {
        match self {
            Fit::Regression(kinds) => regression_with_certainty(points, kinds),
            fit => (fit.models(points), None),
        }
    }

    /// Fits the models.
    pub fn models(&self, points: &Points) -> Models {
        let none = |name: &str| {
            if points.is_empty() {
                Why::TooFewX {
                    needed: 1,
                    found: 0,
                }
            } else {
                Why::Option(name.to_owned())
            }
        };
        let (kind, fitted) = match self {
            Fit::Each(fits) => return best_of_each(fits.iter().map(|fit| fit.models(points))),
            Fit::Regression(kinds) => return weighted_regression(points, kinds),
            Fit::NormalForm => (ModelKind::NormalForm, normal_form(points)),
            Fit::Regressogram { buckets, middle } => (
                ModelKind::Regressogram,
                regressogram(points, *buckets, *middle).ok_or_else(|| none("buckets")),
            ),
            Fit::MovingAverage(average) => (
                average.kind(),
                moving_average(points, *average).ok_or_else(|| none("window or decay")),
            ),
            Fit::IterativeMovingAverage(average) => (
                average.kind(),
                iterative_moving_average(points, *average).ok_or_else(|| none("window")),
            ),
            Fit::KernelRegression {
                kernel,
                estimator,
                bandwidth,
            } => (
                ModelKind::KernelRegression,
                kernel_regression(points, *kernel, *estimator, *bandwidth),
            ),
            Fit::KernelRidge(gammas) => (
                ModelKind::KernelRidge,
                if gammas.is_empty() {
                    kernel_ridge(points, &some_gammas(points))
                } else {
                    kernel_ridge(points, gammas)
                },
            ),
        };
        Models::from_single_kind(kind, fitted)
    }
}

impl Fit {
    /// Fits a regressogram with as many buckets as another one, so that they can be compared bucket by bucket; `None`
    /// if this is not a regressogram, or if it has as many buckets anyway.
    pub fn unified(&self, points: &Points, [other, own]: [&Models; 2]) -> Option<Models> {
        let Fit::Regressogram { middle, .. } = *self else {
            return None;
        };
        let number = |models: &Models| models.models.first().map(|model| model.parameters as usize);
        let (number, own) = (number(other)?, number(own)?);
        let buckets = Buckets::Number(number);
        (number != own).then(|| Fit::Regressogram { buckets, middle }.models(points))
    }
}

/// Keeps the best model of each fit, and the reasons of those that have none.
fn best_of_each(fits: impl Iterator<Item = Models>) -> Models {
    let mut all = Models {
        models: Vec::new(),
        spread: None,
        left_out: Vec::new(),
    };
    for mut fit in fits {
        if fit.models.is_empty() {
            all.left_out.append(&mut fit.left_out);
        } else {
            all.models.push(fit.models.swap_remove(0));
        }
    }
    all
}

fn some_gammas(points: &Points) -> Vec<f64> {
    let range = points.range().map_or(1.0, |(low, high)| high - low);
    let widths = std::iter::successors(Some(WIDEST), |width| Some(width * NEXT));
    let widths = widths.take_while(|width| *width >= NARROWEST);
    widths.map(|width| 0.5 / (width * range).powi(2)).collect()
}
