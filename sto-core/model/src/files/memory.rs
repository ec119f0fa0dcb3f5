//! Files in memory.

use crate::system::{self, AnonymousFile};
use std::fs::File;
use std::io;
use std::path::PathBuf;

/// An anonymous file, which is deleted when it is closed: in memory on Linux, in the folder for temporary files on other
/// systems.
#[derive(Debug)]
pub struct MemoryFile(AnonymousFile);

impl MemoryFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the file.
    pub fn new() -> io::Result<MemoryFile> {
        Ok(MemoryFile(AnonymousFile::new()?))
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.0.0
    }

    /// Sets the mode to 0644, so that copies of the file have the mode of an ordinary file.
    ///
    /// # Errors
    /// Returns an error if the system cannot change the mode.
    pub fn set_readable_by_all(&self) -> io::Result<()> {
        system::set_mode(self.file(), 0o644)
    }

    /// The path by which processes of the same user can open the file while it is open in this process.
    pub fn path(&self) -> PathBuf {
        self.0.path()
    }
}
