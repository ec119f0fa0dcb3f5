//! Interning: turns the samples of a profile into one tree with dense indices.

mod addresses;
mod build;
mod frame_tree;
mod line_costs;
mod run_metrics;
mod slice_costs;
mod stack_costs;

pub(crate) use addresses::{AddressTree, remaining_addresses, remap_slices};
pub use build::intern;
pub(crate) use build::intern_with_nodes;
pub(crate) use frame_tree::StackNodes;
pub use stack_costs::InternError;
