//! A store: profiles come in, questions and queries are answered.

use crate::answer::Answer;
use crate::errors::Error;
use crate::table::{Cell, Table};
use crate::work::interruptible;
use pyo3::{FromPyObject, PyResult, Python, pyclass, pymethods};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use sto_core::formats::UnknownFormat;
use sto_core::ingest::{IngestOptions, IngestOutcome, Input, SymbolOptions, ingest};
use sto_core::store::StateId;
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, UnixSeconds};
use sto_core::{CancelToken, StoreError};
use sto_query::questions::AnyQuestion;
use sto_query::results::IngestedFile;
use sto_query::sources::{Context, Environment, Sources, Surroundings, WorkTree};
use sto_query::tables::{Database, SqlOptions, SqlValue};

/// Memory for stacks that are kept between questions.
const CACHE: Bytes = Bytes(256 << 20);

/// A store of profiles.
#[pyclass(frozen, module = "sto._sto")]
pub(crate) struct Store {
    store: sto_core::Store,
    /// The newest known state, and the sources of its questions.
    current: Mutex<Option<(StateId, Sources)>>,
}

/// The metadata of a profile, and how its file is read.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct About {
    build: Option<String>,
    program: Option<String>,
    benchmark: Option<String>,
    revision: Option<String>,
    labels: BTreeMap<String, String>,
    metrics: BTreeMap<String, f64>,
    recorded: Option<u64>,
    slices: Option<u32>,
    format: Option<String>,
}

/// A file, or the contents of one.
#[derive(FromPyObject)]
enum Recording {
    Bytes(Vec<u8>),
    Path(PathBuf),
}

#[pymethods]
impl Store {
    /// Opens the store in a folder.
    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf, create: bool) -> PyResult<Store> {
        let opened = interruptible::<_, Error>(py, |_| {
            Ok(if create {
                sto_core::Store::open_or_create(&path)
            } else {
                sto_core::Store::open(&path)
            }?)
        });
        Ok(Store::new(opened?))
    }

    /// Makes an empty store in memory.
    #[staticmethod]
    fn memory(py: Python<'_>) -> PyResult<Store> {
        let made = interruptible::<_, Error>(py, |_| Ok(sto_core::Store::in_memory()?));
        Ok(Store::new(made?))
    }

    /// Answers a question, which is an object in JSON.
    fn ask(&self, py: Python<'_>, question: &str) -> PyResult<Answer> {
        interruptible(py, |cancel| {
            let question: AnyQuestion = serde_json::from_str(question)
                .map_err(|error| Error::invalid(without_place(&error)))?;
            let mut context = Context::default();
            context.cancel = cancel.clone();
            context.now = now();
            let answer = sto_query::ask(&self.sources()?, &question, &context)?;
            Ok::<_, Error>(Answer::new(question, answer))
        })
    }

    /// Stores a recording, and returns a report of it as JSON.
    fn ingest(&self, py: Python<'_>, recording: Recording, about: About) -> PyResult<String> {
        interruptible(py, |cancel| {
            let name = match &recording {
                Recording::Path(path) => path,
                Recording::Bytes(_) => Path::new(about.program.as_deref().unwrap_or("bytes")),
            };
            let options = about.options(cancel)?;
            let outcome = self.add(&recording, name, options)?;
            let name = name.display().to_string();
            let file = IngestedFile::new(name, &outcome, |notice| notice.text.clone());
            serde_json::to_string(&file).map_err(|error| Error::invalid(error.to_string()))
        })
    }

    /// Answers a query in SQL.
    fn sql(
        &self,
        py: Python<'_>,
        query: &str,
        parameters: BTreeMap<String, Cell>,
    ) -> PyResult<Table> {
        interruptible(py, |cancel| {
            let mut options = SqlOptions::default();
            options.cancel = cancel.clone();
            for (name, value) in parameters {
                let value = match value {
                    Cell::Boolean(value) => SqlValue::Integer(value.into()),
                    Cell::Integer(number) => SqlValue::Integer(number),
                    Cell::Real(number) => SqlValue::Real(number),
                    Cell::Text(text) => SqlValue::Text(text),
                    Cell::Null | Cell::Bytes(_) => {
                        let expected = "expected a number or text";
                        return Err(Error::invalid(format!(
                            "the parameter `{name}`: {expected}"
                        )));
                    }
                };
                options.parameters.push((name, value));
            }
            let mut table = Table::default();
            Database::open(self.sources()?)?.query(query, &options, &mut table)?;
            Ok(table)
        })
    }
}

impl Store {
    fn new(store: sto_core::Store) -> Store {
        Store {
            store,
            current: Mutex::default(),
        }
    }

    /// The store in its newest state, and files, with the symbols and git work tree that the command `sto` sees.
    fn sources(&self) -> Result<Sources, StoreError> {
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((state, sources)) = &*current
            && !self.store.changed_since(*state)?
        {
            return Ok(sources.clone());
        }
        let snapshot = self.store.snapshot()?;
        let state = snapshot.state();
        let sources = Sources::from_snapshot(snapshot)
            .with_cache(CACHE)
            .with_environment(Arc::new(surroundings()));
        *current = Some((state, sources.clone()));
        Ok(sources)
    }

    fn add(
        &self,
        recording: &Recording,
        name: &Path,
        options: IngestOptions,
    ) -> Result<IngestOutcome, Error> {
        Ok(match recording {
            Recording::Path(path) => surroundings().read(&self.store, path, options)?,
            Recording::Bytes(bytes) => {
                let options = IngestOptions {
                    symbols: SymbolOptions::system(),
                    ..options
                };
                let input = Input::Bytes { name, bytes };
                ingest(&self.store, input, &options, &mut |_| {})?
            }
        })
    }
}

impl About {
    fn options(&self, cancel: &CancelToken) -> Result<IngestOptions, Error> {
        let revision = self.revision.as_deref();
        let described = revision.and_then(|revision| here().describe_revision(revision));
        let (revision, commit) = match described {
            Some(known) => (Some(known.revision), known.commit),
            None => (self.revision.clone(), None),
        };
        let format = self.format.as_deref().map(str::parse).transpose();
        let slices = self.slices.map(|slices| {
            SliceCount::new(slices).ok_or_else(|| {
                Error::invalid(format!("cannot divide a recording into {slices} slices"))
            })
        });
        Ok(IngestOptions {
            executable: self.program.clone(),
            version: self.build.clone(),
            revision,
            commit,
            benchmark: self.benchmark.clone(),
            recorded: self.recorded.map(UnixSeconds),
            labels: self.labels.clone(),
            metrics: self.metrics.clone(),
            slices: slices.transpose()?,
            format: format.map_err(|error: UnknownFormat| Error::invalid(error.to_string()))?,
            cancel: cancel.clone(),
            ..IngestOptions::default()
        })
    }
}

/// The git work tree that contains the current folder.
fn here() -> WorkTree {
    WorkTree::containing(".")
}

fn surroundings() -> Surroundings {
    Surroundings::from_git(Path::new("."))
}

fn now() -> Option<UnixSeconds> {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Some(UnixSeconds(since.ok()?.as_secs()))
}

/// The message of an error, without the place in JSON that the user did not write.
fn without_place(error: &serde_json::Error) -> String {
    let message = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    message.strip_suffix(&place).unwrap_or(&message).to_owned()
}
