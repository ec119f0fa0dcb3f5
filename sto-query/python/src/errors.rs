//! Errors of the library as Python exceptions.

use pyo3::types::{PyAnyMethods, PyModule};
use pyo3::{PyErr, PyResult, Python};
use std::path::PathBuf;
use sto_core::{IngestError, StoreError};
use sto_query::QueryError;
use sto_query::error::ErrorClass;
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
        let place = error.place();
        Error {
            exception: name_of(error.class()),
            message: error.to_string(),
            path: place.map(|place| place.path.to_owned()),
            place: place.and_then(|place| place.at).map(str::to_owned),
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
