//! Safe opening of files that another user may have placed.

use super::users::User;
use crate::system;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;

/// Whether a file may be opened through a symbolic or hard link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// Links are allowed: the path is from the user, or in a folder of the user or the system.
    Follow,
    /// Links are refused: any user may have put a link to another file there.
    Refuse,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct RegularFile {
    /// The file.
    pub file: File,
    /// The metadata of the open file.
    pub metadata: Metadata,
}

impl RegularFile {
    /// Opens a regular file for reading. Does not block on pipes.
    ///
    /// # Errors
    /// Returns an error if the file does not exist, cannot be opened, or is a link that `links` refuses. The kind
    /// is [`io::ErrorKind::InvalidInput`] for refused links and files that are not regular.
    pub fn open(path: &Path, links: Links) -> io::Result<RegularFile> {
        let file = system::open_regular(path, links == Links::Follow)?;
        let opened = RegularFile::new(file)?;
        if links == Links::Refuse && system::link_count(&opened.metadata) > 1 {
            return Err(refused("it has a second name (a hard link)"));
        }
        Ok(opened)
    }

    pub(super) fn new(file: File) -> io::Result<RegularFile> {
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(refused("it is not a regular file"));
        }
        Ok(RegularFile { file, metadata })
    }

    /// The user who owns the file.
    pub fn owner(&self) -> User {
        User::owner_of(&self.metadata)
    }

    /// Copies the content of the file.
    ///
    /// # Errors
    /// Returns the same errors as [`RegularFile::read`], and errors of the target.
    pub fn copy_to(&self, target: &mut impl Write, max_len: u64) -> io::Result<()> {
        self.check_size(max_len)?;
        // The file may be growing.
        if io::copy(&mut (&self.file).take(max_len + 1), target)? > max_len {
            return Err(too_large_error(max_len));
        }
        Ok(())
    }

    /// Reads the content of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or with the kind [`io::ErrorKind::FileTooLarge`] if it is
    /// longer than `max_len` bytes.
    pub fn read(&self, max_len: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.copy_to(&mut content, max_len)?;
        Ok(content)
    }

    /// Checks the length that the file had when it was opened.
    ///
    /// # Errors
    /// Returns an error with the kind [`io::ErrorKind::FileTooLarge`] if it is longer than `max_len` bytes.
    pub fn check_size(&self, max_len: u64) -> io::Result<()> {
        if self.metadata.len() > max_len {
            return Err(too_large_error(max_len));
        }
        Ok(())
    }
}

fn refused(reason: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, reason)
}

/// Creates the error for a file that is longer than `max_len` bytes.
pub fn too_large_error(max_len: u64) -> io::Error {
    let message = format!("it is larger than {} MiB", max_len >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn refuses_files_that_are_not_regular() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        use rustix::fs::{CWD, Mode, mkfifoat};
        mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for path in [
            &pipe,
            &socket,
            Path::new("/dev/zero"),
            folder.path(),
            &folder.path().join("none"),
        ] {
            assert!(RegularFile::open(path, Links::Follow).is_err(), "{path:?}");
        }
    }

    #[test]
    fn refuses_links_unless_allowed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        let opened = RegularFile::open(&link, Links::Follow).unwrap();
        assert_eq!(opened.read(4).unwrap(), b"text");
        let error = RegularFile::open(&link, Links::Refuse).unwrap_err();
        assert_eq!(error.to_string(), "it is a symbolic link");
        let second = folder.path().join("second");
        std::fs::hard_link(&file, &second).unwrap();
        assert!(RegularFile::open(&second, Links::Follow).is_ok());
        let error = RegularFile::open(&second, Links::Refuse).unwrap_err();
        assert!(error.to_string().contains("hard link"));
    }

    #[test]
    fn refuses_large_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(3 << 30).unwrap();
        let error = RegularFile::open(&path, Links::Refuse)
            .unwrap()
            .read(1 << 20)
            .unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 MiB");
    }
}
