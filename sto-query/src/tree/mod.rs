//! Loaded stacks: totals, recursion, pruning.

mod functions;
mod inlined;
mod prune;
mod totals;
mod view;

pub use functions::{Function, function_numbers, functions};
pub use prune::{Cut, Prune, Pruned, Row, prune};
pub use totals::{share, totals};
pub use view::View;
