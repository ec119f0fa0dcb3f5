//! Operations on whole stores.
//!
//! ```text
//! merge      add the profiles of one store to another
//! replace    write some profiles to a new file, as a replacement or an export
//! packed     single profiles as bytes, for transfer
//! rewrite    fill the tables of a new file
//! verify     read, hash and count everything
//! stats      bytes by part of the store
//! ```

pub(crate) mod merge;
mod packed;
pub(crate) mod replace;
mod rewrite;
pub(crate) mod stats;
pub(crate) mod verify;
