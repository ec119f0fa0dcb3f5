//! Loaded stacks: totals, recursion, pruning, and roots for threads and labels.
//!
//! See [the manual](crate::manual::tree).

mod call_tree;
mod contexts;
mod cut;
mod fold;
mod functions;
mod keyed_stacks;
mod prune;
mod roots;
mod run_window;
mod share;
mod subject;
mod top;
mod union;
mod view;
mod window;

pub use top::{Omitted, TopFunction};

pub use subject::{CostShare, FrameInfo};

pub use run_window::RunWindow;

pub use call_tree::{CallTreeNode, CutStacks};

pub use call_tree::{CallTree, call_tree};
pub use contexts::ContextCosts;
pub(crate) use contexts::RunSlices;
pub(crate) use cut::TIME;
pub(crate) use fold::{Link, NO_OWN_COST, fold_library, fold_tree, folded_name};
pub use functions::{Function, function_numbers, functions};
pub(crate) use functions::{call_costs, sum_costs};
pub(crate) use keyed_stacks::{KeyedStacks, merge_siblings};
pub use prune::Prune;
pub(crate) use prune::{Cut, Row, order_siblings_by_total, prune};
pub use roots::{RootsBy, RootsError, ThreadNames};
pub(crate) use roots::{label_name, thread_name, unknown_label};
pub(crate) use share::share;
pub use sto_core::tree::totals;
pub use subject::Subject;
pub use top::{Listed, Order, Top, top};
pub(crate) use union::Union;
pub use view::View;
pub(crate) use view::remove_inlined;
pub(crate) use window::WholeRun;
pub use window::{Window, WindowError};
