//! Profiles of any number of stores as one dataset of Parquet files, for engines that ask many machines at once.
//!
//! ```text
//! dataset      the folder: its manifest, and files that are written once
//! partition    the folders of a build
//! sample       what stacks of a run cost
//! profile      what is known of a run
//! columns      rows as the bytes of a file
//! read         columns out of the bytes of a file
//! stacks       stacks and costs out of the rows of a run
//! questions    what engines are asked, in SQL
//! counts       what they answer of two builds, to compare these
//! ```
//!
#![doc = include_str!("lake.md")]

mod added;
mod columns;
mod counts;
mod dataset;
mod error;
mod partition;
mod profile;
mod questions;
mod read;
mod sample;
mod stacks;

pub use added::AddedToLake;
pub(crate) use counts::Counts;
pub use dataset::Dataset;
pub(crate) use dataset::Found;
pub use error::LakeError;
pub use questions::{QUESTIONS, Question};

/// The name of the layout that is written.
pub const LAYOUT: &str = "sto-lake";

/// The version of the layout that is written.
pub const VERSION: u64 = 1;
