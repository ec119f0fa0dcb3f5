//! The way from a profile file into the store, on one page.

use crate::formats::FormatError;
use crate::id::ProfileId;
use crate::intern::InternError;
use crate::model::{Build, Granularity, Profile};
use crate::store::{Added, Store, StoreError};
use crate::symbolize::{ModuleSymbols, SymbolOptions};
use std::collections::BTreeMap;
use std::path::Path;

/// What the user says about a profile when it goes in.
#[derive(Clone, Debug, Default)]
pub struct IngestOptions {
    /// Name of the executable; by default the program with most samples.
    pub executable: Option<String>,
    /// Version of the build; by default the main program's GNU build id.
    pub version: Option<String>,
    /// Revision of the work tree.
    pub revision: Option<String>,
    /// The benchmark that ran.
    pub benchmark: Option<String>,
    /// Labels.
    pub labels: BTreeMap<String, String>,
    /// Metrics.
    pub metrics: BTreeMap<String, f64>,
    /// What a frame stands for.
    pub granularity: Granularity,
    /// Make one profile a program, instead of one of the whole recording.
    pub split_processes: bool,
    /// Where symbols are looked for.
    pub symbols: SymbolOptions,
}

/// Stages of ingestion, for progress displays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading the file, and unwinding saved stacks.
    Reading,
    /// Looking up symbols.
    Symbolizing,
    /// Building the tree.
    Interning,
    /// Writing to the store.
    Storing,
}

/// A profile that went in.
#[derive(Clone, Debug)]
pub struct Ingested {
    /// Its content address.
    pub id: ProfileId,
    /// The build it belongs to.
    pub build: Build,
    /// Everything about it but its stacks and counts.
    pub profile: Profile,
    /// Whether it is new.
    pub added: Added,
    /// Number of nodes of its tree.
    pub nodes: usize,
    /// Number of its distinct frames.
    pub frames: usize,
}

/// The outcome of [`ingest`].
#[derive(Clone, Debug)]
pub struct IngestReport {
    /// The profiles: one, or with `split_processes` one a program, most samples first.
    pub profiles: Vec<Ingested>,
    /// What was found of each module, with its path.
    pub modules: Vec<(String, ModuleSymbols)>,
    /// Whole sentences about what a user should know of this recording.
    pub warnings: Vec<String>,
}

/// Why a file cannot be ingested.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The file cannot be read.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// Its samples cannot be interned.
    #[error("{path}: {source}")]
    Intern {
        /// The file.
        path: String,
        /// Why.
        source: InternError,
    },
    /// No name for the build is given, and the recording has none.
    #[error(
        "{path}: the recording has no GNU build id of {program} to name the build after; name it: --build NAME"
    )]
    NoBuildName {
        /// The file.
        path: String,
        /// The main program.
        program: String,
    },
    /// The store cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Reads a profile file, resolves its symbols, and adds it to the store.
///
/// `progress` is told when a stage begins.
///
/// # Errors
/// Where the file cannot be read, has no name for its build, or the store cannot be written. The
/// store is then as it was.
pub fn ingest(
    store: &Store,
    path: &Path,
    options: &IngestOptions,
    progress: &mut dyn FnMut(Stage),
) -> Result<IngestReport, IngestError> {
    let _ = (store, path, options, progress);
    todo!()
}
