//! Replacements of the system calls of Unix, on Windows and WebAssembly.

use super::types::{FileId, ProcessorClock, refused};
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io::{self, PipeReader};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Nothing: new files get the access rights of their folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRights;

/// The path of a folder.
#[derive(Debug)]
pub(crate) struct FolderHandle(PathBuf);

impl FolderHandle {
    pub(crate) fn open(path: &Path) -> io::Result<FolderHandle> {
        if fs::metadata(path)?.is_dir() {
            Ok(FolderHandle(path.to_owned()))
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    }

    pub(crate) fn open_as_file(&self) -> io::Result<File> {
        open_folder(&self.0)
    }

    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        open_regular(&self.0.join(name), false)
    }

    pub(crate) fn create_new(&self, name: &OsStr, _mode: u32) -> io::Result<File> {
        let path = self.0.join(name);
        File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(path)
    }

    pub(crate) fn file_id(&self, name: &OsStr) -> io::Result<FileId> {
        Ok(file_id(&fs::symlink_metadata(self.0.join(name))?))
    }

    pub(crate) fn access_rights(&self, name: &OsStr) -> io::Result<Option<AccessRights>> {
        let is_file = fs::symlink_metadata(self.0.join(name))?.is_file();
        Ok(is_file.then_some(AccessRights))
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    pub(crate) fn rename(&self, old: &OsStr, new: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(old), self.0.join(new))
    }

    pub(crate) fn rename_noclobber(&self, old: &OsStr, new: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(old), self.0.join(new))
    }
}

/// A flag of `CreateFileW` without which Windows does not open folders.
#[cfg(windows)]
fn open_folder(path: &Path) -> io::Result<File> {
    use std::os::windows::fs::OpenOptionsExt;
    const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
    File::options()
        .read(true)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)
}

#[cfg(not(windows))]
fn open_folder(path: &Path) -> io::Result<File> {
    File::open(path)
}

pub(crate) fn open_regular(path: &Path, follow_links: bool) -> io::Result<File> {
    if !follow_links && path.is_symlink() {
        return Err(refused("it is a symbolic link"));
    }
    File::open(path)
}

/// Opens a file for writing, and refuses symbolic links.
///
/// # Errors
/// Returns an error if it does not exist, cannot be opened, or is a link.
pub fn open_existing_for_writing(path: &Path) -> io::Result<File> {
    if path.is_symlink() {
        return Err(refused("it is a symbolic link"));
    }
    File::options().write(true).open(path)
}

/// Unknown: no time passes.
pub(crate) fn processor_time(_clock: ProcessorClock) -> Duration {
    Duration::ZERO
}

/// Returns one id for all files, because the standard library does not know ids.
pub fn file_id(_metadata: &Metadata) -> FileId {
    FileId {
        device: 0,
        inode: 0,
    }
}

pub(crate) fn owner(_metadata: &Metadata) -> u32 {
    current_user()
}

pub(crate) fn link_count(_metadata: &Metadata) -> u64 {
    1
}

pub(crate) fn current_user() -> u32 {
    0
}

pub(crate) fn copy_access_rights(_file: &File, _old: &AccessRights) -> io::Result<()> {
    Ok(())
}

/// Creates a folder and its missing parents.
///
/// # Errors
/// Returns an error if the system cannot create one.
pub fn create_private_folders(path: &Path) -> io::Result<()> {
    fs::create_dir_all(path)
}

/// Fills a buffer with the bytes at an offset.
///
/// # Errors
/// Returns an error if the bytes cannot be read or do not exist.
pub fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match read_at(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                buffer = &mut buffer[read..];
                offset += read as u64;
            }
        }
    }
    Ok(())
}

/// Writes all bytes at an offset.
///
/// # Errors
/// Returns an error if the bytes cannot be written.
pub fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match write_at(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            written => {
                bytes = &bytes[written..];
                offset += written as u64;
            }
        }
    }
    Ok(())
}

#[cfg(windows)]
use std::os::windows::fs::FileExt;

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    file.seek_read(buffer, offset)
}

#[cfg(windows)]
fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    file.seek_write(bytes, offset)
}

#[cfg(not(windows))]
fn read_at(_file: &File, _buffer: &mut [u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(windows))]
fn write_at(_file: &File, _bytes: &[u8], _offset: u64) -> io::Result<usize> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Returns `false`: holes are not looked for.
pub fn is_hole(_file: &File, _start: u64, _end: u64) -> bool {
    false
}

/// Converts a path from a file of another program, and replaces bytes that are not UTF-8.
pub fn os_string_from_bytes(bytes: &[u8]) -> OsString {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Returns `true` at once: reading then waits without a limit.
pub fn wait_for_data(_pipe: &PipeReader, _timeout: Duration) -> io::Result<bool> {
    Ok(true)
}

pub(crate) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
    Ok(())
}
