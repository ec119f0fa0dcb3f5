//! Interning: one profile becomes one tree of dense indices.

pub(crate) mod build;
mod line_costs;
mod profile_id;
mod slice_costs;
mod slices;
mod tree;

pub use build::{InternError, Interned};
pub(crate) use build::{intern, intern_with_slices};
pub use line_costs::LineCost;
pub use slices::{
    Context, ContextIx, ProfileThread, SliceCost, SliceCosts, SliceCount, SliceGrid, SliceIx,
    Slices, label_sets,
};
pub use tree::{NodeIx, SelfCosts, StackTree, total};
