//! A folder, opened once.

use super::acl::Acl;
use super::open::{Links, SafeFile};
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, openat, statat, unlinkat};
use rustix::io::retry_on_intr;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

/// A folder. Whoever renames it or puts a link in its place changes nothing for who has it open.
#[derive(Debug)]
pub struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

/// Who may do what with a file: what a file that replaces it is to keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rights {
    pub(super) user: u32,
    pub(super) group: u32,
    pub(super) mode: u32,
    pub(super) acl: Acl,
}

/// Enough to use what is in a folder that one may write to, but not list.
#[cfg(target_os = "linux")]
const ENTER: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const ENTER: OFlags = OFlags::RDONLY;

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Where there is none, or the system refuses.
    #[doc(hidden)]
    pub fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder {
            handle: open_folder(CWD, path, ENTER)?,
            path: path.to_owned(),
        })
    }

    /// Opens the folder that a file is in.
    ///
    /// # Errors
    /// Where it cannot be opened.
    pub fn of(file: &Path) -> io::Result<Folder> {
        Folder::open(&Folder::path_of(file))
    }

    /// The path of the folder that a file is in.
    #[doc(hidden)]
    pub fn path_of(file: &Path) -> PathBuf {
        match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
            _ => PathBuf::from("."),
        }
    }

    /// The path by which it was opened, for messages.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The folder itself, as a file that can be locked.
    ///
    /// # Errors
    /// Where the user may not list what is in it.
    #[doc(hidden)]
    pub fn file(&self) -> io::Result<File> {
        Ok(open_folder(self, Path::new("."), OFlags::RDONLY)?.into())
    }

    /// Makes new names in it outlive a power cut. Not every system syncs folders.
    #[doc(hidden)]
    pub fn sync(&self) {
        let _ = self.file().and_then(|folder| folder.sync_all());
    }

    /// Opens a regular file in it for reading; a link is refused.
    ///
    /// # Errors
    /// As [`SafeFile::open`].
    #[doc(hidden)]
    pub fn open_file(&self, name: &OsStr) -> io::Result<SafeFile> {
        SafeFile::open_at(self, Path::new(name), Links::Refuse)
    }

    /// The rights of a regular file in it; `None` where it has none of this name.
    ///
    /// # Errors
    /// Where the system does not say.
    pub fn rights(&self, name: &OsStr) -> io::Result<Option<Rights>> {
        let is_file = |found: &Stat| FileType::from_raw_mode(found.st_mode).is_file();
        let found = self.look_if_there(name)?.filter(is_file);
        Ok(found.map(|found| Rights {
            user: found.st_uid,
            group: found.st_gid,
            mode: found.st_mode & 0o777,
            acl: Acl::of(self, name),
        }))
    }

    /// Whether anything in it has this name, be it a link to nothing.
    ///
    /// # Errors
    /// Where the system does not say.
    #[doc(hidden)]
    pub fn has(&self, name: &OsStr) -> io::Result<bool> {
        Ok(self.look_if_there(name)?.is_some())
    }

    /// What stands under a name, a link being no more than a link.
    pub(super) fn look(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(retry_on_intr(|| {
            statat(self, name, AtFlags::SYMLINK_NOFOLLOW)
        })?)
    }

    fn look_if_there(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match self.look(name) {
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

fn open_folder(at: impl AsFd, path: &Path, how: OFlags) -> io::Result<OwnedFd> {
    let flags = how | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| openat(&at, path, flags, Mode::empty()))?)
}
