//! What the threads of a traced run called.

use crate::QueryError;
use crate::calls::{self, Outliers, Waits};
use crate::sources::{Filter, Named, Sources};
use serde::{Deserialize, Serialize};

/// The calls of a run that took unusually long.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct OutliersRequest {
    /// The profiles; of several runs the newest is taken.
    pub named: Named,
    /// Which of their runs.
    pub filter: Filter,
    /// The most stacks whose outliers are listed; all without it.
    pub limit: Option<usize>,
}

/// Says which calls of a run took unusually long for their function and callers, and what other threads did then.
///
/// # Errors
/// As [`Sources::called_run`].
pub fn outliers(sources: &Sources, request: &OutliersRequest) -> Result<Outliers, QueryError> {
    let run = sources.called_run(&request.named, &request.filter)?;
    Ok(calls::outliers(&run, request.limit))
}

/// The time in which threads of a run waited.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct WaitsRequest {
    /// The profiles; of several runs the newest is taken.
    pub named: Named,
    /// Which of their runs.
    pub filter: Filter,
    /// The most functions, and the most of the longest waits; all without it.
    pub limit: Option<usize>,
}

/// Says in what functions threads of a run waited, and what ended the longest waits.
///
/// # Errors
/// As [`Sources::called_run`].
pub fn waits(sources: &Sources, request: &WaitsRequest) -> Result<Waits, QueryError> {
    let run = sources.called_run(&request.named, &request.filter)?;
    Ok(calls::waits(&run, request.limit))
}
