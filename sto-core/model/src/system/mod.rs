//! Differences between operating systems: the only module with system calls.
//!
//! ```text
//! types        types that all systems share
//! unix         system calls of Linux, macOS and other Unix systems
//! linux        system calls of Linux: ACLs, files in memory, reserved disk space, limits of processes
//! not_linux    replacements of `linux` on other systems
//! not_unix     replacements of `unix` on Windows and WebAssembly, without owners, modes and protection from links
//! ```
//!
//! Other modules use these functions instead of a condition on the system.

#[cfg(target_os = "linux")]
pub(crate) mod linux;
#[cfg(not(target_os = "linux"))]
mod not_linux;
#[cfg(not(unix))]
mod not_unix;
mod types;
#[cfg(unix)]
mod unix;

#[cfg(target_os = "linux")]
use linux as kernel;
#[cfg(not(target_os = "linux"))]
use not_linux as kernel;
#[cfg(not(unix))]
use not_unix as os;
#[cfg(unix)]
use unix as os;

pub(crate) use kernel::{AnonymousFile, clock_ticks_per_second};
pub use kernel::{limit_process, reserve_after_end};
pub use os::AccessRights;
pub(crate) use os::{
    FolderHandle, copy_access_rights, current_user, link_count, open_regular, owner,
    processor_time, set_mode,
};
pub use os::{
    create_private_folders, file_id, is_hole, open_existing_for_writing, os_string_from_bytes,
    read_exact_at, wait_for_data, write_all_at,
};
pub use types::{FileId, Reserve, Resource};
pub(crate) use types::{ProcessorClock, random_number};
