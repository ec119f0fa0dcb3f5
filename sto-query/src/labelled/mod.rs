//! Runs of any programs and builds, by labels and time: which labels they have, and their cost over time.

mod over_time;
mod sets;

pub(crate) use over_time::cost_over_time;
pub use over_time::{CostOverTime, CostPoint, LabelledCosts};
pub(crate) use sets::label_sets;
pub use sets::{LabelSet, LabelSets};
