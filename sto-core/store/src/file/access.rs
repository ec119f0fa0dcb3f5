//! Asking a store, and changing it: the file is opened, used and closed.

use crate::error::{InternalError, StoreError};
use crate::file::lock::Turn;
use crate::file::open::{self, Reading, Reserve};
use crate::file::temporary::check_room;
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::{Snapshot, Store};
use redb::{Database, ReadableDatabase, WriteTransaction};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

/// Where a store is.
pub(crate) enum Backing {
    Folder {
        /// The folder that the file is in.
        folder: PathBuf,
        file: PathBuf,
        /// Whether the first profile makes the store where there is none.
        may_create: bool,
        turn: Arc<Turn>,
    },
    /// With what errors call it.
    Memory(RwLock<Arc<Database>>, PathBuf),
}

/// Adds to a store, any number of times: it waits for other processes once, and has the file open until it is
/// dropped or [released](Writer::release).
///
/// The file is opened by the first addition that changes it, and nobody else can read or write it from
/// then on: but for this process, through the same [`Store`].
pub struct Writer<'s> {
    store: &'s Store,
    file: Option<Open>,
}

/// A file that is open for writing.
struct Open {
    database: Arc<Database>,
    path: PathBuf,
    /// Whether this is to make room.
    makes_room: bool,
}

impl Store {
    /// What the store holds now, for any number of questions, whatever others write or prune meanwhile.
    ///
    /// The file is open until the last clone is dropped, and writers wait so long: so it should not be kept while a
    /// user reads an answer, nor by who writes next. Only one that was taken while a [`Writer`] of this
    /// [`Store`] had the file open keeps no writer of it waiting.
    ///
    /// # Errors
    /// Where there is no store, it is of another format version, damaged, or locked by a writer
    /// for too long.
    pub fn snapshot(&self) -> Result<Snapshot, StoreError> {
        let (exists, size) = (self.file_exists()?, self.file_size()?);
        let open = || match &self.backing {
            Backing::Memory(database, _) => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                Ok(Reading::Whole(Arc::clone(&database)))
            }
            Backing::Folder { file, turn, .. } if exists => open::reading(file, turn),
            Backing::Folder { .. } => Ok(Reading::Whole(Arc::new(open::in_memory()?))),
        };
        let turn = match &self.backing {
            Backing::Folder { turn, .. } => Arc::clone(turn),
            Backing::Memory(..) => Arc::default(),
        };
        let taken = guarded(|| Snapshot::of(open()?, (self.path(), size), turn));
        taken.map_err(|error| error.at(self.path(), "read"))
    }

    /// Adds to the store; see [`Writer`].
    pub fn writer(&self) -> Writer<'_> {
        Writer {
            store: self,
            file: None,
        }
    }

    /// Works out a change, and writes it if there is any, in one transaction: opening for writing
    /// alone would change the file, so that it is worked out before, and again when nobody else can
    /// change anything. `bytes` says about how many it will take; `None` where it is to make room.
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

    /// What errors name.
    #[doc(hidden)]
    pub fn path(&self) -> &Path {
        match &self.backing {
            Backing::Folder { file, .. } => file,
            Backing::Memory(_, name) => name,
        }
    }

    /// Whether the file is there. It must be, unless the first profile may make it.
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

/// A transaction that writes. Until it ends, what was committed last is what can be read: nobody else
/// changes anything.
pub(crate) fn begin(database: &Database) -> Result<WriteTransaction, InternalError> {
    let mut transaction = database.begin_write()?;
    // Keeps what redb needs to recover in an instant, should this process be killed.
    transaction.set_quick_repair(true);
    Ok(transaction)
}

impl<'s> Writer<'s> {
    /// The store that it adds to.
    pub fn store(&self) -> &'s Store {
        self.store
    }

    /// Closes the file, so that others can read and write it until the next addition.
    pub fn release(&mut self) {
        let Some(open) = self.file.take() else {
            return;
        };
        let closed = guarded(|| {
            // Whoever still reads from it closes it.
            let Some(mut database) = Arc::into_inner(open.database) else {
                return Ok(());
            };
            match open.makes_room {
                true => open::compact(&mut database),
                false => open::compact_small(&mut database, &open.path),
            }
            drop(database);
            open::reserve_behind(&open.path, Reserve::Keep);
            Ok(())
        });
        if closed.is_err() {
            open::recover(&open.path);
        }
    }

    /// Does work that will write about this many bytes; `None` where it is to make room.
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
                let opened = guarded(|| Ok(open::writing(&path, bytes, turn)));
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
                // What failed is not used any more.
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

/// What errors name where there is no file.
pub(crate) fn in_memory() -> &'static Path {
    Path::new("the store in memory")
}
