//! Interning: one profile becomes one tree of dense indices.

mod build;
mod line_costs;
mod lines;
mod tree;

pub use build::{InternError, Interned, intern};
pub use lines::LineCost;
pub use tree::{NodeIx, SelfCosts, StackTree};
