//! Places of errors: the file, and where in it.

use super::{AverageError, CallsError, HistoryError, ModelError, QueryError, RootsError};
use super::{SourceError, TimelineError, WindowError};
use crate::select::SelectError;
use std::path::Path;
use sto_core::formats::FormatError;
use sto_core::ingest::IngestError;
use sto_core::store::StoreError;

/// The place of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorPlace<'a> {
    /// The file or folder.
    pub path: &'a Path,
    /// The place in it, such as `line 12`, if the error is about a part of the file.
    pub at: Option<&'a str>,
}

impl QueryError {
    /// Returns the place of the error; `None` if it is not about a file or folder.
    pub fn place(&self) -> Option<ErrorPlace<'_>> {
        match self {
            QueryError::Store(error)
            | QueryError::Roots(RootsError::Store(error))
            | QueryError::Timeline(TimelineError::Store(error))
            | QueryError::Calls(CallsError::Store(error))
            | QueryError::Window(WindowError::Store(error))
            | QueryError::Model(ModelError::Store(error))
            | QueryError::History(HistoryError::Store(error))
            | QueryError::Average(AverageError::Store(error)) => in_store(error),
            QueryError::Select(error)
            | QueryError::NothingNamed { source: error, .. }
            | QueryError::Calls(CallsError::Select(error))
            | QueryError::Average(AverageError::Select(error)) => in_selected(error),
            QueryError::Ingest(error) => in_ingested(error),
            QueryError::Source(
                SourceError::File { path, .. } | SourceError::Folder { path, .. },
            )
            | QueryError::FilesForbidden { path } => whole(path),
            _ => None,
        }
    }
}

fn whole(path: &Path) -> Option<ErrorPlace<'_>> {
    Some(ErrorPlace { path, at: None })
}

fn in_store(error: &StoreError) -> Option<ErrorPlace<'_>> {
    match error {
        StoreError::Damaged { path, location, .. } => Some(ErrorPlace {
            path,
            at: Some(location),
        }),
        StoreError::NotFound { folder: path }
        | StoreError::NotAFolder { path }
        | StoreError::NotAStore { path, .. }
        | StoreError::Newer { path, .. }
        | StoreError::InUse { path, .. }
        | StoreError::Io { path, .. }
        | StoreError::NoProfile { path, .. }
        | StoreError::NoBuild { path, .. }
        | StoreError::TooMuch { path, .. }
        | StoreError::Refused { path, .. } => whole(path),
        _ => None,
    }
}

fn in_selected(error: &SelectError) -> Option<ErrorPlace<'_>> {
    match error {
        SelectError::Store(error) => in_store(error),
        _ => None,
    }
}

fn in_ingested(error: &IngestError) -> Option<ErrorPlace<'_>> {
    match error {
        IngestError::Store(error) => in_store(error),
        IngestError::Format(error) => in_file(error),
        IngestError::Intern { path, .. }
        | IngestError::NoBuildName { path, .. }
        | IngestError::TooLong { path, .. }
        | IngestError::LowQuality { path, .. }
        | IngestError::Refused { path, .. } => whole(path.as_ref()),
        _ => None,
    }
}

fn in_file(error: &FormatError) -> Option<ErrorPlace<'_>> {
    match error {
        FormatError::Malformed { path, at, .. } | FormatError::Truncated { path, cut: at, .. } => {
            Some(ErrorPlace { path, at: Some(at) })
        }
        FormatError::Io { path, .. }
        | FormatError::Empty { path }
        | FormatError::Unknown { path, .. }
        | FormatError::ExpandsTooFar { path, .. }
        | FormatError::Unsupported { path, .. }
        | FormatError::NoOverlap { path, .. }
        | FormatError::NoSamples { path } => whole(path),
        _ => None,
    }
}
