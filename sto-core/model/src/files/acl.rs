//! POSIX access control lists: who but owner, group and everybody may open a file (`setfacl`, acl(5)).
//!
//! Of a file that has one, the group's bits of the mode are those that the list gives to anybody at most. A
//! file with this mode alone would give them to the group.

use rustix::fs::{XattrFlags, fsetxattr, lgetxattr};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, AsRawFd};
use std::path::Path;

const NAME: &str = "system.posix_acl_access";

/// The longest that Linux takes.
const LONGEST: usize = 64 << 10;

/// The list of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Acl {
    None,
    /// As the kernel gives and takes it.
    List(Vec<u8>),
    /// The system does not say.
    Unknown,
}

impl Acl {
    /// The list of a file in a folder; a link has none.
    pub(super) fn of(folder: impl AsFd, name: &OsStr) -> Acl {
        let folder = format!("/proc/self/fd/{}", folder.as_fd().as_raw_fd());
        let mut list = Vec::with_capacity(LONGEST);
        let path = Path::new(&folder).join(name);
        match lgetxattr(path, NAME, rustix::buffer::spare_capacity(&mut list)) {
            Ok(_) => Acl::List(list),
            Err(Errno::NODATA | Errno::OPNOTSUPP) => Acl::None,
            Err(_) => Acl::Unknown,
        }
    }

    /// Gives it to a file that has the same owner and group, and with it the mode, where the system lets.
    pub(super) fn give(&self, file: &File) {
        if let Acl::List(list) = self {
            let _ = fsetxattr(file, NAME, list, XattrFlags::empty());
        }
    }
}
