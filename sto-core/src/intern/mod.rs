//! Interning: one profile becomes one tree of dense indices.

mod addresses;
pub(crate) mod build;
mod frame_tree;
mod line_costs;
mod profile_id;
mod run_metrics;
mod slice_costs;
mod slices;
mod stack_costs;
mod tree;

pub use addresses::{AddressStack, Addresses};
pub(crate) use addresses::{addresses, addresses_left, moved};
pub use build::Interned;
pub(crate) use build::intern_with_nodes;
pub(crate) use frame_tree::StackNodes;
pub use line_costs::LineCost;
pub use slices::{
    Context, ContextIx, ProfileThread, SliceCost, SliceCosts, SliceCount, SliceGrid, SliceIx,
    Slices, label_sets,
};
pub use stack_costs::InternError;
pub use tree::{NodeIx, SelfCosts, StackTree, total};
