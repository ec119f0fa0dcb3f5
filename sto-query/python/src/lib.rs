//! The native part of the Python package `sto`: a store, its questions, and tables for Arrow.
//!
//! The Python part, in the folder `python` of this crate, is the interface for users. It encodes questions as JSON, and
//! decodes answers.

mod answer;
mod errors;
mod store;
mod table;
mod work;

use pyo3::pymodule;

/// The native part of `sto`.
#[pymodule]
mod _sto {
    #[pymodule_export]
    use super::answer::Answer;
    #[pymodule_export]
    use super::store::Store;
    #[pymodule_export]
    use super::table::Table;
}
