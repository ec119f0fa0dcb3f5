//! Commits of a repository, as far as they were measured.
//!
//! The library does not run git: whoever asks says which commits there are, and which follow which.

pub(crate) mod bisect;
mod log;
mod measured;

pub use log::{CommitLog, LogRequest, ShownCommit, log};
pub(crate) use log::{Judgement, LoggedCommit};
pub(crate) use measured::MeasuredCommits;
pub use measured::recorded_runs;
