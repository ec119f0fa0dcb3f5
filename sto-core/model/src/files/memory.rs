//! Files in memory.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process;

/// An anonymous file in memory (`memfd_create`), which is deleted when it is closed.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the file.
    pub fn new() -> io::Result<MemoryFile> {
        let file = memfd_create("sto", MemfdFlags::CLOEXEC)?;
        Ok(MemoryFile(file.into()))
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.0
    }

    /// Sets the mode to 0644, so that copies of the file have the mode of an ordinary file.
    ///
    /// # Errors
    /// Returns an error if the system cannot change the mode.
    pub fn set_readable_by_all(&self) -> io::Result<()> {
        self.0.set_permissions(Permissions::from_mode(0o644))
    }

    /// The path by which processes of the same user can open the file while it is open in this process
    /// (proc_pid_fd(5)).
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", process::id(), self.0.as_raw_fd()).into()
    }
}
