//! Waiting for a turn: one process writes the file, or many read it.
//!
//! The folder's lock is the queue of those that write: who has it is the next one, or writes the
//! store anew.

use super::draft::{folder_of, locked_draft};
use super::error::{Fault, StoreError};
use super::holder::holders;
use redb::DatabaseError;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

/// How long an operation waits for other processes to be done with the store, or to change it: then
/// its turn comes.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// How long it sleeps between two attempts.
pub(super) const PAUSE: Duration = Duration::from_millis(5);

/// How long who reads lets those pass who wait to write: most reads take less.
const COURTESY: Duration = Duration::from_millis(500);

/// Keeps other processes from writing the store at this path, or any other in its folder, until it
/// is dropped. Waits for those that do.
pub(super) fn lock_folder(path: &Path) -> Result<File, StoreError> {
    let folder = &folder_of(path);
    let lock = || {
        let folder = File::open(folder)?;
        match folder.try_lock() {
            Ok(()) => Ok(folder),
            Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    };
    locked(folder, path, PATIENCE, lock).map_err(|fault| fault.at(folder, "lock"))
}

/// Waits a moment while somebody waits to write: many readers that come one after another would
/// never let a writer in.
pub(super) fn let_writers_pass(path: &Path) {
    let start = Instant::now();
    let Ok(path) = fs::canonicalize(path) else {
        return;
    };
    let Ok(folder) = File::open(folder_of(&path)) else {
        return;
    };
    let writer_waits = || matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock));
    // Who writes a store anew does not wait for its readers.
    while start.elapsed() < COURTESY && writer_waits() && !locked_draft(&path).exists() {
        std::thread::sleep(PAUSE);
    }
}

/// Tries until a lock is free; gives up when nobody has changed the store's file for so long.
pub(super) fn locked<T>(
    path: &Path,
    file: &Path,
    patience: Duration,
    mut open: impl FnMut() -> Result<T, DatabaseError>,
) -> Result<T, Fault> {
    let mut start = Instant::now();
    let mut seen = last_change(file);
    loop {
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
