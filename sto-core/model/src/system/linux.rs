//! System calls that only Linux has.
//!
//! POSIX access control lists (ACLs) grant access to further users and groups (`setfacl`, acl(5)). If a file has an
//! ACL, the group bits of its mode are the ACL's mask. Copying only the mode to another file would grant these rights
//! to the group.

use super::types::{Reserve, Resource};
use rustix::fs::{
    FallocateFlags, MemfdFlags, XattrFlags, fallocate, fsetxattr, lgetxattr, memfd_create,
};
use rustix::io::Errno;
use rustix::process::{Pid, Rlimit, getrlimit, prlimit};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::process;

pub(crate) use rustix::param::clock_ticks_per_second;

const ATTRIBUTE: &str = "system.posix_acl_access";

/// Maximum size of an extended attribute on Linux.
const MAX_LEN: usize = 64 << 10;

/// The ACL of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Acl {
    None,
    /// The ACL in the kernel's format.
    List(Vec<u8>),
    /// The ACL cannot be read.
    Unknown,
}

impl Acl {
    /// Reads the ACL of a file in a folder. Symbolic links have none.
    pub(super) fn read(folder: impl AsFd, name: &OsStr) -> Acl {
        let folder = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        let mut list = Vec::with_capacity(MAX_LEN);
        let path = Path::new(&folder).join(name);
        match lgetxattr(path, ATTRIBUTE, rustix::buffer::spare_capacity(&mut list)) {
            Ok(_) => Acl::List(list),
            Err(Errno::NODATA | Errno::OPNOTSUPP) => Acl::None,
            Err(_) => Acl::Unknown,
        }
    }

    /// Sets the ACL, and thereby the mode, of a file with the same owner and group. Errors are ignored.
    pub(crate) fn apply_to(&self, file: &File) {
        if let Acl::List(list) = self {
            let _ = fsetxattr(file, ATTRIBUTE, list, XattrFlags::empty());
        }
    }
}

/// An open file in memory, which is deleted when it is closed.
#[derive(Debug)]
pub(crate) struct AnonymousFile(pub(crate) File);

impl AnonymousFile {
    pub(crate) fn new() -> io::Result<AnonymousFile> {
        let file = memfd_create("sto", MemfdFlags::CLOEXEC)?;
        Ok(AnonymousFile(file.into()))
    }

    /// The path by which processes of the same user can open the file while it is open in this process
    /// (proc_pid_fd(5)).
    pub(crate) fn path(&self) -> PathBuf {
        format!("/proc/{}/fd/{}", process::id(), self.0.as_raw_fd()).into()
    }
}

/// Reserves this many bytes of disk space after the end of a file, or releases them.
///
/// # Errors
/// Returns an error if the disk is full or the file system cannot reserve space.
pub fn reserve_after_end(file: &File, length: u64, what: Reserve) -> io::Result<()> {
    let how = match what {
        Reserve::Keep => FallocateFlags::KEEP_SIZE,
        Reserve::Release => FallocateFlags::KEEP_SIZE | FallocateFlags::PUNCH_HOLE,
    };
    Ok(fallocate(file, how, file.metadata()?.len(), length)?)
}

/// Limits a resource of a child process, or raises the limit again. Does nothing if the process exited.
///
/// # Errors
/// Returns an error if the system refuses the limit.
pub fn limit_process(child: &process::Child, resource: Resource, most: u64) -> io::Result<()> {
    let resource = match resource {
        Resource::Memory => rustix::process::Resource::As,
        Resource::FileSize => rustix::process::Resource::Fsize,
    };
    let maximum = getrlimit(resource).maximum;
    let limit = Rlimit {
        current: Some(maximum.map_or(most, |maximum| maximum.min(most))),
        maximum,
    };
    match prlimit(Some(Pid::from_child(child)), resource, limit) {
        Err(Errno::SRCH) => Ok(()),
        limited => Ok(limited.map(drop)?),
    }
}
