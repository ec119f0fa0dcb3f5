//! What `symbolize` finds, where it looks, and what it says when it finds nothing.

pub(crate) mod compile;
mod hostile;
mod kernel;
mod names;
mod native;
pub(crate) mod recording;
mod search;
