//! Phases of a run: parts of its time with different composition of cost, and repetitions.
#![doc = include_str!("phases.md")]

mod composition;
mod find;
mod result;

pub(crate) use find::{CostOverTime, borders};
pub(crate) use result::borders_of;
pub(crate) use result::{Cycle, Phase, phases};
pub use result::{PhaseChange, Phases};
