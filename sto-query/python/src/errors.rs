//! Errors of the library as Python exceptions.

use pyo3::types::{PyAnyMethods, PyModule};
use pyo3::{PyErr, PyResult, Python};
use std::path::PathBuf;
use sto_core::formats::FormatError;
use sto_core::{IngestError, StoreError};
use sto_query::QueryError;
use sto_query::error::{ErrorClass, SourceError};
use sto_query::tables::SqlError;

/// An error that becomes an exception of the Python module `sto._errors`.
#[derive(Debug)]
pub(crate) struct Error {
    /// Name of the exception.
    exception: &'static str,
    message: String,
    /// The file that the error is about.
    path: Option<PathBuf>,
    /// The place in the file or the query.
    place: Option<String>,
}

impl Error {
    /// An error of a request.
    pub(crate) fn invalid(message: String) -> Error {
        Error {
            exception: "InvalidError",
            message,
            path: None,
            place: None,
        }
    }
}

impl From<QueryError> for Error {
    fn from(error: QueryError) -> Error {
        let (path, place) = path_and_place(&error);
        Error {
            exception: name_of(error.class()),
            message: error.to_string(),
            path,
            place,
        }
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        QueryError::from(error).into()
    }
}

impl From<IngestError> for Error {
    fn from(error: IngestError) -> Error {
        QueryError::from(error).into()
    }
}

impl From<SqlError> for Error {
    fn from(error: SqlError) -> Error {
        let exception = match error {
            SqlError::Question(error) => return (*error).into(),
            SqlError::OutOfMemory => "TooLargeError",
            _ => "InvalidError",
        };
        let (message, place) = match error {
            SqlError::Syntax { message, place } => (message, Some(place.join("\n"))),
            error => (error.to_string(), None),
        };
        Error {
            exception,
            message,
            path: None,
            place,
        }
    }
}

impl From<Error> for PyErr {
    fn from(error: Error) -> PyErr {
        Python::attach(|py| exception(py, error)).unwrap_or_else(|error| error)
    }
}

fn exception(py: Python<'_>, error: Error) -> PyResult<PyErr> {
    let exception = PyModule::import(py, "sto._errors")?.getattr(error.exception)?;
    let value = exception.call1((error.message, error.path, error.place))?;
    Ok(PyErr::from_value(value))
}

fn name_of(class: ErrorClass) -> &'static str {
    match class {
        ErrorClass::NotFound => "NotFoundError",
        ErrorClass::Invalid => "InvalidError",
        ErrorClass::Busy => "BusyError",
        ErrorClass::TooLarge => "TooLargeError",
        ErrorClass::Unsupported => "UnsupportedError",
        _ => "Error",
    }
}

/// The file that an error is about, and the place in it.
fn path_and_place(error: &QueryError) -> (Option<PathBuf>, Option<String>) {
    let (path, place) = match error {
        QueryError::Ingest(IngestError::Format(error)) => return of_format(error),
        QueryError::Ingest(
            IngestError::Intern { path, .. }
            | IngestError::NoBuildName { path, .. }
            | IngestError::TooLong { path, .. }
            | IngestError::LowQuality { path, .. }
            | IngestError::Refused { path, .. },
        ) => return (Some(path.into()), None),
        QueryError::Ingest(IngestError::Store(error)) | QueryError::Store(error) => {
            return of_store(error);
        }
        QueryError::Source(SourceError::File { path, .. }) => (path, None),
        _ => return (None, None),
    };
    (Some(path.clone()), place)
}

fn of_format(error: &FormatError) -> (Option<PathBuf>, Option<String>) {
    let (path, place) = match error {
        FormatError::Malformed { path, at, .. } => (path, Some(at)),
        FormatError::Truncated { path, cut, .. } => (path, Some(cut)),
        FormatError::Io { path, .. }
        | FormatError::Empty { path }
        | FormatError::Unknown { path, .. }
        | FormatError::ExpandsTooFar { path, .. }
        | FormatError::Unsupported { path, .. }
        | FormatError::NoOverlap { path, .. }
        | FormatError::NoSamples { path } => (path, None),
        _ => return (None, None),
    };
    (Some(path.clone()), place.cloned())
}

fn of_store(error: &StoreError) -> (Option<PathBuf>, Option<String>) {
    let (path, place) = match error {
        StoreError::Damaged { path, location, .. } => (path, Some(location)),
        StoreError::NotFound { folder: path }
        | StoreError::NotAFolder { path }
        | StoreError::NotAStore { path, .. }
        | StoreError::Newer { path, .. }
        | StoreError::InUse { path, .. }
        | StoreError::Io { path, .. }
        | StoreError::NoProfile { path, .. }
        | StoreError::NoBuild { path, .. }
        | StoreError::TooMuch { path, .. }
        | StoreError::Refused { path, .. } => (path, None),
        _ => return (None, None),
    };
    (Some(path.clone()), place.cloned())
}
