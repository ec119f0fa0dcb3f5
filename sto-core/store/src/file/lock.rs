//! Waiting for access: one process writes the file, or many read it.
//!
//! Writers queue for the folder's lock. Its holder writes next, or rewrites the store.

use crate::error::{InternalError, StoreError};
use crate::file::names::is_being_rewritten;
use redb::DatabaseError;
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use sto_model::files::{Folder, TemporaryFiles};
use sto_model::files::{User, user_of_process};
use sto_model::system::{FileId, file_id};

/// How long an operation waits without any change to the store's file before it gives up.
pub(crate) const LOCK_TIMEOUT: Duration = Duration::from_secs(30);

/// Pause between two attempts.
pub(crate) const RETRY_INTERVAL: Duration = Duration::from_millis(5);

/// How long a reader gives way to waiting writers. Most reads are shorter.
const MAX_READER_DELAY: Duration = Duration::from_millis(500);

/// A callback that receives what an operation waits for.
pub type OnWait = Arc<dyn Fn(&Waiting) + Send + Sync>;

/// The lock that an operation waits for: another process writes the store, or other processes read it. Everyone
/// who can read a store can lock it, so a holder may belong to another user.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// The locked path: the store's file or its folder.
    pub path: PathBuf,
    /// The processes that hold the lock, like `process 123 (sto) of user 1000`, if the system tells.
    pub holders: Option<String>,
}

/// Options for opening a store.
#[derive(Clone, Default)]
pub struct StoreOptions {
    /// Whether the store may be missing, as for [`Store::open_or_create`](crate::Store::open_or_create).
    pub create: bool,
    /// The callback for operations that have waited for a second.
    pub on_wait: Option<OnWait>,
    /// The list of temporary files next to the store, while they exist.
    pub temporaries: TemporaryFiles,
}

/// How operations of a [`Store`](crate::Store) take turns at its file with other processes.
#[derive(Default)]
pub(crate) struct Turn {
    on_wait: Option<OnWait>,
    temporaries: TemporaryFiles,
}

impl Turn {
    pub(crate) fn new(options: StoreOptions) -> Turn {
        Turn {
            on_wait: options.on_wait,
            temporaries: options.temporaries,
        }
    }

    pub(crate) fn temporaries(&self) -> &TemporaryFiles {
        &self.temporaries
    }

    pub(crate) fn on_wait(&self) -> Option<&OnWait> {
        self.on_wait.as_ref()
    }
}

/// An exclusive lock on a folder; no other process writes a store in it until this is dropped.
pub(crate) struct LockedFolder {
    pub(crate) folder: Arc<Folder>,
    _lock: File,
}

/// Locks the folder of the store at this path, so that other processes write no store in it. Waits for
/// those that do.
pub(crate) fn lock_folder(path: &Path, turn: &Turn) -> Result<LockedFolder, StoreError> {
    let path_of_folder = &Folder::parent_path(path);
    let lock = || {
        let folder = Folder::open(path_of_folder)?;
        let file = folder.open_as_file()?;
        match file.try_lock() {
            Ok(()) => Ok(LockedFolder {
                folder: Arc::new(folder),
                _lock: file,
            }),
            Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    };
    locked(path_of_folder, path, (LOCK_TIMEOUT, turn), lock)
        .map_err(|error| error.at(path_of_folder, "lock"))
}

/// Waits a moment if a writer is waiting. Otherwise a steady sequence of readers would keep every
/// writer out.
pub(crate) fn let_writers_pass(path: &Path) {
    let start = Instant::now();
    let Ok(path) = fs::canonicalize(path) else {
        return;
    };
    let Ok(folder) = Folder::open_parent(&path) else {
        return;
    };
    let Ok(lock) = folder.open_as_file() else {
        return;
    };
    let writer_waits = || matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock));
    // A process that rewrites the store does not wait for readers.
    while start.elapsed() < MAX_READER_DELAY
        && writer_waits()
        && !is_being_rewritten(&path, &folder)
    {
        std::thread::sleep(RETRY_INTERVAL);
    }
}

/// Whether another writer waits for the store at this path, or rewrites it.
pub(crate) fn is_writer_waiting(path: &Path) -> bool {
    let lock = Folder::open_parent(path).and_then(|folder| folder.open_as_file());
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// How long an operation waits before it calls the callback.
const WAIT_NOTICE_DELAY: Duration = Duration::from_secs(1);

/// Retries `open` until the lock is free. Gives up when the store's file has not changed for `patience`.
pub(crate) fn locked<T>(
    path: &Path,
    file: &Path,
    (patience, turn): (Duration, &Turn),
    mut open: impl FnMut() -> Result<T, DatabaseError>,
) -> Result<T, InternalError> {
    let mut start = Instant::now();
    let mut seen = last_change(file);
    let mut on_wait = turn.on_wait.as_ref();
    loop {
        if start.elapsed() > WAIT_NOTICE_DELAY
            && let Some(on_wait) = on_wait.take()
        {
            on_wait(&Waiting {
                path: path.to_owned(),
                holders: holders(path),
            });
        }
        match open() {
            Err(DatabaseError::DatabaseAlreadyOpen) if start.elapsed() < patience => {
                std::thread::sleep(RETRY_INTERVAL);
            }
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                let now = last_change(file);
                if now == seen {
                    return Err(InternalError::InUse {
                        waited: start.elapsed(),
                        by: holders(path),
                    });
                }
                // The file has changed, so the queue moves.
                (start, seen) = (Instant::now(), now);
            }
            result => return Ok(result?),
        }
    }
}

fn last_change(file: &Path) -> Option<SystemTime> {
    fs::metadata(file).and_then(|found| found.modified()).ok()
}

/// The processes that hold a lock on a file, like `process 123 (sto)`, with the user if it is
/// another one; `None` if the system does not tell.
///
/// Linux lists them in `/proc/locks` (proc_locks(5)), by the file's device and inode; other systems do not.
fn holders(path: &Path) -> Option<String> {
    let FileId { device, inode } = file_id(&fs::metadata(path).ok()?);
    let major = ((device >> 32) & !0xfff) | ((device >> 8) & 0xfff);
    let minor = ((device >> 12) & !0xff) | (device & 0xff);
    let name = format!("{major:02x}:{minor:02x}:{inode}");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut holders: Vec<u32> = locks
        .lines()
        .filter(|lock| lock.split_ascii_whitespace().any(|field| field == name))
        // 1: FLOCK ADVISORY WRITE 123 fd:00:4567 0 EOF; locks of an open file description have pid -1.
        .filter_map(|lock| lock.split_ascii_whitespace().nth(4)?.parse().ok())
        .collect();
    holders.sort_unstable();
    holders.dedup();
    let holders: Vec<String> = holders
        .into_iter()
        .map(|pid| {
            if pid == std::process::id() {
                return "this process".to_owned();
            }
            let command = fs::read_to_string(format!("/proc/{pid}/comm"));
            let command = command.map_or_else(
                |_| String::new(),
                |command| format!(" ({})", command.trim_end().escape_debug()),
            );
            let user = user_of_process(pid).filter(|&user| user != User::current());
            let user = user.map_or_else(String::new, |user| format!(" of {user}"));
            format!("process {pid}{command}{user}")
        })
        .collect();
    (!holders.is_empty()).then(|| holders.join(", "))
}
