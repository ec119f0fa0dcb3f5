//! The store's redb file: one operation opens it, does its work in one transaction and closes it.
//!
//! ```text
//! access        open the file for an operation, and close it
//! open          find, create, open and check the file
//! shared        the file as all stores of this process share it
//! reading       states that are open for reading
//! state         ids of states; which states somebody reads
//! overlay       read the file without writing to it, even after a crash
//! lock          wait for locks; find out who holds them
//! space         free space in the file, and after its end
//! temporary     temporary files next to the store
//! ```
//!
//! See [the manual](crate::manual::file).

pub(crate) mod access;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod open;
mod overlay;
pub(crate) mod reading;
pub(crate) mod shared;
pub(crate) mod space;
pub(crate) mod state;
pub(crate) mod temporary;
