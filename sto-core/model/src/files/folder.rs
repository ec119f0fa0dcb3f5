//! Open folders.

use super::open::RegularFile;
use crate::system::{AccessRights, FolderHandle};
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// An open folder. Operations on its files are not affected if its path is renamed or replaced by a link.
#[derive(Debug)]
pub struct Folder {
    pub(super) handle: FolderHandle,
    path: PathBuf,
}

impl Folder {
    /// Opens a folder.
    ///
    /// # Errors
    /// Returns an error if it does not exist or cannot be opened.
    #[doc(hidden)]
    pub fn open(path: &Path) -> io::Result<Folder> {
        Ok(Folder {
            handle: FolderHandle::open(path)?,
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
        self.handle.open_as_file()
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
        RegularFile::new(self.handle.open_file(name)?)
    }

    /// The access rights of a regular file in the folder, or `None` if there is no regular file of this name.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the file's metadata.
    pub fn access_rights(&self, name: &OsStr) -> io::Result<Option<AccessRights>> {
        Ok(if_exists(self.handle.access_rights(name))?.flatten())
    }

    /// Returns `true` if the folder has an entry of this name, which may be a dangling link.
    ///
    /// # Errors
    /// Returns an error if the system cannot read the entry's metadata.
    #[doc(hidden)]
    pub fn contains(&self, name: &OsStr) -> io::Result<bool> {
        Ok(if_exists(self.handle.file_id(name))?.is_some())
    }
}

fn if_exists<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        found => found.map(Some),
    }
}
