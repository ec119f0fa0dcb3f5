//! A store's file as all stores of this process share it.

use crate::error::{InternalError, Result};
use crate::file::lock::{Turn, is_writer_waiting, locked};
use crate::file::reading::{OpenForReading, ReadState, builder};
use crate::file::space::{compact, compact_small, reserve_after_file};
use crate::file::state::{self, StateId};
use crate::guard::guarded;
use redb::{Database, DatabaseError, WriteTransaction};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use sto_model::system::{FileId, Reserve, file_id};

/// A file that this process reads or writes.
pub(crate) struct SharedFile {
    id: FileId,
    // Also keeps the inode number from being used again.
    file: File,
    session: Mutex<Option<Session>>,
    newest: Mutex<Weak<ReadState>>,
}

/// All files of this process.
static FILES: Mutex<Vec<Weak<SharedFile>>> = Mutex::new(Vec::new());

/// A database that is open for writing: a file, which no other process can open meanwhile, or memory.
pub(crate) struct Session {
    pub(crate) database: Arc<Database>,
    /// The path of the file.
    path: Option<PathBuf>,
    /// Whether the operation frees space.
    makes_room: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl SharedFile {
    /// Returns the file at a path. Paths of one file have the same result.
    pub(crate) fn at(path: &Path) -> io::Result<Arc<SharedFile>> {
        let file = File::open(path)?;
        let id = file_id(&file.metadata()?);
        let mut files = lock(&FILES);
        files.retain(|file| file.strong_count() > 0);
        let mut known = files.iter().filter_map(Weak::upgrade);
        if let Some(known) = known.find(|file| file.id == id) {
            return Ok(known);
        }
        let new = Arc::new(SharedFile {
            id,
            file,
            session: Mutex::default(),
            newest: Mutex::default(),
        });
        files.push(Arc::downgrade(&new));
        Ok(new)
    }

    /// The current state of the file, if this process already reads it.
    pub(crate) fn newest(&self) -> Option<Arc<ReadState>> {
        let newest = lock(&self.newest).upgrade()?;
        (StateId::read(&self.file).ok()? == newest.id).then_some(newest)
    }

    /// Shares the current state of the file with later readers in this process.
    pub(crate) fn share(&self, file: OpenForReading) -> Result<Arc<ReadState>> {
        let state = Arc::new(ReadState::of_file(file)?);
        *lock(&self.newest) = Arc::downgrade(&state);
        Ok(state)
    }

    /// The file as it is open for writing, if it is. Waits for changes by other threads.
    pub(crate) fn session(&self) -> MutexGuard<'_, Option<Session>> {
        lock(&self.session)
    }

    pub(crate) fn is_open_for_writing(&self) -> bool {
        self.session().is_some()
    }

    /// The database and its current state, if the file is open for writing.
    pub(crate) fn writable(&self) -> Option<(Arc<Database>, StateId)> {
        let session = self.session();
        let database = Arc::clone(&session.as_ref()?.database);
        Some((database, StateId::read(&self.file).ok()?))
    }

    /// Like [`SharedFile::session`], and closes the file, so that it can be read. A writer opens it again.
    pub(crate) fn close_session(&self) -> MutexGuard<'_, Option<Session>> {
        let mut session = self.session();
        if let Some(open) = session.take() {
            open.close();
        }
        session
    }
}

impl Session {
    /// Opens a file for writing without waiting. Fails if its space is to be freed and somebody reads it, because the
    /// pages that are read would stay.
    pub(crate) fn open(path: &Path, makes_room: bool) -> Result<Session, DatabaseError> {
        let is_in_the_way = || makes_room && !matches!(state::is_read(path), Ok(false));
        // Opening and closing takes space, too.
        if is_in_the_way() {
            return Err(DatabaseError::DatabaseAlreadyOpen);
        }
        let database = Arc::new(builder().open(path)?);
        if is_in_the_way() {
            return Err(DatabaseError::DatabaseAlreadyOpen);
        }
        if makes_room {
            reserve_after_file(path, Reserve::Release);
        }
        Ok(Session {
            database,
            path: Some(path.to_owned()),
            makes_room,
        })
    }

    /// The database of a store in memory.
    pub(crate) fn in_memory(database: Arc<Database>) -> Session {
        Session {
            database,
            path: None,
            makes_room: false,
        }
    }

    /// Begins a write transaction, which must be committed unless the operation fails. Readers see the last commit
    /// until it ends.
    pub(crate) fn begin(&self) -> Result<WriteTransaction, InternalError> {
        let mut transaction = self.database.begin_write()?;
        // Keeps the state from which redb recovers at once if this process is killed.
        transaction.set_quick_repair(true);
        if let Some(path) = &self.path {
            state::keep_read_states(path, &transaction)?;
        }
        Ok(transaction)
    }

    /// Closes the file, so that others can read and write it.
    fn close(self) {
        let Some(path) = self.path else { return };
        let closed = guarded(|| {
            // If a snapshot of the writer still reads from the file, it closes it.
            let Some(mut database) = Arc::into_inner(self.database) else {
                return Ok(());
            };
            // Compacting would move the pages of the current state.
            if matches!(state::is_read(&path), Ok(false)) {
                if self.makes_room {
                    compact(&mut database);
                } else if !is_writer_waiting(&path) {
                    // Otherwise the last one that waits compacts.
                    compact_small(&mut database, &path);
                }
            }
            drop(database);
            reserve_after_file(&path, Reserve::Keep);
            Ok(())
        });
        if closed.is_err() {
            recover(&path);
        }
    }

    /// Closes the database after a failure, after which it must not be used any more.
    pub(crate) fn abandon(self) {
        let Session { database, path, .. } = self;
        let _ = guarded(|| {
            drop(database);
            Ok(())
        });
        if let Some(path) = path {
            recover(&path);
        }
    }
}

/// Lets redb roll back a failed operation and truncate the file; otherwise a disk that the operation
/// filled would stay full. If that fails, the next writer does it.
fn recover(path: &Path) {
    let open = || builder().open(path);
    let _ = guarded(|| locked(path, path, (Duration::ZERO, &Turn::default()), open).map(drop));
}
