//! The phases of a run.

use crate::QueryError;
use crate::phases::{self, Phases};
use crate::sources::{Filter, Named, Sources};
use serde::{Deserialize, Serialize};

/// The phases of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct PhasesRequest {
    /// The profiles; of several runs the newest is taken.
    pub named: Named,
    /// Which of their runs, and by which event; phases are those of all of the run's time.
    pub filter: Filter,
    /// The most phases to list; all without it.
    pub limit: Option<usize>,
}

/// Says when a run did something else than before, and whether it repeats itself.
///
/// # Errors
/// As [`Sources::run_over_time`].
pub fn phases(sources: &Sources, request: &PhasesRequest) -> Result<Phases, QueryError> {
    let filter = Filter {
        window: None,
        ..request.filter.clone()
    };
    let (run, sample_type) = sources.run_over_time(&request.named, &filter)?;
    Ok(phases::phases(run, sample_type, request.limit))
}
