//! Safe file access in folders that other users may write to.
//!
//! ```text
//! open         opens regular files, with limits on size and checks of owner and links
//! pieces       reads files that may be larger than memory
//! folder       an open folder, independent of later changes to its path
//! temporary    files that get their final name when they are complete
//! memory       files in memory
//! users        users of this process and of other processes
//! ```
//!
//! `/tmp`, the folder of a shared store, and the folder of a received recording are examples. Another user may
//! put a link, pipe or device there under a name that sto is about to open, even between two system calls.
//! Therefore each name is looked up only once, and checks and changes of owner and mode use the descriptor.

mod folder;
mod memory;
mod open;
mod pieces;
mod temporary;
mod users;

pub use crate::system::AccessRights;
pub use folder::Folder;
pub use memory::MemoryFile;
pub use open::{Links, RegularFile, too_large_error};
pub use pieces::{ByteWindow, ReadAt, SharedBytes, unused_buffer};
pub use temporary::{TemporaryFile, TemporaryFiles, random_name};
pub use users::user_of_process_since;
pub use users::{User, own_id_of_process, user_of_process};
