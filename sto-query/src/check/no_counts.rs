//! Stub for programs without the feature `lake`.

use super::{Check, CheckRequest};
use crate::QueryError;
use std::path::Path;

/// Checks counts that a query engine computed.
///
/// # Errors
/// Always returns [`QueryError::WithoutParquet`].
pub fn check_counts(_: &Path, _: &CheckRequest) -> Result<Check, QueryError> {
    Err(QueryError::WithoutParquet)
}
