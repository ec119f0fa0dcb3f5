//! Replacements of the system calls that only Linux has.

use super::types::{Reserve, Resource, random_number};
use std::env;
use std::fs::{self, File};
use std::io;
use std::path::PathBuf;
use std::process::Child;

/// Access control lists of other systems are not read.
#[cfg(unix)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Acl {
    None,
}

#[cfg(unix)]
impl Acl {
    pub(super) fn read(_folder: impl std::os::fd::AsFd, _name: &std::ffi::OsStr) -> Acl {
        Acl::None
    }

    pub(super) fn apply_to(&self, _file: &File) {}
}

/// An open file in the system's folder for temporary files, which is deleted when it is closed.
#[derive(Debug)]
pub(crate) struct AnonymousFile(pub(crate) File, PathBuf);

impl AnonymousFile {
    pub(crate) fn new() -> io::Result<AnonymousFile> {
        // The standard library panics there when it is asked for the folder.
        if cfg!(target_family = "wasm") {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let path = env::temp_dir().join(format!("sto-{:016x}", random_number()));
        let file = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        Ok(AnonymousFile(file, path))
    }

    /// The path by which processes of the same user can open the file while it is open in this process.
    pub(crate) fn path(&self) -> PathBuf {
        self.1.clone()
    }
}

impl Drop for AnonymousFile {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.1);
    }
}

/// Does nothing: other systems cannot reserve disk space after the end of a file.
pub fn reserve_after_end(_file: &File, _length: u64, _what: Reserve) -> io::Result<()> {
    Ok(())
}

/// Does nothing: other systems cannot limit a running process.
pub fn limit_process(_child: &Child, _resource: Resource, _most: u64) -> io::Result<()> {
    Ok(())
}

/// Only Linux has a `/proc` whose times are in clock ticks.
pub(crate) fn clock_ticks_per_second() -> u64 {
    100
}
