//! Datasets in programs that lack the feature `lake`: each function returns an error that says so.

use super::{ImportLakeRequest, LakeRequest};
use crate::QueryError;
use crate::exchange::AddedToLake;
use crate::maintain::Merges;
use crate::sources::{Environment, Sources};
use std::path::Path;
use sto_core::ingest::{IngestOutcome, PreparedFile, Stage};
use sto_core::store::{Merged, Store};
use sto_lake::places::Machine;

/// Would add profiles to a dataset.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn add_to_lake(_: &Sources, _: &LakeRequest, _: &Machine) -> Result<AddedToLake, QueryError> {
    Err(QueryError::WithoutParquet)
}

/// Would check that a dataset can be written.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn check_lake(_: &Path, _: &Machine) -> Result<(), QueryError> {
    Err(QueryError::WithoutParquet)
}

/// Would add a recording to a dataset.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn ingest_to_lake(
    _: PreparedFile,
    _: &Path,
    _: &Machine,
    _: &mut dyn FnMut(Stage),
) -> Result<IngestOutcome, QueryError> {
    Err(QueryError::WithoutParquet)
}

/// Would take profiles of a dataset into a store.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn import_lake(
    _: &Store,
    _: &dyn Environment,
    _: &ImportLakeRequest,
    _: &Machine,
    _: &mut dyn FnMut(&Merged),
) -> Result<Merges, QueryError> {
    Err(QueryError::WithoutParquet)
}
