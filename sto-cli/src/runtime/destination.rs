//! The destination of recordings: the store, or with `--to` a dataset of Parquet files or a server.

use super::interrupt::temporaries;
use super::{CliError, Machine as Here, StorePath};
use std::path::Path;
use sto_core::ingest::{IngestOutcome, PreparedFile, Stage};
use sto_core::store::Store;
use sto_query::places::{Machine, Place};
use sto_query::questions::{PushRequest, check_lake, ingest_to_lake, push};
use sto_query::results::{InStore, IngestSummary, IngestedFile};

/// A store, a dataset or a server.
pub(crate) enum Destination<'a> {
    Store {
        path: &'a StorePath,
        store: Store,
        /// Whether the store is created by this command.
        is_new: bool,
    },
    Dataset(&'a Path),
    /// The store of a server.
    Server(Place),
}

impl<'a> Destination<'a> {
    /// Opens the dataset if one is named, otherwise the store.
    pub(crate) fn open(
        to: Option<&'a Path>,
        path: &'a StorePath,
    ) -> Result<Destination<'a>, CliError> {
        if let Some(url) = to.filter(|to| is_url(to)) {
            return Ok(Destination::Server(Place::parse(
                url.as_os_str(),
                &machine(),
            )?));
        }
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
            // Nothing is sent, but the server has to answer and to accept the token.
            Destination::Server(place) => push_all(&Store::in_memory()?, place),
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
            Destination::Server(place) => {
                let store = Store::in_memory()?;
                let outcome = prepared.store(&mut store.writer(), progress)?;
                push_all(&store, place)?;
                Ok(outcome)
            }
        }
    }

    /// Summarizes the added recordings. Notes if a store was created in the default folder.
    pub(crate) fn summary(&self, recordings: Vec<IngestedFile>) -> InStore<IngestSummary> {
        let (store, is_dataset) = match self {
            Destination::Store { path, is_new, .. } => {
                path.note_if_new(*is_new);
                (path.folder.display().to_string(), false)
            }
            Destination::Dataset(place) => (place.display().to_string(), true),
            Destination::Server(place) => (place.to_string(), false),
        };
        InStore {
            store,
            answer: IngestSummary {
                recordings,
                is_dataset,
            },
        }
    }
}

/// Whether a destination is a server.
fn is_url(to: &Path) -> bool {
    let text = to.as_os_str().as_encoded_bytes();
    text.starts_with(b"http://") || text.starts_with(b"https://")
}

/// Sends all profiles of a store.
fn push_all(store: &Store, place: &Place) -> Result<(), CliError> {
    let pushed = push(
        store,
        &Here::here(),
        place,
        &PushRequest::default(),
        &|_, _| {},
    )?;
    match pushed.left_out.len() {
        0 => Ok(()),
        profiles => Err(CliError::LeftOut { profiles }),
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
