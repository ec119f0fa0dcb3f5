//! The temporary folder for recordings.

use crate::runtime::CliError;
use rustix::fs::{CWD, Mode, OFlags, openat};
use std::ffi::OsStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use sto_core::files::{User, random_name};

/// A temporary folder of this process. It is removed when the value is dropped.
pub(crate) struct WorkFolder {
    pub(crate) path: PathBuf,
    /// The folder, locked until this process ends.
    _alive: File,
}

impl WorkFolder {
    const PREFIX: &str = "sto-record-";

    /// Creates a folder in the temporary folder of the system, to which every user may write.
    pub(crate) fn make() -> Result<WorkFolder, CliError> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        // Only this user may read the folder, because copies of stacks can contain any data of the program.
        let mut builder = DirBuilder::new();
        builder.mode(0o700);
        let start = format!("{}{}-", Self::PREFIX, std::process::id());
        let path = parent.join(random_name(OsStr::new(&start)));
        let made = builder.create(&path).and_then(|()| open_folder(&path));
        let alive = made.map_err(|source| CliError::WriteFile {
            path: parent,
            source,
        })?;
        // On a file system without locks, no other process can lock this folder and consider it abandoned either.
        let _ = alive.lock();
        Ok(WorkFolder {
            path,
            _alive: alive,
        })
    }
}

/// Whether the file system of a folder has no room left; perf's own message does not say so.
pub(super) fn is_full(folder: &Path) -> bool {
    let probe = folder.join("room");
    let written = fs::write(&probe, vec![0; 64 << 10]);
    let _ = fs::remove_file(probe);
    written.is_err_and(|error| error.kind() == io::ErrorKind::StorageFull)
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // A folder that cannot be removed stays until the temporary folder is cleaned.
        let _ = fs::remove_dir_all(&self.path);
    }
}

/// Removes the folders of processes of this user that were killed, because recordings are large.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let rest = name
            .to_str()
            .and_then(|name| name.strip_prefix(WorkFolder::PREFIX));
        let pid = rest.and_then(|rest| rest.split_once('-')?.0.parse::<u32>().ok());
        // Another process with this id may have just made its folder; in another container, the id means another process.
        let is_gone = |pid: u32| {
            pid == std::process::id() || !Path::new("/proc").join(pid.to_string()).exists()
        };
        if pid.is_some_and(is_gone) && is_free(&entry.path()) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether this is a folder of this user that no process has locked.
fn is_free(path: &Path) -> bool {
    open_folder(path).is_ok_and(|folder| {
        let is_own = |found: fs::Metadata| found.uid() == User::current().0;
        folder.metadata().is_ok_and(is_own) && folder.try_lock().is_ok()
    })
}

/// Opens a folder; fails at once for anything else, such as a pipe or a link.
fn open_folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(CWD, path, flags, Mode::empty())?.into())
}
