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

#[cfg(feature = "lake")]
mod columns;
#[cfg(feature = "lake")]
mod counts;
#[cfg(feature = "lake")]
mod dataset;
#[cfg(feature = "lake")]
mod error;
#[cfg(feature = "lake")]
mod partition;
#[cfg(feature = "lake")]
mod profile;
mod questions;
#[cfg(feature = "lake")]
mod read;
#[cfg(feature = "lake")]
mod sample;
#[cfg(feature = "lake")]
mod stacks;

#[cfg(feature = "lake")]
pub use counts::Counts;
#[cfg(feature = "lake")]
pub use dataset::Dataset;
#[cfg(feature = "lake")]
pub use dataset::Found;
#[cfg(feature = "lake")]
pub use error::LakeError;
pub use questions::{QUESTIONS, Question};
#[cfg(feature = "lake")]
pub use sample::ProfileToAdd;

/// The name of the layout that is written.
pub const LAYOUT: &str = "sto-lake";

/// The version of the layout that is written.
pub const VERSION: u64 = 1;
