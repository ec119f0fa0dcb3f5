//! One operation on a store: open the file, do the work in one transaction, close it.

use crate::store::Store;
use crate::store::error::{Fault, StoreError, cannot};
use crate::store::file::open::{self, Reading, Reserve};
use crate::store::guard::guarded;
use crate::store::read::rows::Rows;
use redb::{Database, ReadTransaction, ReadableDatabase, TransactionError, WriteTransaction};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

/// Where a store is.
pub(in crate::store) enum Place {
    Folder {
        /// The folder that the file is in.
        folder: PathBuf,
        file: PathBuf,
        /// Whether the first profile makes the store where there is none.
        may_create: bool,
    },
    Memory(RwLock<Database>),
}

/// One state of a store, and the file that keeps it while others go on.
pub(in crate::store) struct Snapshot {
    // Goes before the file that it is read from.
    rows: Rows,
    _file: Closing,
}

/// A file that is closed when all was read. redb panics on some damaged files only then, too.
struct Closing(Option<Reading>);

impl Drop for Closing {
    fn drop(&mut self) {
        let file = self.0.take();
        let _ = guarded(|| {
            drop(file);
            Ok(())
        });
    }
}

impl Snapshot {
    pub(in crate::store) fn of(file: &Path) -> Result<Snapshot, StoreError> {
        let taken = guarded(|| {
            let reading = open::reading(file)?;
            let rows = Rows::open(&reading.begin()?)?;
            Ok(Snapshot {
                rows,
                _file: Closing(Some(reading)),
            })
        });
        taken.map_err(|fault| fault.at(file, "read"))
    }
}

impl Store {
    /// Does work that reads one state of the store.
    pub(in crate::store) fn read<T>(
        &self,
        work: impl FnOnce(&Rows) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        if let Some(Snapshot { rows, .. }) = &self.snapshot {
            return guarded(|| work(rows)).map_err(|fault| fault.at(self.path(), "read"));
        }
        let work = |transaction: Result<ReadTransaction, TransactionError>| {
            work(&Rows::open(&transaction?)?)
        };
        match &self.place {
            Place::Memory(database) => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                work(database.begin_read()).map_err(|fault| fault.at(in_memory(), "read"))
            }
            Place::Folder { file, .. } if self.file_exists()? => {
                guarded(|| work(open::reading(file)?.begin()))
                    .map_err(|fault| fault.at(file, "read"))
            }
            Place::Folder { .. } => {
                let empty = open::in_memory().map_err(|fault| fault.at(in_memory(), "make"))?;
                work(empty.begin_read()).map_err(|fault| fault.at(in_memory(), "read"))
            }
        }
    }

    /// Does work that will write about this many bytes; `None` where it is to make room.
    pub(in crate::store) fn write<T>(
        &self,
        bytes: Option<u64>,
        work: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.check_no_snapshot()?;
        match &self.place {
            Place::Memory(database) => {
                let database = database.read().unwrap_or_else(PoisonError::into_inner);
                work(&database).map_err(|fault| fault.at(in_memory(), "write"))
            }
            Place::Folder { folder, file, .. } => {
                if !self.file_exists()? {
                    open::create(folder, bytes.unwrap_or(0))?;
                }
                let file = &open::real_path(file)?;
                let result = guarded(|| {
                    let mut database = match open::writing(file, bytes) {
                        Ok(database) => database,
                        Err(error) => return Ok(Err(error)),
                    };
                    let result = work(&database)?;
                    match bytes {
                        Some(_) => open::compact_small(&mut database, file),
                        None => open::compact(&mut database),
                    }
                    drop(database);
                    open::reserve_behind(file, Reserve::Keep);
                    Ok(Ok(result))
                });
                result.unwrap_or_else(|fault| {
                    open::recover(file);
                    Err(fault.at(file, "write"))
                })
            }
        }
    }

    /// Works out a change, and writes it if there is any, in one transaction: opening for writing
    /// alone would change the file, so that it is worked out before, and again when nobody else can
    /// change anything. `bytes` tells about how many it will take; `None` where it is to make room.
    pub(in crate::store) fn change<T, New>(
        &self,
        plan: impl Fn(&Rows) -> Result<(T, Option<New>), Fault>,
        write: impl Fn(&WriteTransaction, &New) -> Result<(), Fault>,
        bytes: impl Fn(&New) -> Option<u64>,
    ) -> Result<T, StoreError> {
        let (told, new) = self.read(&plan)?;
        let Some(new) = new else {
            return Ok(told);
        };
        self.write(bytes(&new), |database| {
            let mut transaction = database.begin_write()?;
            // Keeps what redb needs to recover in an instant, should this process be killed.
            transaction.set_quick_repair(true);
            // The last committed state, which nobody can change now.
            let (told, new) = plan(&Rows::open(&database.begin_read()?)?)?;
            if let Some(new) = new {
                write(&transaction, &new)?;
                transaction.commit()?;
            }
            Ok(told)
        })
    }

    /// Whoever writes would wait for its own reader.
    pub(in crate::store) fn check_no_snapshot(&self) -> Result<(), StoreError> {
        match self.snapshot {
            None => Ok(()),
            Some(_) => {
                let why = io::Error::new(
                    io::ErrorKind::ReadOnlyFilesystem,
                    "it was opened as a snapshot",
                );
                Err(cannot("write", self.path(), why))
            }
        }
    }

    /// What errors name.
    pub(in crate::store) fn path(&self) -> &Path {
        match &self.place {
            Place::Folder { file, .. } => file,
            Place::Memory(_) => in_memory(),
        }
    }

    /// Whether the file is there. It must be, unless the first profile may make it.
    pub(in crate::store) fn file_exists(&self) -> Result<bool, StoreError> {
        match &self.place {
            Place::Folder {
                folder,
                file,
                may_create,
            } => match open::inspect(folder, file)? {
                false if !may_create => Err(StoreError::NotFound {
                    folder: folder.clone(),
                }),
                exists => Ok(exists),
            },
            Place::Memory(_) => Ok(true),
        }
    }
}

/// What errors name where there is no file.
pub(in crate::store) fn in_memory() -> &'static Path {
    Path::new("the store in memory")
}
