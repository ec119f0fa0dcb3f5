//! System calls of Linux, macOS and other Unix systems.

#[cfg(target_os = "linux")]
use super::linux::Acl;
#[cfg(not(target_os = "linux"))]
use super::not_linux::Acl;
use super::types::{FileId, ProcessorClock, refused};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, Stat, linkat, openat, renameat,
    renameat_with, seek, statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::{OsStr, OsString};
use std::fs::{DirBuilder, File, Metadata, Permissions};
use std::io::{self, PipeReader};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, PermissionsExt, fchown};
use std::path::Path;
use std::time::Duration;

/// The processor time so far.
pub(crate) fn processor_time(clock: ProcessorClock) -> Duration {
    let time = clock_gettime(match clock {
        ProcessorClock::Process => ClockId::ProcessCPUTime,
        ProcessorClock::Thread => ClockId::ThreadCPUTime,
    });
    Duration::new(
        time.tv_sec.unsigned_abs(),
        time.tv_nsec.unsigned_abs() as u32,
    )
}

/// On Linux, folders are opened without the right to list them, so that write permission is enough.
#[cfg(target_os = "linux")]
const FOLDER_FLAGS: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
const FOLDER_FLAGS: OFlags = OFlags::RDONLY;

/// The owner, group, mode and ACL of a file, which a file that replaces it should keep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRights {
    pub(crate) user: u32,
    pub(crate) group: u32,
    pub(crate) mode: u32,
    pub(crate) acl: Acl,
}

/// The descriptor of an open folder, which stays the same if the folder is renamed or replaced by a link.
#[derive(Debug)]
pub(crate) struct FolderHandle(OwnedFd);

impl FolderHandle {
    pub(crate) fn open(path: &Path) -> io::Result<FolderHandle> {
        Ok(FolderHandle(open_folder(CWD, path, FOLDER_FLAGS)?))
    }

    /// Opens the folder as a file that can be locked and synced.
    pub(crate) fn open_as_file(&self) -> io::Result<File> {
        Ok(open_folder(&self.0, Path::new("."), OFlags::RDONLY)?.into())
    }

    /// Opens a file for reading, and refuses symbolic links.
    pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<File> {
        open_regular_at(&self.0, Path::new(name), OFlags::NOFOLLOW)
    }

    /// Creates a file for reading and writing.
    pub(crate) fn create_new(&self, name: &OsStr, mode: u32) -> io::Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_bits_retain(mode as _);
        Ok(retry_on_intr(|| openat(&self.0, name, flags, mode))?.into())
    }

    /// The id of a file, without following symbolic links.
    #[allow(clippy::unnecessary_cast, reason = "the width differs between systems")]
    pub(crate) fn file_id(&self, name: &OsStr) -> io::Result<FileId> {
        let found = self.stat(name)?;
        Ok(FileId {
            device: found.st_dev as u64,
            inode: found.st_ino,
        })
    }

    /// The access rights of a regular file; `None` for other kinds of files.
    #[allow(
        clippy::useless_conversion,
        reason = "the width differs between systems"
    )]
    pub(crate) fn access_rights(&self, name: &OsStr) -> io::Result<Option<AccessRights>> {
        let found = self.stat(name)?;
        let is_file = FileType::from_raw_mode(found.st_mode).is_file();
        Ok(is_file.then(|| AccessRights {
            user: found.st_uid,
            group: found.st_gid,
            mode: u32::from(found.st_mode) & 0o777,
            acl: Acl::read(&self.0, name),
        }))
    }

    fn stat(&self, name: &OsStr) -> io::Result<Stat> {
        Ok(retry_on_intr(|| {
            statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
        })?)
    }

    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(retry_on_intr(|| unlinkat(&self.0, name, AtFlags::empty()))?)
    }

    /// Renames a file, and replaces another.
    pub(crate) fn rename(&self, old: &OsStr, new: &OsStr) -> io::Result<()> {
        Ok(retry_on_intr(|| renameat(&self.0, old, &self.0, new))?)
    }

    /// Gives a file a second name, or renames it if the file system has no hard links. Fails if the name exists.
    pub(crate) fn rename_noclobber(&self, old: &OsStr, new: &OsStr) -> io::Result<()> {
        match retry_on_intr(|| linkat(&self.0, old, &self.0, new, AtFlags::empty())) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => Err(Errno::EXIST.into()),
            // Some file systems have no hard links, or cannot rename without replacing.
            Err(_) => match renameat_with(&self.0, old, &self.0, new, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS) => self.rename(old, new),
                renamed => Ok(renamed?),
            },
        }
    }
}

fn open_folder(parent: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let flags = flags | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| {
        openat(&parent, path, flags, Mode::empty())
    })?)
}

/// Opens a file for reading. Does not block on pipes.
pub(crate) fn open_regular(path: &Path, follow_links: bool) -> io::Result<File> {
    let links = if follow_links {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    };
    open_regular_at(CWD, path, links)
}

fn open_regular_at(folder: impl AsFd, path: &Path, links: OFlags) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let opened = retry_on_intr(|| openat(&folder, path, flags | links, Mode::empty()));
    Ok(File::from(opened.map_err(|error| match error {
        Errno::LOOP if !links.is_empty() => refused("it is a symbolic link"),
        error => error.into(),
    })?))
}

/// Opens a file for writing, and refuses symbolic links.
///
/// # Errors
/// Returns an error if it does not exist, cannot be opened, or is a link.
pub fn open_existing_for_writing(path: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(retry_on_intr(|| openat(CWD, path, flags, Mode::empty()))?.into())
}

/// The device and inode of a file.
pub fn file_id(metadata: &Metadata) -> FileId {
    FileId {
        device: metadata.dev(),
        inode: metadata.ino(),
    }
}

pub(crate) fn owner(metadata: &Metadata) -> u32 {
    metadata.uid()
}

pub(crate) fn link_count(metadata: &Metadata) -> u64 {
    metadata.nlink()
}

pub(crate) fn current_user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Copies the owner (if this process runs as root), group, mode and ACL. If the group or ACL cannot be
/// kept, the group only gets the rights that everybody has.
pub(crate) fn copy_access_rights(file: &File, old: &AccessRights) -> io::Result<()> {
    let group_is_kept = fchown(file, Some(old.user), Some(old.group))
        .or_else(|_| fchown(file, None, Some(old.group)));
    let mode = match (group_is_kept, &old.acl) {
        (Ok(()), Acl::None) => old.mode,
        _ => old.mode & (0o707 | (old.mode & 0o007) << 3),
    };
    set_mode(file, mode)?;
    let own = file.metadata()?;
    if (own.uid(), own.gid()) == (old.user, old.group) {
        old.acl.apply_to(file);
    }
    Ok(())
}

/// Creates a folder and its missing parents, which only this user may open.
///
/// # Errors
/// Returns an error if the system cannot create one.
pub fn create_private_folders(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Fills a buffer with the bytes at an offset, without moving the file's position.
///
/// # Errors
/// Returns an error if the bytes cannot be read or do not exist.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    FileExt::read_exact_at(file, buffer, offset)
}

/// Writes all bytes at an offset, without moving the file's position.
///
/// # Errors
/// Returns an error if the bytes cannot be written.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    FileExt::write_all_at(file, bytes, offset)
}

/// Returns `true` if a part of a file is a hole: it was never written, and reads as zeros.
pub fn is_hole(file: &File, start: u64, end: u64) -> bool {
    match seek(file, rustix::fs::SeekFrom::Data(start)) {
        Ok(data) => data >= end,
        Err(error) => error == Errno::NXIO,
    }
}

/// Converts a path from a file of another program, whose bytes need not be UTF-8.
pub fn os_string_from_bytes(bytes: &[u8]) -> OsString {
    OsString::from_vec(bytes.to_owned())
}

/// Waits until a pipe has data or is closed; returns `false` if the time is over.
///
/// # Errors
/// Returns an error if the system cannot wait.
pub fn wait_for_data(pipe: &PipeReader, timeout: Duration) -> io::Result<bool> {
    let timeout = Timespec::try_from(timeout).map_err(io::Error::other)?;
    let mut pipe = [PollFd::new(pipe, PollFlags::IN)];
    Ok(poll(&mut pipe, Some(&timeout))? > 0)
}

pub(crate) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    file.set_permissions(Permissions::from_mode(mode))
}
