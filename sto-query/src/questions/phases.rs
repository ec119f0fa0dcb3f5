//! The phases of a run.

use crate::QueryError;
use crate::phases::{self, Phases};
use crate::sources::{BuildRef, Filter, Sources};
use serde::{Deserialize, Serialize};

/// Request for the phases of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct PhasesRequest {
    /// The profiles; the newest of several runs is used.
    #[serde(alias = "selector")]
    pub named: BuildRef,
    /// Filter of their runs, and the event. A time window is ignored.
    pub filter: Filter,
    /// Maximum number of phases; unlimited if `None`.
    pub limit: Option<usize>,
}

/// Finds the times at which a run changed its behaviour, and whether it repeats itself.
pub(super) fn phases(sources: &Sources, request: &PhasesRequest) -> Result<Phases, QueryError> {
    let filter = Filter {
        window: None,
        ..request.filter.clone()
    };
    let (run, sample_type) = sources.run_over_time(&request.named, &filter)?;
    Ok(phases::phases(run, sample_type, request.limit))
}
