//! Types that all systems share.

use std::hash::{BuildHasher, RandomState};
use std::io;

/// The device and inode of a file. Both are zero on systems without them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileId {
    /// The device of the file system.
    pub device: u64,
    /// The number of the file in its file system.
    pub inode: u64,
}

/// An operation on the disk space reserved after the end of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    /// Reserves the space.
    Keep,
    /// Releases the space.
    Release,
}

/// A resource whose use by a process can be limited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// The size of the address space in bytes.
    Memory,
    /// The size in bytes of a file that the process writes.
    FileSize,
}

/// The threads whose processor time is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ProcessorClock {
    Process,
    Thread,
}

/// Creates a number that nobody can guess: the standard library seeds its hashers with random numbers of the system.
pub(crate) fn random_number() -> u64 {
    RandomState::new().hash_one(0u8)
}

pub(super) fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}
