//! What `symbolize` finds, where it looks, and what it says when it finds nothing.
#![expect(
    clippy::unwrap_used,
    reason = "clippy allows it in test functions, but not in what they share"
)]

mod compile;
mod hostile;
mod kernel;
mod names;
mod native;
mod recording;
mod search;
