//! Cost as a function: points of x and y in, fitted curves out.
//!
//! ```text
//! x and y of one function      points       sorted, finite; of which run, and how much each weighs
//!         |
//!         v
//! fewer numbers, same sums     condensed    by distinct x, or by nodes that keep every sum
//!         |
//!         v
//! where y varies more          spread
//!         |
//!         v
//! best coefficients            least_squares, growth
//!         |
//!         v
//! curves, the best one first   regression; regressogram, moving_average, kernel: curves without a formula
//!         |
//!         v
//! did it change                changes
//! ```
//!
#![doc = include_str!("models.md")]

mod candidates;
mod certainty;
pub mod changes;
mod condensed;
mod curve;
mod difference;
mod fit;
mod growth;
mod kernel;
mod least_squares;
mod model;
mod moving_average;
mod normal_form;
mod points;
mod quantiles;
mod regression;
mod regressogram;
mod rolling;
mod simpson;
mod spread;
mod sums;
mod surface;

pub use candidates::{Models, Why};
pub use certainty::{Certainty, Exponent};
pub use curve::{Curve, Term};
pub use difference::curves_differ;
pub use fit::Fit;
pub use kernel::{
    Bandwidth, Estimator, Kernel, cross_validation, hurvich, kernel_regression, kernel_ridge,
};
pub use model::{Coefficient, Model, ModelKind};
pub use moving_average::{Average, Decay, iterative_moving_average, moving_average};
pub use normal_form::normal_form;
pub use points::{Points, PointsError};
pub use regression::{regression, regression_with_certainty, weighted_regression};
pub use regressogram::{Buckets, Middle, regressogram};
pub use rolling::Window;
pub use simpson::simpson;
pub use surface::{Powers, Surface, SurfaceTerm, normal_form_of_two};
