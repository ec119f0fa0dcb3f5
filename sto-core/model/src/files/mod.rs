//! Files in folders that other users may write to.
//!
//! ```text
//! open         what somebody else may have prepared: regular files alone, of a known size and owner
//! pieces       what may be larger than memory, piece by piece
//! folder       a folder, opened once: what is done in it is done in no other
//! temporary    a file that gets its name when it is complete
//! memory       a file that no disk has
//! users        who this process works for, and whom else it believes
//! ```
//!
//! `/tmp`, a shared store's folder or a recording that was sent by somebody are all such folders. A link,
//! a pipe or a device may wait there under a name that sto is about to open, and may be put there between
//! two calls. So a name is looked up once, what it leads to is checked by the descriptor, and owners and
//! modes are changed by the descriptor.

mod acl;
mod folder;
mod memory;
mod open;
mod pieces;
mod temporary;
mod users;

pub use folder::{Folder, Rights};
pub use memory::MemoryFile;
pub use open::{Links, SafeFile, too_large};
pub use pieces::{Part, ReadAt, Window};
pub use temporary::{Temporaries, Temporary, random_name};
pub use users::user_of_process_since;
pub use users::{User, user_of_process};
