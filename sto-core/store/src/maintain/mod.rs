//! Work on whole stores.
//!
//! ```text
//! merge      all of it out of one store, into another
//! replace    some profiles in a new file, which replaces the store or is written beside it
//! packed     one profile in bytes that are sent
//! rewrite    the tables of such a file
//! verify     everything is read, hashed and counted again
//! stats      where the bytes are
//! ```

pub(crate) mod merge;
mod packed;
pub(crate) mod replace;
mod rewrite;
pub(crate) mod stats;
pub(crate) mod verify;
