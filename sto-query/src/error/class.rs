//! Classes of errors, for callers that cannot know every error.

use super::{ExportError, QueryError, SelectError};
use crate::calls::CallsError;
use crate::compare::CompareError;
use crate::correlate::CorrelateError;
use crate::functions::FunctionError;
use crate::history::HistoryError;
use crate::maintain::TagError;
use crate::models::ModelError;
use crate::source::SourceError;
use crate::timeline::TimelineError;
use crate::tree::{RootsError, WindowError};
use serde::Serialize;
use std::io;
use sto_core::formats::FormatError;
use sto_core::ingest::IngestError;
use sto_core::store::StoreError;
#[cfg(feature = "lake")]
use sto_lake::lake::LakeError;

/// The class of an error: whose fault it is, and whether another attempt may succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ErrorClass {
    /// Nothing has the name in the request: no build, function, event, label or file.
    NotFound,
    /// The request, or a file that it names, contradicts itself or the data.
    Invalid,
    /// The caller may not ask this.
    Forbidden,
    /// Another process holds the store. The same request may succeed later.
    Busy,
    /// The answer would take too much memory or space.
    TooLarge,
    /// This program cannot do it: the data were written by a newer version, or a feature was left out at build time.
    Unsupported,
    /// The caller cancelled the request.
    Cancelled,
    /// The system failed, or stored data are damaged.
    Internal,
}

impl QueryError {
    /// Returns the class of the error.
    pub fn class(&self) -> ErrorClass {
        match self {
            QueryError::Store(error) => of_store(error),
            QueryError::Select(error) | QueryError::NothingNamed { source: error, .. } => {
                of_select(error)
            }
            QueryError::Ingest(error) => of_ingest(error),
            QueryError::Roots(error) => of_roots(error),
            QueryError::Timeline(error) => of_timeline(error),
            QueryError::Calls(error) => of_calls(error),
            QueryError::Window(error) => of_window(error),
            QueryError::Correlate(CorrelateError::Timeline(error)) => of_timeline(error),
            QueryError::Correlate(CorrelateError::NoTarget { .. }) => ErrorClass::NotFound,
            QueryError::Model(error) => of_model(error),
            QueryError::Compare(CompareError::Cancelled(_)) | QueryError::Cancelled(_) => {
                ErrorClass::Cancelled
            }
            QueryError::Function(error) => of_function(error),
            QueryError::History(error) => of_history(error),
            QueryError::Average(super::AverageError::Store(error)) => of_store(error),
            QueryError::Average(super::AverageError::Select(error)) => of_select(error),
            QueryError::Export(ExportError::Io(_)) => ErrorClass::Internal,
            QueryError::Export(
                ExportError::TooDeep { .. }
                | ExportError::TooLong { .. }
                | ExportError::TooLarge { .. },
            ) => ErrorClass::TooLarge,
            QueryError::Source(SourceError::Function(error)) => of_function(error),
            QueryError::Source(
                SourceError::File { source, .. } | SourceError::Folder { source, .. },
            ) => of_io(source),
            #[cfg(feature = "lake")]
            QueryError::Lake(error) => of_lake(error),
            QueryError::FilesForbidden { .. } => ErrorClass::Forbidden,
            QueryError::WithoutParquet => ErrorClass::Unsupported,
            QueryError::Listing(_)
            | QueryError::Tag(TagError::NotFound { .. })
            | QueryError::NoRevision { .. }
            | QueryError::NoRange { .. }
            | QueryError::NoRun { .. }
            | QueryError::UnknownEvent { .. } => ErrorClass::NotFound,
            _ => ErrorClass::Invalid,
        }
    }
}

fn of_store(error: &StoreError) -> ErrorClass {
    match error {
        StoreError::NotFound { .. } | StoreError::NoProfile { .. } | StoreError::NoBuild { .. } => {
            ErrorClass::NotFound
        }
        StoreError::InUse { .. } => ErrorClass::Busy,
        StoreError::TooMuch { .. } => ErrorClass::TooLarge,
        StoreError::Newer { .. } => ErrorClass::Unsupported,
        StoreError::Cancelled(_) => ErrorClass::Cancelled,
        StoreError::Io { .. } | StoreError::Damaged { .. } => ErrorClass::Internal,
        _ => ErrorClass::Invalid,
    }
}

fn of_select(error: &SelectError) -> ErrorClass {
    match error {
        SelectError::Store(error) => of_store(error),
        SelectError::EmptyStore
        | SelectError::NotFound { .. }
        | SelectError::NoLabelledRun { .. }
        | SelectError::NoBenchmark { .. }
        | SelectError::TooFewBuilds { .. }
        | SelectError::NoBuildOfCommit(_)
        | SelectError::NoBuildInRange(_) => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_ingest(error: &IngestError) -> ErrorClass {
    match error {
        IngestError::Store(error) => of_store(error),
        IngestError::Cancelled(_) => ErrorClass::Cancelled,
        IngestError::Format(FormatError::Io { source, .. }) => of_io(source),
        IngestError::Format(FormatError::Unsupported { .. }) => ErrorClass::Unsupported,
        IngestError::Format(FormatError::ExpandsTooFar { .. }) => ErrorClass::TooLarge,
        _ => ErrorClass::Invalid,
    }
}

#[cfg(feature = "lake")]
fn of_lake(error: &LakeError) -> ErrorClass {
    match error {
        LakeError::Store(error) => of_store(error),
        LakeError::NotFound(_) => ErrorClass::NotFound,
        LakeError::OtherVersion { .. } => ErrorClass::Unsupported,
        LakeError::TooLarge(_) => ErrorClass::TooLarge,
        LakeError::Read { source, .. } => of_io(source),
        LakeError::Damaged { .. } => ErrorClass::Internal,
        _ => ErrorClass::Invalid,
    }
}

fn of_io(error: &io::Error) -> ErrorClass {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorClass::NotFound,
        // The name is too long, or has a zero byte.
        io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => ErrorClass::Invalid,
        _ => ErrorClass::Internal,
    }
}

fn of_roots(error: &RootsError) -> ErrorClass {
    match error {
        RootsError::Store(error) => of_store(error),
        RootsError::NoLabel { .. } | RootsError::NoThreads { .. } => ErrorClass::NotFound,
        RootsError::UntoldThreads { .. } => ErrorClass::Invalid,
    }
}

fn of_window(error: &WindowError) -> ErrorClass {
    match error {
        WindowError::Store(error) => of_store(error),
        WindowError::NoPhase { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_timeline(error: &TimelineError) -> ErrorClass {
    match error {
        TimelineError::Store(error) => of_store(error),
        TimelineError::Roots(error) => of_roots(error),
        TimelineError::Function(error) => of_function(error),
        TimelineError::NoRun { .. } | TimelineError::NoMetric { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_calls(error: &CallsError) -> ErrorClass {
    match error {
        CallsError::Store(error) => of_store(error),
        CallsError::Select(error) => of_select(error),
        CallsError::Window(error) => of_window(error),
        CallsError::NoRun { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_model(error: &ModelError) -> ErrorClass {
    match error {
        ModelError::Store(error) => of_store(error),
        ModelError::Window(error) => of_window(error),
        ModelError::Function(error) => of_function(error),
        ModelError::NoX { .. } | ModelError::NoBoth { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_history(error: &HistoryError) -> ErrorClass {
    match error {
        HistoryError::Store(error) => of_store(error),
        HistoryError::Function(error) => of_function(error),
        HistoryError::NoRuns { .. }
        | HistoryError::NoEvent { .. }
        | HistoryError::NoRun { .. }
        | HistoryError::NoMetric { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}

fn of_function(error: &FunctionError) -> ErrorClass {
    match error {
        FunctionError::NotFound { .. } => ErrorClass::NotFound,
        _ => ErrorClass::Invalid,
    }
}
