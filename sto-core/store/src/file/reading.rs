//! A state of a store that is open for reading.

use crate::error::Result;
use crate::file::overlay::{OverlayBackend, OverlayFile};
use crate::file::state::{self, StateId};
use crate::guard::guarded;
use crate::read::rows::Rows;
use crate::tables::CACHE_BYTES;
use redb::{Builder, Database, DatabaseError, ReadableDatabase};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

/// A file that is open for reading. Nothing is written to it.
pub(crate) struct OpenForReading {
    pub(crate) database: Database,
    overlay: Arc<OverlayFile>,
    id: StateId,
}

impl OpenForReading {
    /// Opens the file for reading, which keeps writers out, without waiting.
    pub(crate) fn open(path: &Path) -> Result<OpenForReading, DatabaseError> {
        let file = File::open(path)?;
        let overlay = Arc::new(OverlayFile::new(file.try_clone()?)?);
        let database = builder().create_with_backend(OverlayBackend(Arc::clone(&overlay)))?;
        Ok(OpenForReading {
            database,
            overlay,
            id: StateId::read(&file)?,
        })
    }

    /// Lets writers in, which keep the pages of the state that is now in the file. If the file is damaged or the file
    /// system cannot lock ranges, writers still wait.
    fn let_writers_in(&self) {
        let _ = guarded(|| {
            let next = state::next_savepoint(&self.database)?;
            Ok(self.overlay.lock_only(state::byte_of(next))?)
        });
    }
}

impl Drop for OpenForReading {
    fn drop(&mut self) {
        self.overlay.close_early();
    }
}

/// One state of a store, which all snapshots of it in this process share.
pub(crate) struct ReadState {
    // Dropped before the file that it reads from.
    pub(crate) rows: Rows,
    pub(crate) id: StateId,
    _file: Closing,
}

/// A database that is closed after `rows`. On some damaged files, redb only panics at that point.
struct Closing(Option<Box<dyn Send + Sync>>);

impl Drop for Closing {
    fn drop(&mut self) {
        let database = self.0.take();
        let _ = guarded(|| {
            drop(database);
            Ok(())
        });
    }
}

impl ReadState {
    /// The current state of a file, which others may change from now on.
    pub(crate) fn of_file(file: OpenForReading) -> Result<ReadState> {
        let rows = Rows::open(&file.database.begin_read()?)?;
        file.let_writers_in();
        Ok(ReadState {
            rows,
            id: file.id,
            _file: Closing(Some(Box::new(file))),
        })
    }

    /// The current state of a database that this process can write.
    pub(crate) fn of_database(database: Arc<Database>, id: StateId) -> Result<ReadState> {
        Ok(ReadState {
            rows: Rows::open(&database.begin_read()?)?,
            id,
            _file: Closing(Some(Box::new(database))),
        })
    }
}

pub(super) fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}
