//! Reading.
//!
//! ```text
//! rows        records and columns <-> redb
//! packs       frames and nodes by their numbers
//! counts      what is a profile's own
//! picked      the nodes that some costs need
//! preorder    trees in an order of their own
//! cut         the tree of some costs
//! builds      builds are listed, stacks and costs come out
//! slices      costs by context and slice of time
//! loaded      what comes out
//! snapshot    one state of the store, and the questions that it answers
//! ```

pub(in crate::store) mod builds;
pub(in crate::store) mod counts;
pub(in crate::store) mod cut;
pub(in crate::store) mod loaded;
pub(in crate::store) mod packs;
pub(in crate::store) mod picked;
pub(in crate::store) mod preorder;
pub(in crate::store) mod rows;
pub(in crate::store) mod slices;
pub(in crate::store) mod snapshot;
