//! Profiles outside of a store: at places that many machines reach, such as folders, SSH and buckets.
//!
//! `sto-query` re-exports what other tools link; this crate is one of its parts.
//!
//! ```text
//! places      files under names that are written once: folders, ssh, object stores (feature `cloud`)
//! exchange    profiles that are pushed to a place and pulled from it, each as a store of its own
//! lake        profiles as a dataset of Parquet files (feature `lake`)
//! ```
//!
//! The crate knows the model and the store, and nothing of selections and analyses.

pub mod exchange;
pub mod lake;
pub mod places;
