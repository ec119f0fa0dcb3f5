//! The store's redb file: one operation opens it, does its work in one transaction and closes it.
//!
//! ```text
//! access        one operation
//! open          find, make, open and check the file
//! unrepaired    read it without writing, even after a crash
//! lock          wait for a turn; who has the file locked
//! temporary     files that are to become a store
//! ```
//!
#![doc = include_str!("file.md")]

pub(crate) mod access;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod open;
pub(crate) mod temporary;
mod unrepaired;
