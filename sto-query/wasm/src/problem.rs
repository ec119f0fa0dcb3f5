//! Errors, as the pages show them.

use serde::Serialize;
use sto_core::StoreError;
use sto_core::ingest::IngestError;
use sto_query::QueryError;
use sto_query::error::ErrorClass;

/// The reason why a request failed, with the fields of the server's problems.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The HTTP status that the server would answer with.
    pub status: u16,
    /// The kind of problem, as a heading.
    pub title: &'static str,
    /// The problem in a sentence: the value found, the value expected, and the remedy.
    pub detail: String,
}

impl Problem {
    pub(crate) fn invalid(detail: impl ToString) -> Problem {
        Problem::new(ErrorClass::Invalid, detail)
    }

    pub(crate) fn not_found(detail: impl ToString) -> Problem {
        Problem::new(ErrorClass::NotFound, detail)
    }

    /// No file was opened, or the page was loaded again.
    pub(crate) fn nothing_open() -> Problem {
        Problem {
            title: "Nothing is open",
            ..Problem::not_found(
                "Open the file first; this page forgets all files when it is loaded again.",
            )
        }
    }

    pub(crate) fn internal(detail: impl ToString) -> Problem {
        Problem::new(ErrorClass::Internal, detail)
    }

    fn new(class: ErrorClass, detail: impl ToString) -> Problem {
        let (status, title) = match class {
            ErrorClass::NotFound => (404, "Not found"),
            ErrorClass::Invalid => (422, "Not possible"),
            ErrorClass::TooLarge => (413, "Too large"),
            ErrorClass::Unsupported => (501, "Not supported"),
            _ => (500, "Internal error"),
        };
        Problem {
            status,
            title,
            detail: detail.to_string(),
        }
    }
}

impl From<QueryError> for Problem {
    fn from(error: QueryError) -> Problem {
        Problem::new(error.class(), &error)
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Problem {
        QueryError::from(error).into()
    }
}

impl From<IngestError> for Problem {
    fn from(error: IngestError) -> Problem {
        QueryError::from(error).into()
    }
}
