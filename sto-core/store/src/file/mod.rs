//! The store's redb file: one operation opens it, does its work in one transaction and closes it.
//!
//! ```text
//! access        open the file for an operation, and close it
//! open          find, create, open and check the file
//! unrepaired    read the file without writing to it, even after a crash
//! lock          wait for locks; find out who holds them
//! temporary     temporary files next to the store
//! ```
//!
//! See [the manual](crate::manual::file).

pub(crate) mod access;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod open;
pub(crate) mod temporary;
mod unrepaired;
