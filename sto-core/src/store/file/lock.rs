//! Waiting for a turn: one process writes the file, or many read it.
//!
//! The folder's lock is the queue of those that write: who has it is the next one, or writes the
//! store anew.

use crate::files::Folder;
use crate::store::error::{Fault, StoreError};
use crate::store::file::holder::holders;
use crate::store::file::temporary::is_written_anew;
use redb::DatabaseError;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

/// How long an operation waits for other processes to be done with the store, or to change it: then
/// its turn comes.
pub(in crate::store) const PATIENCE: Duration = Duration::from_secs(30);

/// How long it sleeps between two attempts.
pub(in crate::store) const PAUSE: Duration = Duration::from_millis(5);

/// How long who reads lets those pass who wait to write: most reads take less.
const COURTESY: Duration = Duration::from_millis(500);

/// A folder that nobody else writes a store in, until this is dropped.
pub(in crate::store) struct LockedFolder {
    pub(in crate::store) folder: Arc<Folder>,
    _lock: File,
}

/// Keeps other processes from writing the store at this path, or any other in its folder. Waits for
/// those that do.
pub(in crate::store) fn lock_folder(path: &Path) -> Result<LockedFolder, StoreError> {
    let path_of_folder = &Folder::path_of(path);
    let lock = || {
        let folder = Folder::open(path_of_folder)?;
        let file = folder.file()?;
        match file.try_lock() {
            Ok(()) => Ok(LockedFolder {
                folder: Arc::new(folder),
                _lock: file,
            }),
            Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    };
    locked(path_of_folder, path, PATIENCE, lock).map_err(|fault| fault.at(path_of_folder, "lock"))
}

/// Waits a moment while somebody waits to write: many readers that come one after another would
/// never let a writer in.
pub(in crate::store) fn let_writers_pass(path: &Path) {
    let start = Instant::now();
    let Ok(path) = fs::canonicalize(path) else {
        return;
    };
    let Ok(folder) = Folder::of(&path) else {
        return;
    };
    let Ok(lock) = folder.file() else {
        return;
    };
    let writer_waits = || matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    // Who writes a store anew does not wait for its readers.
    while start.elapsed() < COURTESY && writer_waits() && !is_written_anew(&path, &folder) {
        std::thread::sleep(PAUSE);
    }
}

/// How long it waits before it says so.
const SILENCE: Duration = Duration::from_secs(1);

/// Who is told what operations wait for.
pub(in crate::store) static TELL: OnceLock<fn(&Path, Option<&str>)> = OnceLock::new();

/// Tries until a lock is free; gives up when nobody has changed the store's file for so long.
pub(in crate::store) fn locked<T>(
    path: &Path,
    file: &Path,
    patience: Duration,
    mut open: impl FnMut() -> Result<T, DatabaseError>,
) -> Result<T, Fault> {
    let mut start = Instant::now();
    let mut seen = last_change(file);
    let mut tell = TELL.get();
    loop {
        if start.elapsed() > SILENCE
            && let Some(tell) = tell.take()
        {
            tell(path, holders(path).as_deref());
        }
        match open() {
            Err(DatabaseError::DatabaseAlreadyOpen) if start.elapsed() < patience => {
                std::thread::sleep(PAUSE);
            }
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                let now = last_change(file);
                if now == seen {
                    return Err(Fault::InUse {
                        waited: start.elapsed(),
                        by: holders(path),
                    });
                }
                // There is a queue, but it moves.
                (start, seen) = (Instant::now(), now);
            }
            result => return Ok(result?),
        }
    }
}

fn last_change(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|found| found.modified()).ok()
}
