//! Work on whole stores.
//!
//! ```text
//! merge      all of it out of one store, into another
//! replace    some profiles in a new file, which takes the store's place or stands beside it
//! rewrite    the tables of such a file
//! verify     everything is read, hashed and counted again
//! stats      where the bytes are
//! ```

pub(in crate::store) mod merge;
pub(in crate::store) mod replace;
mod rewrite;
pub(in crate::store) mod stats;
pub(in crate::store) mod verify;
