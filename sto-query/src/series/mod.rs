//! Tracks functions over the runs of a history.
//!
//! ```text
//! History                       every run of a program and benchmark, oldest first
//!    |  costs of functions by run
//!    v
//! window                        expectation from the runs before: mean and band
//! scores                        distance of the newest run from it, by function
//! causes                        functions that explain the change, by a comparison with the build before
//! changes                       level shifts of a series
//! ```
//!
//! See [the manual](crate::manual::series).

mod causes;
mod changes;
mod points;
mod regressions;
mod scores;

pub use scores::Expected;

pub use points::SeriesPoint;

pub use changes::LevelShift;

pub(crate) use changes::ChangePoint;
pub(crate) use changes::change_points_of_builds;
pub use changes::{ChangeOptions, change_points};
pub use points::{FunctionSeries, Observation, Observed, SeriesOptions, series};
pub use regressions::{FunctionScore, Scores, regressions_over_time};
pub(crate) use scores::Score;
pub(crate) use scores::score;
pub use scores::{ScoreOptions, Status, expected, scores};
