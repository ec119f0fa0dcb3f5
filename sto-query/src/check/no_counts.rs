//! The check of counts in programs that lack the feature `lake`.

use super::{Check, CheckRequest};
use crate::QueryError;
use std::path::Path;

/// Would check counts that an engine summed.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn check_counts(_: &Path, _: &CheckRequest) -> Result<Check, QueryError> {
    Err(QueryError::WithoutParquet)
}
