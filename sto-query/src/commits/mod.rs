//! Measurements of a repository's commits.
//!
//! The library does not run git: the caller provides the commits and their ancestry.

pub(crate) mod bisect;
mod log;
mod measured;

pub use log::{Judgement, LoggedCommit};

pub use bisect::{BisectedCommit, SoughtFinding};

pub(crate) use log::log;
pub use log::{CommitLog, LogRequest, ShownCommit};
pub(crate) use measured::MeasuredCommits;
pub use measured::{runs_by_commit, runs_of_version};
