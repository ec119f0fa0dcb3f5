//! Behaviour of functions over the runs of a history.
//!
//! ```text
//! History                       every run of a program and benchmark, oldest first
//!    |  costs of functions by run
//!    v
//! window                        what the runs before lead to expect: mean and band
//! scores                        how far the newest run is from it, function by function
//! changes                       where the level of a series shifts
//! ```
//!
#![doc = include_str!("series.md")]

mod changes;
mod points;
mod regressions;
mod scores;

pub(crate) use changes::change_points_of_builds;
pub use changes::{ChangeOptions, change_points};
pub(crate) use changes::{ChangePoint, LevelShift};
pub(crate) use points::SeriesPoint;
pub use points::{FunctionSeries, Observation, series};
pub use regressions::{FunctionScore, Scores, regressions_over_time};
pub(crate) use scores::score;
pub(crate) use scores::{Expected, Score};
pub use scores::{ScoreOptions, Status, expected, scores};
