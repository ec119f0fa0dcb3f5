//! POSIX access control lists (ACLs), which grant access to further users and groups (`setfacl`, acl(5)).
//!
//! If a file has an ACL, the group bits of its mode are the ACL's mask. Copying only the mode to another file
//! would grant these rights to the group.

use rustix::fs::{XattrFlags, fsetxattr, lgetxattr};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

const ATTRIBUTE: &str = "system.posix_acl_access";

/// Maximum size of an extended attribute on Linux.
const MAX_LEN: usize = 64 << 10;

/// The ACL of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Acl {
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
    pub(super) fn apply_to(&self, file: &File) {
        if let Acl::List(list) = self {
            let _ = fsetxattr(file, ATTRIBUTE, list, XattrFlags::empty());
        }
    }
}
