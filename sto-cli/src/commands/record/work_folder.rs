//! The folder that recordings are made in.

use crate::runtime::error::CliError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// A folder of this process, which goes with it.
pub(super) struct WorkFolder {
    pub(super) path: PathBuf,
    /// Locked for as long as this process lives, however it ends.
    _alive: File,
}

impl WorkFolder {
    const PREFIX: &str = "sto-record-";

    pub(super) fn make() -> Result<WorkFolder, CliError> {
        let parent = std::env::temp_dir();
        remove_abandoned(&parent);
        let path = parent.join(format!("{}{}", Self::PREFIX, std::process::id()));
        let made = make_locked(&path);
        let _alive = made.map_err(|source| CliError::WriteFile {
            path: path.clone(),
            source,
        })?;
        Ok(WorkFolder { path, _alive })
    }
}

fn make_locked(path: &Path) -> io::Result<File> {
    // Copies of stacks hold whatever the program had there.
    fs::DirBuilder::new().mode(0o700).create(path)?;
    let folder = File::open(path)?;
    // Where folders cannot be locked, nobody takes this one for abandoned either.
    let _ = folder.lock();
    Ok(folder)
}

/// Removes the folders of processes that were killed: recordings are large.
fn remove_abandoned(parent: &Path) {
    for entry in fs::read_dir(parent).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let pid = name
            .to_str()
            .and_then(|name| name.strip_prefix(WorkFolder::PREFIX));
        let Some(pid) = pid.and_then(|pid| pid.parse::<u32>().ok()) else {
            continue;
        };
        // It may have just made its folder; in another container, its number is nobody's here.
        let is_alive =
            pid != std::process::id() && Path::new("/proc").join(pid.to_string()).exists();
        let is_free = || File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok());
        if !is_alive && is_free() {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Whether the file system that a folder is on has no room left; perf says little of that.
pub(super) fn is_full(folder: &Path) -> bool {
    let probe = folder.join("room");
    let written = fs::write(&probe, vec![0; 64 << 10]);
    let _ = fs::remove_file(probe);
    written.is_err_and(|error| error.kind() == io::ErrorKind::StorageFull)
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        // What cannot be removed is left to whoever clears the folder of temporary files.
        let _ = fs::remove_dir_all(&self.path);
    }
}
