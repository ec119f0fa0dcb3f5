//! The calls of traced runs.

use crate::QueryError;
use crate::calls::{self, Outliers, Waits};
use crate::sources::{BuildRef, Filter, Sources};
use serde::{Deserialize, Serialize};

/// Request for the unusually long calls of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct OutliersRequest {
    /// The profiles; the newest of several runs is used.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs.
    pub filter: Filter,
    /// Maximum number of stacks with outliers; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Finds the calls of a run that took unusually long for their function and callers, and what other
/// threads did meanwhile.
pub(super) fn outliers(
    sources: &Sources,
    request: &OutliersRequest,
) -> Result<Outliers, QueryError> {
    let run = sources.call_trace(&request.named, &request.filter)?;
    Ok(calls::outliers(&run, request.limit))
}

/// Request for the time that threads of a run waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct WaitsRequest {
    /// The profiles; the newest of several runs is used.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs.
    pub filter: Filter,
    /// Maximum number of functions, and of longest waits; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Finds the functions in which threads of a run waited, and what ended the longest waits.
pub(super) fn waits(sources: &Sources, request: &WaitsRequest) -> Result<Waits, QueryError> {
    let run = sources.call_trace(&request.named, &request.filter)?;
    Ok(calls::waits(&run, request.limit))
}
