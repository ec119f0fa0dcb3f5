//! Reading.
//!
//! ```text
//! rows        records and columns <-> redb
//! packs       frames and nodes by their numbers
//! counts      what is a profile's own
//! picked      the nodes that some costs need
//! preorder    trees in an order of their own
//! call_rules  what calls over time keep
//! cut         the tree of some costs
//! commits     what is known of commits
//! builds      builds are listed, stacks and costs come out
//! slices      costs by context and slice of time
//! metrics     metrics over time
//! sources     digests of source files
//! calls       calls over time
//! kept        pieces of all calls
//! loaded      what comes out
//! whole       profiles as they went in
//! rest        what they have beside stacks and costs, as bytes
//! snapshot    one state of the store, and the questions that it answers
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
pub(crate) mod picked;
pub(crate) mod preorder;
pub(crate) mod rest;
pub(crate) mod rows;
pub(crate) mod slices;
pub(crate) mod snapshot;
pub(crate) mod sources;
mod whole;
