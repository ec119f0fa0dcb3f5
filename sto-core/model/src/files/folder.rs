//! Open folders.

use super::acl::Acl;
use super::open::{Links, RegularFile};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::retry_on_intr;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// An open folder. Operations on its files are not affected if its path is renamed or replaced by a link.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

/// The owner, group, mode and ACL of a file, which a file that replaces it should keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRights {
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) mode: u32,
    pub(super) acl: Acl,
}

/// On Linux, folders are opened without the right to list them, so that write permission is enough.
#[cfg(target_os = "linux")]
const OPEN_FLAGS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const OPEN_FLAGS: OFlags = OFlags::RDONLY;

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Returns an error if it does not exist or cannot be opened.
    #[doc(hidden)]
    pub fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder {
            handle: open_folder(CWD, path, OPEN_FLAGS)?,
            path: path.to_owned(),
        })
    }

    /// Opens the folder that contains a file.
    ///
    /// # Errors
    /// Returns an error if it cannot be opened.
    pub fn open_parent(file: &Path) -> io::Result<Folder> {
        Folder::open(&Folder::parent_path(file))
    }

    /// The path of the folder that contains a file.
    #[doc(hidden)]
    pub fn parent_path(file: &Path) -> PathBuf {
        match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// The path by which the folder was opened, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Opens the folder as a file that can be locked.
    ///
    /// # Errors
    /// Returns an error if the user has no permission to list the folder.
    #[doc(hidden)]
    pub fn open_as_file(&self) -> io::Result<File> {
        Ok(open_folder(self, Path::new("."), OFlags::RDONLY)?.into())
    }

    /// Syncs the folder, so that new names in it survive a power failure. Errors are ignored, because not every
    /// system can sync folders.
    #[doc(hidden)]
    pub fn sync(&self) {
        let _ = self.open_as_file().and_then(|folder| folder.sync_all());
    }

    /// Opens a regular file in the folder for reading, and refuses symbolic links.
    ///
    /// # Errors
    /// Returns the same errors as [`RegularFile::open`].
    #[doc(hidden)]
    pub fn open_file(&self, name: &OsStr) -> io::Result<RegularFile> {
        RegularFile::open_at(self, Path::new(name), Links::Refuse)
    }

    /// The access rights of a regular file in the folder, or `None` if there is no regular file of this name.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the file's metadata.
    pub fn access_rights(&self, name: &OsStr) -> io::Result<Option<AccessRights>> {
        let is_file = |found: &Stat| FileType::from_raw_mode(found.st_mode).is_file();
        let found = self.stat_if_exists(name)?.filter(is_file);
        Ok(found.map(|found| AccessRights {
            user: found.st_uid,
            group: found.st_gid,
            mode: found.st_mode & 0o777,
            acl: Acl::read(self, name),
        }))
    }

    /// Returns `true` if the folder has an entry of this name, which may be a dangling link.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the entry's metadata.
    #[doc(hidden)]
    pub fn contains(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.stat_if_exists(name)?.is_some())
    }

    /// The metadata of an entry. Symbolic links are not followed.
    pub(super) fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(retry_on_intr(|| {
            statat(self, name, AtFlags::SYMLINK_NOFOLLOW)
        })?)
    }

    fn stat_if_exists(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match self.stat(name) {
            Ok(found) => Ok(Some(found)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(retry_on_intr(|| unlinkat(self, name, AtFlags::empty()))?)
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.handle.as_fd()
    }
}

fn open_folder(parent: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| {
        openat(&parent, path, flags, Mode::empty())
    })?)
}
