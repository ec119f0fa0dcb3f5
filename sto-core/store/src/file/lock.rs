//! Waiting for a turn: one process writes the file, or many read it.
//!
//! The folder's lock is the queue of those that write: who has it is the next one, or writes the
//! store anew.

use crate::error::{InternalError, StoreError};
use crate::file::names::is_written_anew;
use redb::{Database, DatabaseError};
use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant, SystemTime};
use sto_model::files::{Folder, Temporaries};
#[cfg(target_os = "linux")]
use sto_model::files::{User, user_of_process};

/// How long an operation waits for other processes to be done with the store, or to change it: then
/// its turn comes.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// How long it sleeps between two attempts.
pub(crate) const PAUSE: Duration = Duration::from_millis(5);

/// How long who reads lets those pass who wait to write: most reads take less.
const COURTESY: Duration = Duration::from_millis(500);

/// Called with what an operation waits for.
pub type OnWait = Arc<dyn Fn(&Waiting) + Send + Sync>;

/// What an operation waits for: others have the store open, and one process writes it, or many read it. Whoever
/// may read a store can lock it, so that this may be a stranger.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Waiting {
    /// What is locked: the store's file, or its folder.
    pub path: PathBuf,
    /// Who has it locked, as far as the system says: `process 123 (sto) of user 1000`.
    pub holders: Option<String>,
}

/// How a store is opened.
#[derive(Clone, Default)]
pub struct StoreOptions {
    /// Whether there need not be one, as for [`Store::open_or_create`](crate::Store::open_or_create).
    pub create: bool,
    /// What is called when an operation on it has waited for a second.
    pub on_wait: Option<OnWait>,
    /// Where the temporary files that are made beside it are listed while they are there.
    pub temporaries: Temporaries,
}

/// How a process takes its turn at a store's file: it may say what it waits for.
///
/// What it has open for writing keeps out the process itself, too, so that who comes meanwhile shares it.
#[derive(Default)]
pub(crate) struct Turn {
    on_wait: Option<OnWait>,
    temporaries: Temporaries,
    open: Mutex<Weak<Database>>,
}

impl Turn {
    pub(crate) fn new(options: StoreOptions) -> Turn {
        Turn {
            on_wait: options.on_wait,
            temporaries: options.temporaries,
            ..Turn::default()
        }
    }

    pub(crate) fn temporaries(&self) -> &Temporaries {
        &self.temporaries
    }

    fn open(&self) -> MutexGuard<'_, Weak<Database>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn on_wait(&self) -> Option<&OnWait> {
        self.on_wait.as_ref()
    }

    /// The file, where this process has it open for writing.
    pub(crate) fn shared(&self) -> Option<Arc<Database>> {
        self.open().upgrade()
    }

    /// Shares the file with who comes while it is open.
    pub(crate) fn share(&self, database: &Arc<Database>) {
        *self.open() = Arc::downgrade(database);
    }

    /// Lets nobody else come to a file that failed.
    pub(crate) fn unshare(&self) {
        *self.open() = Weak::new();
    }
}

/// A folder that nobody else writes a store in, until this is dropped.
pub(crate) struct LockedFolder {
    pub(crate) folder: Arc<Folder>,
    _lock: File,
}

/// Keeps other processes from writing the store at this path, or any other in its folder. Waits for
/// those that do.
pub(crate) fn lock_folder(path: &Path, turn: &Turn) -> Result<LockedFolder, StoreError> {
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
    locked(path_of_folder, path, (PATIENCE, turn), lock)
        .map_err(|error| error.at(path_of_folder, "lock"))
}

/// Waits a moment while somebody waits to write: many readers that come one after another would
/// never let a writer in.
pub(crate) fn let_writers_pass(path: &Path) {
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

/// Tries until a lock is free; gives up when nobody has changed the store's file for so long.
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
        if start.elapsed() > SILENCE
            && let Some(on_wait) = on_wait.take()
        {
            on_wait(&Waiting {
                path: path.to_owned(),
                holders: holders(path),
            });
        }
        match open() {
            Err(DatabaseError::DatabaseAlreadyOpen) if start.elapsed() < patience => {
                std::thread::sleep(PAUSE);
            }
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                let now = last_change(file);
                if now == seen {
                    return Err(InternalError::InUse {
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

/// The processes that hold a lock on a file, as far as the system says: `process 123 (sto)`,
/// and of which user where that is another one.
///
/// Linux lists them in `/proc/locks` (proc_locks(5)), by the file's device and inode.
#[cfg(target_os = "linux")]
fn holders(path: &Path) -> Option<String> {
    use std::os::unix::fs::MetadataExt;
    let file = fs::metadata(path).ok()?;
    let (dev, inode) = (file.dev(), file.ino());
    let major = ((dev >> 32) & !0xfff) | ((dev >> 8) & 0xfff);
    let minor = ((dev >> 12) & !0xff) | (dev & 0xff);
    let name = format!("{major:02x}:{minor:02x}:{inode}");
    let locks = fs::read_to_string("/proc/locks").ok()?;
    let mut holders: Vec<u32> = locks
        .lines()
        .filter(|lock| lock.split_ascii_whitespace().any(|field| field == name))
        // 1: FLOCK ADVISORY WRITE 123 fd:00:4567 0 EOF; a lock of one open file has -1.
        .filter_map(|lock| lock.split_ascii_whitespace().nth(4)?.parse().ok())
        .collect();
    holders.sort_unstable();
    holders.dedup();
    let others: Vec<String> = holders
        .into_iter()
        .filter(|&pid| pid != std::process::id())
        .map(|pid| {
            let command = fs::read_to_string(format!("/proc/{pid}/comm"));
            let command = command.map_or_else(
                |_| String::new(),
                |command| format!(" ({})", command.trim_end().escape_debug()),
            );
            let user = user_of_process(pid).filter(|&user| user != User::of_this_process());
            let user = user.map_or_else(String::new, |user| format!(" of {user}"));
            format!("process {pid}{command}{user}")
        })
        .collect();
    (!others.is_empty()).then(|| others.join(", "))
}

/// Other systems do not say.
#[cfg(not(target_os = "linux"))]
fn holders(_: &Path) -> Option<String> {
    None
}
