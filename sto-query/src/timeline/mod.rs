//! A run over time: costs of functions, threads, modules and labels by slice, and metrics, on one grid.
//!
//! See [the manual](crate::manual::timeline).

mod error;
mod formula;
mod grid;
mod metrics;
mod result;
mod rows;
mod run;
mod stacks;

pub use rows::RowName;

pub use result::{TimelineMetric, TimelineRow};

pub use error::TimelineError;
pub(crate) use formula::{Formula, FormulaError};
pub use grid::Grid;
pub(crate) use grid::resample;
pub use metrics::NamedSeries;
pub use result::Timeline;
pub(crate) use result::timeline;
pub use rows::RowsBy;
pub use run::RunOverTime;
pub(crate) use stacks::StacksOverTime;
