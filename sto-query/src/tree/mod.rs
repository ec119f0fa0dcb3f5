//! Loaded stacks: totals, recursion, pruning.

mod view;

pub use view::View;
