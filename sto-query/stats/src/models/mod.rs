//! Cost as a function: fits curves to points (x, y).
//!
//! ```text
//! x and y of one function      points       sorted and finite, with the run and weight of each
//!         |
//!         v
//! fewer numbers, same sums     condensed    by distinct x, or by nodes that preserve sums
//!         |
//!         v
//! weights by spread of y       spread
//!         |
//!         v
//! best coefficients            least_squares, growth
//!         |
//!         v
//! curves, best first           regression; regressogram, moving_average, kernel: curves without a formula
//!         |
//!         v
//! change between two curves    changes
//! ```
//!
//! See [the manual](crate::manual::models).

mod bins;
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
mod window_function;

pub use bins::Bins;
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
pub use quantiles::quantile;
pub use regression::{regression, regression_with_certainty, weighted_regression};
pub use regressogram::{Buckets, Middle, regressogram};
pub use rolling::RollingWindow;
pub use simpson::simpson;
pub use surface::{Powers, Surface, SurfaceTerm, normal_form_of_two};
pub use window_function::WindowFunction;
