//! Files that no disk has.

use rustix::fs::{MemfdFlags, memfd_create};
use std::fs::{File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process;

/// An empty file that has no name on any disk, and goes with the process.
#[derive(Debug)]
pub struct MemoryFile(File);

impl MemoryFile {
    /// A new one.
    ///
    /// # Errors
    /// Where the system has none.
    pub fn new() -> io::Result<MemoryFile> {
        let file = memfd_create("sto", MemfdFlags::CLOEXEC)?;
        Ok(MemoryFile(file.into()))
    }

    /// The file, open for reading and writing.
    pub fn file(&self) -> &File {
        &self.0
    }

    /// Lets any user read it who can reach it, and nobody run it: the mode of a usual file, for those who copy it.
    ///
    /// # Errors
    /// Where the system refuses.
    pub fn let_others_read(&self) -> io::Result<()> {
        self.0.set_permissions(Permissions::from_mode(0o644))
    }

    /// Where this process and others of its user find it, as long as it is open here (proc_pid_fd(5)).
    pub fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", process::id(), self.0.as_raw_fd()).into()
    }
}
