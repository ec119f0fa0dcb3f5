//! Opens, uses and closes the file for reading and writing.

use crate::error::{InternalError, StoreError};
use crate::file::lock::Turn;
use crate::file::open::{self, OpenForReading};
use crate::file::temporary::check_room;
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::{Snapshot, Store};
use redb::{Database, ReadableDatabase, WriteTransaction};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use sto_model::system::Reserve;

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
    /// The database, and its name in errors.
    Memory(RwLock<Arc<Database>>, PathBuf),
}

/// Adds to a store any number of times. It waits for other processes once, and holds the file open until it is
/// dropped or [released](Writer::release).
///
/// The first addition that changes the file opens it. From then on, other processes can neither read nor
/// write it; this process can, through the same [`Store`].
pub struct Writer<'s> {
    store: &'s Store,
    file: Option<Open>,
}

/// A file that is open for writing.
struct Open {
    database: Arc<Database>,
    path: PathBuf,
    /// Whether the open operation frees space.
    makes_room: bool,
}

impl Store {
    /// Takes a snapshot of the store's current content, for any number of queries. Later changes do not affect it.
    ///
    /// The file stays open until the last clone is dropped, and writers wait for that. So don't hold a snapshot
    /// while a user reads an answer, or before writing. A snapshot taken while a [`Writer`] of this [`Store`]
    /// has the file open does not block that writer.
    ///
    /// # Errors
    /// Returns an error if there is no store, it has another format version, is damaged, or another
    /// process keeps it locked for too long.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let (exists, size) = (self.file_exists()?, self.file_size()?);
        let open = || match &self.backing {
            Backing::Memory(database, _) => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                Ok(OpenForReading::Whole(Arc::clone(&database)))
            }
            Backing::Folder { file, turn, .. } if exists => open::open_for_reading(file, turn),
            Backing::Folder { .. } => Ok(OpenForReading::Whole(Arc::new(open::in_memory()?))),
        };
        let turn = match &self.backing {
            Backing::Folder { turn, .. } => Arc::clone(turn),
            Backing::Memory(..) => Arc::default(),
        };
        let taken = guarded(|| Snapshot::from_file(open()?, (self.path(), size), turn));
        taken.map_err(|error| error.at(self.path(), "read"))
    }

    /// Returns a [`Writer`] that adds to the store.
    pub fn writer(&self) -> Writer<'_> {
        Writer {
            store: self,
            file: None,
        }
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
        self.writer().write(bytes(&new), |database| {
            let transaction = begin(database)?;
            let (outcome, new) = plan(&Rows::open(&database.begin_read()?)?)?;
            if let Some(new) = new {
                write(&transaction, &new)?;
                transaction.commit()?;
            }
            Ok(outcome)
        })
    }

    /// The path that errors name.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        match &self.backing {
            Backing::Folder { file, .. } => file,
            Backing::Memory(_, name) => name,
        }
    }

    /// Whether the file exists. It must, unless the first profile may create it.
    pub(crate) fn file_exists(&self) -> Result<bool, StoreError> {
        match &self.backing {
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
            Backing::Memory(..) => Ok(true),
        }
    }
}

/// Begins a write transaction. Readers see the last commit until it ends.
pub(crate) fn begin(database: &Database) -> Result<WriteTransaction, InternalError> {
    let mut transaction = database.begin_write()?;
    // Keeps the state from which redb recovers at once if this process is killed.
    transaction.set_quick_repair(true);
    Ok(transaction)
}

impl<'s> Writer<'s> {
    /// The store that this writer adds to.
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// Closes the file, so that others can read and write it until the next addition.
    pub fn release(&mut self) {
        let Some(open) = self.file.take() else {
            return;
        };
        let closed = guarded(|| {
            // If a snapshot still reads from the file, it closes it.
            let Some(mut database) = Arc::into_inner(open.database) else {
                return Ok(());
            };
            if open.makes_room {
                open::compact(&mut database)
            } else {
                open::compact_small(&mut database, &open.path)
            }
            drop(database);
            open::reserve_after_file(&open.path, Reserve::Keep);
            Ok(())
        });
        if closed.is_err() {
            open::recover(&open.path);
        }
    }

    /// Runs work that writes about this many bytes, or `None` if it frees space.
    pub(crate) fn write<T>(
        &mut self,
        bytes: Option<u64>,
        work: impl FnOnce(&Database) -> Result<T, InternalError>,
    ) -> Result<T, StoreError> {
        let store = self.store;
        let (folder, file, turn) = match &store.backing {
            Backing::Memory(database, _) => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                return work(&database).map_err(|error| error.at(store.path(), "write"));
            }
            Backing::Folder {
                folder, file, turn, ..
            } => (folder, file, turn),
        };
        if let (Some(open), Some(bytes)) = (&self.file, bytes) {
            check_room(&open.path, bytes, turn)?;
        }
        let open = match self.file.take() {
            Some(open) => open,
            None => {
                if !store.file_exists()? {
                    open::create(folder, bytes.unwrap_or(0), turn)?;
                }
                let path = open::real_path(file)?;
                let opened = guarded(|| Ok(open::open_for_writing(&path, bytes, turn)));
                Open {
                    database: opened.map_err(|error| error.at(&path, "write")).flatten()?,
                    path,
                    makes_room: bytes.is_none(),
                }
            }
        };
        let done = guarded(|| work(&open.database));
        match done {
            Ok(done) => {
                self.file = Some(open);
                Ok(done)
            }
            Err(error) => {
                // After a failure, the database must not be used any more.
                turn.unshare();
                let Open { database, path, .. } = open;
                let _ = guarded(|| {
                    drop(database);
                    Ok(())
                });
                open::recover(&path);
                Err(error.at(&path, "write"))
            }
        }
    }
}

impl Drop for Writer<'_> {
    fn drop(&mut self) {
        self.release();
    }
}

/// The name of a store in memory in errors.
pub(crate) fn in_memory() -> &'static Path {
    Path::new("the store in memory")
}
