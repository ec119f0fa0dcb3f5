//! Phases of a run: parts of its time with different composition of cost, and repetitions.
//!
//! See [the manual](crate::manual::phases).

mod composition;
mod find;
mod result;

pub use result::{Cycle, Phase, PhaseFunction};

pub(crate) use find::{CostOverTime, borders};
pub(crate) use result::borders_of;
pub(crate) use result::phases;
pub use result::{PhaseChange, Phases};
