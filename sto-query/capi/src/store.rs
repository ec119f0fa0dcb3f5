//! Open stores, which calls find by their handles.

use crate::columns::Columns;
use crate::error::{StoClass, StoError};
use arrow_array::RecordBatch;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;
use sto_core::formats::UnknownFormat;
use sto_core::ingest::{Input, SymbolOptions, ingest};
use sto_core::store::{StateId, StoreError};
use sto_core::tree::SliceCount;
use sto_core::units::UnixSeconds;
use sto_core::{CancelToken, IngestOptions, Store};
use sto_query::questions::AnyQuestion;
use sto_query::results::{self, IngestSummary, IngestedFile};
use sto_query::sources::{Context, Sources, Surroundings};
use sto_query::tables::{Database, SqlOptions};

/// An open store.
pub struct StoStore {
    store: Store,
    surroundings: Arc<Surroundings>,
    /// The newest known state, and the sources of its questions, which keep the files that they read.
    current: Mutex<Option<(StateId, Sources)>>,
    /// Cancels the calls that use the store now.
    cancel: Mutex<CancelToken>,
}

/// The options of `sto_ingest_file`.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields, expecting = "an object of options")]
pub(crate) struct AboutRecording {
    program: Option<String>,
    build: Option<String>,
    revision: Option<String>,
    benchmark: Option<String>,
    labels: BTreeMap<String, String>,
    metrics: BTreeMap<String, f64>,
    recorded: Option<u64>,
    slices: Option<u32>,
    format: Option<String>,
    split_programs: bool,
    allow_truncated: bool,
    strict: bool,
}

/// The open stores by their handles: numbers that are not reused, so a wrong or closed one is recognised.
static OPEN: Mutex<BTreeMap<usize, Arc<StoStore>>> = Mutex::new(BTreeMap::new());
static NEXT: AtomicUsize = AtomicUsize::new(1);

/// Adds a store to the open ones, and returns its handle.
pub(crate) fn open(store: Store) -> usize {
    let handle = NEXT.fetch_add(1, Ordering::Relaxed);
    let store = StoStore {
        store,
        surroundings: Arc::new(Surroundings::from_git(Path::new("."))),
        current: Mutex::default(),
        cancel: Mutex::default(),
    };
    lock(&OPEN).insert(handle, Arc::new(store));
    handle
}

/// Returns an open store.
pub(crate) fn find(handle: usize) -> Result<Arc<StoStore>, StoError> {
    let store = lock(&OPEN).get(&handle).cloned();
    store.ok_or_else(|| StoError::invalid("`store` is NULL or closed"))
}

/// Closes a store when the calls that use it are done. Closed stores stay closed.
pub(crate) fn close(handle: usize) {
    let closed = lock(&OPEN).remove(&handle);
    drop(closed);
}

impl StoStore {
    /// Ends the calls that use this store now.
    pub(crate) fn cancel(&self) {
        std::mem::take(&mut *lock(&self.cancel)).cancel();
    }

    /// Stores a recording in a file, or in memory under the name of a path. Returns a report as JSON.
    pub(crate) fn ingest(
        &self,
        path: &Path,
        bytes: Option<&[u8]>,
        about: AboutRecording,
    ) -> Result<String, StoError> {
        let system = SymbolOptions::system();
        let (input, symbols) = match bytes {
            Some(bytes) => (Input::Bytes { name: path, bytes }, system),
            None => (Input::Path(path), system.for_recording(path)),
        };
        let options = IngestOptions {
            symbols,
            cancel: lock(&self.cancel).clone(),
            ..about.options()?
        };
        let outcome = ingest(&self.store, input, &options, &mut |_| {})?;
        let file = IngestedFile::new(path.display().to_string(), &outcome, |notice| {
            notice.text.clone()
        });
        let summary = IngestSummary {
            recordings: vec![file],
            is_dataset: false,
        };
        json(results::json(&summary))
    }

    /// Answers a question in JSON.
    pub(crate) fn ask(&self, question: &str) -> Result<String, StoError> {
        let question: AnyQuestion = serde_json::from_str(question)
            .map_err(|error| StoError::from_json("question", &error))?;
        let mut context = Context::default();
        context.cancel = lock(&self.cancel).clone();
        context.now = now();
        let answer = sto_query::ask(&self.sources()?, &question, &context)?;
        json(serde_json::to_string(&answer))
    }

    /// Runs a query in SQL.
    pub(crate) fn query(&self, sql: &str) -> Result<RecordBatch, StoError> {
        let mut options = SqlOptions::default();
        options.cancel = lock(&self.cancel).clone();
        let mut columns = Columns::default();
        Database::open(self.sources()?)?.query(sql, &options, &mut columns)?;
        let batch = columns.into_batch();
        let batch = batch.ok_or_else(|| StoError::invalid("the query is empty"))?;
        batch.map_err(|error| StoError::new(StoClass::Internal, error.to_string()))
    }

    /// The store in its newest state.
    fn sources(&self) -> Result<Sources, StoreError> {
        let mut current = lock(&self.current);
        if let Some((state, sources)) = &*current
            && !self.store.changed_since(*state)?
        {
            return Ok(sources.clone());
        }
        let snapshot = self.store.snapshot()?;
        let state = snapshot.state();
        let sources = Sources::from_snapshot(snapshot).with_environment(self.surroundings.clone());
        *current = Some((state, sources.clone()));
        Ok(sources)
    }
}

impl AboutRecording {
    fn options(self) -> Result<IngestOptions, StoError> {
        let slices = self.slices.map(|count| {
            let most = SliceCount::MAX;
            let outside =
                || StoError::invalid(format!("`slices` is {count}; it may be 1 to {most}"));
            SliceCount::new(count).ok_or_else(outside)
        });
        let format = self.format.map(|word| {
            let unknown =
                |UnknownFormat| StoError::invalid(format!("`format`: there is no `{word}`"));
            word.parse().map_err(unknown)
        });
        Ok(IngestOptions {
            executable: self.program,
            version: self.build,
            revision: self.revision,
            benchmark: self.benchmark,
            labels: self.labels,
            metrics: self.metrics,
            recorded: self.recorded.map(UnixSeconds),
            slices: slices.transpose()?,
            format: format.transpose()?,
            split_processes: self.split_programs,
            allow_truncated: self.allow_truncated,
            strict: self.strict,
            call_folder: Some(std::env::temp_dir()),
            ..IngestOptions::default()
        })
    }
}

fn json(json: serde_json::Result<String>) -> Result<String, StoError> {
    json.map_err(|error| StoError::new(StoClass::Internal, error.to_string()))
}

fn now() -> Option<UnixSeconds> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Some(UnixSeconds(since.ok()?.as_secs()))
}

/// Locks a mutex. A panic while it was locked left a whole value: each is only replaced.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
