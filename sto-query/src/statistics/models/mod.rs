//! Cost as a function: points of x and y in, fitted curves out.
//!
//! ```text
//! x and y of one function      points       sorted, finite; of which run, and how much each weighs
//!         |
//!         v
//! fewer numbers, same sums     condensed    by distinct x, or by nodes that keep every sum
//!         |
//!         v
//! best coefficients            least_squares, growth
//!         |
//!         v
//! curves, the best one first   regression, model
//!         |
//!         v
//! did it change                changes
//! ```
//!
//! Nothing here knows of functions, runs or stores.
//!
#![doc = include_str!("models.md")]

pub mod changes;
mod condensed;
mod curve;
mod growth;
mod least_squares;
mod model;
mod points;
mod quantiles;
mod regression;
mod simpson;

pub use curve::{Curve, Term};
pub use model::{Coefficient, Model, ModelKind};
pub use points::{Points, PointsError};
pub use regression::{Models, Why, regression};
pub use simpson::simpson;
