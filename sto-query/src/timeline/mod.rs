//! What a run did over time: costs of functions, threads, modules and labels by slice, and metrics, on one grid.
//!
#![doc = include_str!("timeline.md")]

mod error;
mod formula;
mod grid;
mod metrics;
mod result;
mod rows;
mod run;
mod stacks;

pub use error::TimelineError;
pub use formula::{Formula, FormulaError};
pub use grid::{Grid, resampled};
pub use metrics::NamedSeries;
pub use result::{MAX_SLICES, Timeline, TimelineMetric, TimelineRow, timeline};
pub use rows::{RowName, Rows, RowsBy};
pub use run::RunOverTime;
pub(crate) use stacks::StacksOverTime;
