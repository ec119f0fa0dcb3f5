//! The data of one profile: its stack tree, and columns of costs by node.

mod addresses;
mod interned;
mod line_cost;
mod profile_id;
mod slices;
mod stack_set;
mod stack_tree;
mod sum;
mod totals;

pub use addresses::{AddressStack, ProfileAddresses};
pub use interned::ProfileData;
pub use line_cost::LineCost;
pub use slices::{
    ContextIx, ProfileThread, SampleContext, SliceCost, SliceCosts, SliceCount, SliceGrid, SliceIx,
    TimeSlices, distinct_label_sets,
};
pub use stack_set::{OrderedStacks, StackSet};
pub use stack_tree::{NodeIx, SelfCosts, StackTree, merge_equal_nodes, total_cost};
pub use sum::{ProfileSum, SumOverflow};
pub use totals::{for_each_total, outermost, totals};
