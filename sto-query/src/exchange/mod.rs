//! Results of pushing, pulling, and adding to a dataset. `sto-lake` specifies the files.

mod at_once;
mod result;

pub(crate) use at_once::at_once;
pub use result::{AddedToLake, Pulled, Pushed};
