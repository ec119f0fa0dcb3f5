//! The destination of recordings: the store, or with `--to` a dataset of Parquet files.

use super::interrupt::temporaries;
use super::{CliError, StorePath};
use std::path::Path;
use sto_core::ingest::{IngestOutcome, PreparedFile, Stage};
use sto_core::store::Store;
use sto_query::places::Machine;
use sto_query::questions::{check_lake, ingest_to_lake};
use sto_query::results::{InStore, IngestSummary, IngestedFile};

/// A store or a dataset.
pub(crate) enum Destination<'a> {
    Store {
        path: &'a StorePath,
        store: Store,
        /// Whether the store is created by this command.
        is_new: bool,
    },
    Dataset(&'a Path),
}

impl<'a> Destination<'a> {
    /// Opens the dataset if one is named, otherwise the store.
    pub(crate) fn open(
        to: Option<&'a Path>,
        path: &'a StorePath,
    ) -> Result<Destination<'a>, CliError> {
        if let Some(place) = to {
            check_lake(place, &machine())?;
            return Ok(Destination::Dataset(place));
        }
        Ok(Destination::Store {
            path,
            is_new: !path.folder.join(Store::FILE_NAME).exists(),
            store: path.open_or_create()?,
        })
    }

    /// Returns an error if no profile can be added, so that long work is not started in vain.
    pub(crate) fn check_writable(&self) -> Result<(), CliError> {
        match self {
            Destination::Store { store, .. } => Ok(store.check_writable()?),
            Destination::Dataset(_) => Ok(()),
        }
    }

    /// Adds a recording.
    pub(crate) fn add(
        &self,
        prepared: PreparedFile,
        progress: &mut dyn FnMut(Stage),
    ) -> Result<IngestOutcome, CliError> {
        match self {
            Destination::Store { store, .. } => {
                // One writer per recording: others can write to the store in between, and the layout of the file does not
                // depend on the order in which writers waited.
                Ok(prepared.store(&mut store.writer(), progress)?)
            }
            Destination::Dataset(place) => {
                Ok(ingest_to_lake(prepared, place, &machine(), progress)?)
            }
        }
    }

    /// Summarizes the added recordings. Notes if a store was created in the default folder.
    pub(crate) fn summary(&self, recordings: Vec<IngestedFile>) -> InStore<IngestSummary> {
        let (store, is_dataset) = match self {
            Destination::Store { path, is_new, .. } => {
                path.note_if_new(*is_new);
                (path.folder.as_path(), false)
            }
            Destination::Dataset(place) => (*place, true),
        };
        InStore {
            store: store.display().to_string(),
            answer: IngestSummary {
                recordings,
                is_dataset,
            },
        }
    }
}

/// The temporary files and environment variables that remote places need.
pub(crate) fn machine() -> Machine {
    Machine {
        temporaries: temporaries().clone(),
        variables: std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect(),
        ..Machine::default()
    }
}
