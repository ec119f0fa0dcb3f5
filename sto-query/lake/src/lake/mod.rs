//! Profiles of any number of stores as one dataset of Parquet files, for distributed query engines.
//!
//! ```text
//! dataset      the folder: its manifest, and files that are never modified
//! partition    folders of a build
//! sample       stacks and costs of a run
//! profile      record of a run
//! columns      encoding of rows as a file
//! read         decoding of columns from a file
//! stacks       stacks and costs from the rows of a run
//! questions    SQL queries for engines
//! counts       results of such queries for comparing two builds
//! ```
//!
//! See [the manual](crate::manual::lake).

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
pub use dataset::{Dataset, DatasetProfile};
#[cfg(feature = "lake")]
pub use error::LakeError;
pub use questions::{EngineQuestion, QUESTIONS};
#[cfg(feature = "lake")]
pub use sample::ProfileToAdd;

/// Name of the current layout.
pub const LAYOUT: &str = "sto-lake";

/// Version of the current layout.
pub const VERSION: u64 = 1;
