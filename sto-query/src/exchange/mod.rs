//! Results of pushing, pulling, and adding to a dataset. `sto-lake` specifies the files.

mod result;
mod run_concurrently;

pub use result::{AddedToLake, Pulled, Pushed};
pub(crate) use run_concurrently::run_concurrently;
