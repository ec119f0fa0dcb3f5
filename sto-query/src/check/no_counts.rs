//! Stub for programs without the feature `lake`.

use super::benchmarks::Check;
use super::request::CheckRequest;
use crate::QueryError;
use crate::sources::Context;
use std::path::Path;

pub(super) fn check_counts(_: &Path, _: &CheckRequest, _: &Context) -> Result<Check, QueryError> {
    Err(QueryError::WithoutParquet)
}
