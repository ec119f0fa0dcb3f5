//! Opens, uses and closes the file for reading and writing.

use crate::error::{InternalError, StoreError, system_error};
use crate::file::lock::Turn;
use crate::file::open;
use crate::file::reading::ReadState;
use crate::file::shared::{Session, SharedFile};
use crate::file::state::StateId;
use crate::file::temporary::check_room;
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::{Snapshot, Store};
use redb::{Database, ReadableDatabase, WriteTransaction};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, MutexGuard, PoisonError, RwLock};
use sto_model::Timings;

/// The storage of a store: its file or memory.
pub(crate) enum Backing {
    Folder {
        /// The folder that the file is in.
        folder: PathBuf,
        file: PathBuf,
        /// Whether the first profile creates a missing store.
        may_create: bool,
        turn: Arc<Turn>,
    },
    Memory {
        database: RwLock<Arc<Database>>,
        /// The number of changes so far.
        changes: AtomicU64,
        /// The name in errors.
        name: PathBuf,
    },
}

/// Adds to a store any number of times. It waits for other processes once, and keeps the file open.
///
/// The first addition that changes the file opens it. From then on, other processes can neither read nor
/// write it, until the writer is dropped or [released](Writer::release), or this process takes a
/// [snapshot](Store::snapshot); the next addition opens it again. Snapshots never keep a writer waiting.
pub struct Writer {
    store: Store,
    file: Option<Arc<SharedFile>>,
    pub(crate) timings: Timings,
}

impl Store {
    /// Takes a snapshot of the store's current content, for any number of queries. Later changes do not affect it.
    ///
    /// A snapshot may be kept for as long as needed: no process waits for it. Until it is dropped, the file keeps the
    /// snapshot's data next to newer data. As long as the store does not change, further snapshots in this process
    /// share its open file and take microseconds.
    ///
    /// # Errors
    /// Returns an error if there is no store, it has another format version, is damaged, or another
    /// process keeps it locked for too long.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let exists = self.file_exists()?;
        let state = guarded(|| match &*self.backing {
            Backing::Memory {
                database, changes, ..
            } => {
                let id = StateId::of_memory(changes.load(Ordering::Acquire));
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                Ok(Arc::new(ReadState::of_database(database.clone(), id)?))
            }
            Backing::Folder { file, turn, .. } if exists => open::current_state(file, turn),
            Backing::Folder { .. } => {
                let database = Arc::new(open::in_memory()?);
                let state = ReadState::of_database(database, StateId::NO_FILE)?;
                Ok(Arc::new(state))
            }
        });
        let state = state.map_err(|error| error.at(self.path(), "read"))?;
        self.snapshot_of(state)
    }

    fn snapshot_of(&self, state: Arc<ReadState>) -> Result<Snapshot, StoreError> {
        let turn = match &*self.backing {
            Backing::Folder { turn, .. } => Arc::clone(turn),
            Backing::Memory { .. } => Arc::default(),
        };
        Ok(Snapshot::new(state, (self.path(), self.file_size()?), turn))
    }

    /// Returns a [`Writer`] that adds to the store.
    pub fn writer(&self) -> Writer {
        Writer {
            store: self.clone(),
            file: None,
            timings: Timings::default(),
        }
    }

    /// The id of the current state, which [`Snapshot::state`] also returns. Takes microseconds and never waits.
    ///
    /// # Errors
    /// Returns an error if there is no store or the system cannot read its file.
    pub fn state(&self) -> Result<StateId, StoreError> {
        match &*self.backing {
            Backing::Memory { changes, .. } => {
                Ok(StateId::of_memory(changes.load(Ordering::Acquire)))
            }
            Backing::Folder { .. } if !self.file_exists()? => Ok(StateId::NO_FILE),
            Backing::Folder { file, .. } => File::open(file)
                .and_then(|file| StateId::read(&file))
                .map_err(|error| system_error("read", self.path(), error)),
        }
    }

    /// Whether the store was changed since this state, by any process. Programs that show a store ask this every
    /// few hundred milliseconds.
    ///
    /// # Errors
    /// Like [`Store::state`].
    pub fn changed_since(&self, state: StateId) -> Result<bool, StoreError> {
        Ok(self.state()? != state)
    }

    /// Plans a change, and writes it in one transaction if there is anything to change. The plan is made
    /// first from a snapshot, because opening for writing would already change the file, and again
    /// when nobody else can write. `bytes` estimates the size of the change; `None` if it frees space.
    pub(crate) fn change<T, New>(
        &self,
        plan: impl Fn(&Rows) -> Result<(T, Option<New>), InternalError>,
        write: impl Fn(&WriteTransaction, &New) -> Result<(), InternalError>,
        bytes: impl Fn(&New) -> Option<u64>,
    ) -> Result<T, StoreError> {
        let (outcome, new) = self.snapshot()?.read(&plan)?;
        let Some(new) = new else {
            return Ok(outcome);
        };
        self.writer().write(bytes(&new), |session| {
            let (outcome, new) = plan(&Rows::open(&session.database.begin_read()?)?)?;
            if let Some(new) = new {
                let transaction = session.begin()?;
                write(&transaction, &new)?;
                transaction.commit()?;
            }
            Ok(outcome)
        })
    }

    /// The path that errors name.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        match &*self.backing {
            Backing::Folder { file, .. } => file,
            Backing::Memory { name, .. } => name,
        }
    }

    /// Whether the file exists. It must, unless the first profile may create it.
    pub(crate) fn file_exists(&self) -> Result<bool, StoreError> {
        match &*self.backing {
            Backing::Folder {
                folder,
                file,
                may_create,
                ..
            } => match open::inspect(folder, file)? {
                false if !may_create => Err(StoreError::NotFound {
                    folder: folder.clone(),
                }),
                exists => Ok(exists),
            },
            Backing::Memory { .. } => Ok(true),
        }
    }
}

impl Writer {
    /// The store that this writer adds to.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Takes a snapshot without closing the file, if this writer has it open. It must be dropped before the next
    /// operation on the store: until then, the file stays locked.
    ///
    /// # Errors
    /// Like [`Store::snapshot`].
    #[doc(hidden)]
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let open = self.file.as_ref().and_then(|file| file.writable());
        let Some((database, id)) = open else {
            return self.store.snapshot();
        };
        let state = guarded(|| ReadState::of_database(database, id));
        let state = state.map_err(|error| error.at(self.store.path(), "read"))?;
        self.store.snapshot_of(Arc::new(state))
    }

    /// Sets where the time of packing and writing is added up.
    #[doc(hidden)]
    pub fn set_timings(&mut self, timings: &Timings) {
        self.timings = timings.clone();
    }

    /// Closes the file, so that others can read and write it until the next addition.
    pub fn release(&mut self) {
        if let Some(file) = self.file.take() {
            drop(file.close_session());
        }
    }

    /// Runs work that writes about this many bytes, or `None` if it frees space.
    pub(crate) fn write<T>(
        &mut self,
        bytes: Option<u64>,
        work: impl FnOnce(&Session) -> Result<T, InternalError>,
    ) -> Result<T, StoreError> {
        let store = self.store.clone();
        let (folder, file, turn) = match &*store.backing {
            Backing::Memory {
                database, changes, ..
            } => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                let done = work(&Session::in_memory(database.clone()));
                changes.fetch_add(1, Ordering::AcqRel);
                return done.map_err(|error| error.at(store.path(), "write"));
            }
            Backing::Folder {
                folder, file, turn, ..
            } => (folder, file, turn),
        };
        if !store.file_exists()? {
            open::create(folder, bytes.unwrap_or(0), turn)?;
        }
        let path = open::real_path(file)?;
        if let (Some(file), Some(bytes)) = (&self.file, bytes)
            && file.is_open_for_writing()
        {
            check_room(&path, bytes, turn)?;
            let mut session = file.session();
            if let Some(open) = session.take() {
                return run(work, open, session, &path);
            }
        }
        let next = open::lock_to_write(&path, turn)?;
        let file = SharedFile::at(&path).map_err(|error| system_error("write", &path, error))?;
        let file = self.file.insert(file);
        let (session, open) = open::open_for_writing(&path, file, bytes, turn)?;
        drop(next);
        run(work, open, session, &path)
    }
}

/// Runs work with an open file, which stays open unless the work fails.
fn run<T>(
    work: impl FnOnce(&Session) -> Result<T, InternalError>,
    open: Session,
    mut session: MutexGuard<'_, Option<Session>>,
    path: &Path,
) -> Result<T, StoreError> {
    match guarded(|| work(&open)) {
        Ok(done) => {
            *session = Some(open);
            Ok(done)
        }
        Err(error) => {
            open.abandon();
            Err(error.at(path, "write"))
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.release();
    }
}

/// The name of a store in memory in errors.
pub(crate) fn in_memory() -> &'static Path {
    Path::new("the store in memory")
}
