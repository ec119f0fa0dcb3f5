//! Opening what somebody else may have prepared.

use super::users::User;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::retry_on_intr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether what a path leads to may have another name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    /// It may: the user named the path, or a folder that is the user's or the system's.
    Follow,
    /// It may not: anybody may have put a symbolic or hard link to another file there.
    Refuse,
}

/// A regular file, open for reading.
#[derive(Debug)]
pub struct SafeFile {
    /// The file.
    pub file: File,
    /// What the system says of this very file.
    pub metadata: Metadata,
}

impl SafeFile {
    /// Opens a regular file for reading. Never waits, as opening a pipe would.
    ///
    /// # Errors
    /// Where there is none, the system refuses, or it is a link that is not to be followed. What is no
    /// regular file is [`io::ErrorKind::InvalidInput`].
    pub fn open(path: &Path, links: Links) -> io::Result<SafeFile> {
        let opened = SafeFile::open_at(CWD, path, links)?;
        match links == Links::Refuse && opened.metadata.nlink() > 1 {
            true => Err(refused("it has a second name (a hard link)")),
            false => Ok(opened),
        }
    }

    pub(super) fn open_at(folder: impl AsFd, path: &Path, links: Links) -> io::Result<SafeFile> {
        let mut flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        if links == Links::Refuse {
            flags |= OFlags::NOFOLLOW;
        }
        let opened = retry_on_intr(|| openat(&folder, path, flags, Mode::empty()));
        let file = File::from(opened.map_err(|error| match error {
            rustix::io::Errno::LOOP if links == Links::Refuse => refused("it is a symbolic link"),
            error => error.into(),
        })?);
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(refused("it is not a regular file"));
        }
        Ok(SafeFile { file, metadata })
    }

    /// The user that the file belongs to.
    pub fn owner(&self) -> User {
        User(self.metadata.uid())
    }

    /// Copies its whole content.
    ///
    /// # Errors
    /// As [`SafeFile::read`], and where it cannot be written.
    pub fn copy_to(&self, target: &mut impl Write, most: u64) -> io::Result<()> {
        self.check_size(most)?;
        // It may grow meanwhile.
        match io::copy(&mut (&self.file).take(most + 1), target)? > most {
            true => Err(too_large(most)),
            false => Ok(()),
        }
    }

    /// Its whole content.
    ///
    /// # Errors
    /// Where it cannot be read, or is longer than `most` bytes, which is [`io::ErrorKind::FileTooLarge`].
    pub fn read(&self, most: u64) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        self.copy_to(&mut content, most)?;
        Ok(content)
    }

    /// Checks that it is no larger than it may be, as it is now.
    ///
    /// # Errors
    /// As [`SafeFile::read`].
    pub fn check_size(&self, most: u64) -> io::Result<()> {
        match self.metadata.len() > most {
            true => Err(too_large(most)),
            false => Ok(()),
        }
    }
}

fn refused(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, what)
}

/// The error of what is larger than it may be.
pub fn too_large(most: u64) -> io::Error {
    let what = format!("it is larger than {} MiB", most >> 20);
    io::Error::new(io::ErrorKind::FileTooLarge, what)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    #[test]
    fn what_is_no_regular_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mkfifoat(CWD, &pipe, Mode::RUSR | Mode::WUSR).unwrap();
        let socket = folder.path().join("socket");
        let _listener = UnixListener::bind(&socket).unwrap();
        for path in [
            &pipe,
            &socket,
            Path::new("/dev/zero"),
            folder.path(),
            &folder.path().join("none"),
        ] {
            assert!(SafeFile::open(path, Links::Follow).is_err(), "{path:?}");
        }
    }

    #[test]
    fn a_link_is_followed_only_where_that_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let [file, link] = ["file", "link"].map(|name| folder.path().join(name));
        std::fs::write(&file, "text").unwrap();
        symlink(&file, &link).unwrap();
        let opened = SafeFile::open(&link, Links::Follow).unwrap();
        assert_eq!(opened.read(4).unwrap(), b"text");
        let error = SafeFile::open(&link, Links::Refuse).unwrap_err();
        assert_eq!(error.to_string(), "it is a symbolic link");
        let second = folder.path().join("second");
        std::fs::hard_link(&file, &second).unwrap();
        assert!(SafeFile::open(&second, Links::Follow).is_ok());
        let error = SafeFile::open(&second, Links::Refuse).unwrap_err();
        assert!(error.to_string().contains("hard link"));
    }

    #[test]
    fn what_is_larger_than_it_may_be_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sparse");
        let file = File::create(&path).unwrap();
        file.set_len(3 << 30).unwrap();
        let error = SafeFile::open(&path, Links::Refuse)
            .unwrap()
            .read(1 << 20)
            .unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 1 MiB");
    }
}
