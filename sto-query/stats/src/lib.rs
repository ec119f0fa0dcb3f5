//! Statistics on plain numbers: tests of counts, fitted curves, aligned series.
//!
//! The crate knows nothing about functions, runs or stores. `sto-query` re-exports it as `statistics`.
//!
//! Its largest part tests whether counts differ between two groups of runs, by the quasi-likelihood F-test of edgeR.
//! Samples by function and run resemble reads by gene and library in sequencing: counts from 0 to millions, for tens
//! to thousands of functions at once, over a few runs that differ by more than chance.
//!
//! ```text
//! counts by run                 tmm          factors that make runs comparable
//!         |
//!         v
//! size factors                  design       side and size of each run
//!         |
//!         v
//! negative binomial             negbin       mean and deviance of one function on one side
//!         |
//!         v
//! dispersion by abundance       trend        variation that functions of similar size share
//!         |
//!         v
//! quasi-dispersion              squeeze      further variation of one function, shrunk
//!         |                                  towards the other functions
//!         v
//! p, interval of the change     variation, interval
//!         |
//!         v
//! q                             adjust       p adjusted for the number of tests
//! ```
//!
//! Each module is implemented from the papers that it cites. The tests compare its results with edgeR 3.40 for the
//! counts in `testdata/statistics`.
//!
//! [`warp`] aligns series over time, and [`models`] fits curves to points.
//!
//! See [the manual](crate::manual::statistics).

mod adjust;
mod change_points;
mod design;
mod exact;
mod interval;
mod levels;
pub mod manual;
pub mod models;
mod negbin;
mod period;
mod random;
mod ranks;
mod ratio;
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
pub use ratio::Estimate;
pub use special::{normal_two_sided, student_quantile, student_two_sided};
pub use tmm::tmm;
pub use variation::{Fit, Variation};
pub use welch::{Group, holm, welch};
