//! Reading a store.
//!
//! ```text
//! rows            records and columns <-> redb
//! packs           frames and nodes by number
//! counts          the data of one profile
//! selected_nodes  select the nodes with costs
//! preorder        order the selected nodes as a tree
//! call_rules      rules for calls over time
//! cut             extract a profile's tree
//! commits         metadata of commits
//! builds          list builds; load stacks and costs
//! slices          costs by context and slice of time
//! metrics         metrics over time
//! sources         digests of source files
//! calls           calls over time
//! kept            pieces of kept calls
//! loaded          types of loaded data
//! whole           load whole profiles, as they were added
//! rest            a profile's data besides stacks and costs, as bytes
//! snapshot        queries of one state of the store
//! ```

pub(crate) mod builds;
pub(crate) mod call_rules;
pub(crate) mod calls;
pub(crate) mod commits;
pub(crate) mod counts;
pub(crate) mod cut;
pub(crate) mod kept;
pub(crate) mod loaded;
pub(crate) mod metrics;
pub(crate) mod packs;
pub(crate) mod preorder;
pub(crate) mod rest;
pub(crate) mod rows;
pub(crate) mod selected_nodes;
pub(crate) mod slices;
pub(crate) mod snapshot;
pub(crate) mod sources;
mod whole;
