//! Profiles outside of a store, at places that several machines can access, such as folders, SSH and buckets.
//!
//! This crate is a part of `sto-query`, which re-exports what other tools need.
//!
//! ```text
//! places      write-once files: folders, SSH, object stores (feature `cloud`)
//! exchange    profiles pushed to and pulled from a place, each as a store of its own
//! lake        profiles as a dataset of Parquet files (feature `lake`)
//! ```
//!
//! The crate depends on the model and the store, but not on selections and analyses.

pub mod exchange;
pub mod lake;
pub mod manual;
pub mod places;
