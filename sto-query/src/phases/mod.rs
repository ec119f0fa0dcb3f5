//! Phases of a run: parts of its time with different composition of cost, and repetitions.
//!
//! See [the manual](crate::manual::phases).

mod composition;
mod find;
mod result;

pub(crate) use find::{CostOverTime, borders};
pub(crate) use result::borders_of;
pub(crate) use result::{Cycle, Phase, phases};
pub use result::{PhaseChange, Phases};
