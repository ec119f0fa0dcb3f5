//! Statistics on plain numbers: tests of counts, fitted curves, aligned series.
//!
//! The crate knows nothing of functions, runs or stores. `sto-query` re-exports it as `statistics`.
//!
//! Its largest part tells whether counts differ between two groups of runs, by the quasi-likelihood
//! F-test of edgeR. Samples by function and run are what reads by gene and library are to
//! sequencing: counts from 0 to millions, of tens to thousands of things at once, over a few runs
//! that differ by more than chance.
//!
//! ```text
//! counts by run                 tmm          factors that make runs comparable
//!         |
//!         v
//! size factors                  design       which run is of which side, and how large it is
//!         |
//!         v
//! negative binomial             negbin       mean and deviance of one function on one side
//!         |
//!         v
//! dispersion by abundance       trend        what most functions of this size vary by
//!         |
//!         v
//! quasi-dispersion              squeeze      what one function varies by beyond that, drawn
//!         |                                  towards what the others do
//!         v
//! p, interval of the change     variation, interval
//!         |
//!         v
//! q                             adjust       p adjusted for the number of tests
//! ```
//!
//! The parts were written from the papers that each file names. `testdata/statistics` has counts,
//! and what edgeR 3.40 makes of them, for the tests to agree with.
//!
//! [`warp`] aligns series over time, and [`models`] fits curves to points.
//!
#![doc = include_str!("statistics.md")]

mod adjust;
mod change_points;
mod design;
mod exact;
mod interval;
mod levels;
pub mod models;
mod negbin;
mod period;
mod random;
mod ranks;
mod special;
mod spline;
mod squeeze;
mod tmm;
mod trend;
mod variation;
pub mod warp;
mod welch;

pub use adjust::benjamini_hochberg;
pub use change_points::change_points;
pub use design::Design;
pub use interval::Interval;
pub use levels::{BuildRuns, levels_differ};
pub use period::{Period, period};
pub use random::Random;
pub use ranks::ranks;
pub use special::{normal_two_sided, student_quantile, student_two_sided};
pub use tmm::tmm;
pub use variation::{Fit, Variation};
pub use welch::{Group, holm, welch};
