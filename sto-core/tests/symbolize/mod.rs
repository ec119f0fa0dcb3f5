//! What `symbolize` finds, where it looks, and what it says when it finds nothing.

mod compile;
mod hostile;
mod kernel;
mod names;
mod native;
mod recording;
mod search;
