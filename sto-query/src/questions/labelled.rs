//! Runs of any programs and builds, by labels and time.

use crate::QueryError;
use crate::labelled::{CostOverTime, LabelSets, cost_over_time, label_sets};
use crate::select::LabelledRuns;
use crate::sources::{Filter, Sources};
use serde::{Deserialize, Serialize};
use sto_core::units::UnixSeconds;

/// Request for the distinct label sets of runs. It is an error if no run is selected.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct LabelSetsRequest(pub LabelledRuns);

pub(super) fn sets(sources: &Sources, request: &LabelSetsRequest) -> Result<LabelSets, QueryError> {
    Ok(label_sets(&sources.labelled(&request.0)?))
}

/// Request for the cost of runs over the time of day.
///
/// It is an error if no run is selected, or none of them has the event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct CostOverTimeRequest {
    /// The runs. Their time is extended to whole steps.
    pub runs: LabelledRuns,
    /// Event; by default the one that the newest run shows by default.
    pub event: Option<String>,
    /// The labels by whose values costs are added up; one sum of all runs if empty.
    pub group_by: Vec<String>,
    /// The length of a step in seconds, at least 1.
    pub step: u64,
}

impl Default for CostOverTimeRequest {
    fn default() -> CostOverTimeRequest {
        CostOverTimeRequest {
            runs: LabelledRuns::default(),
            event: None,
            group_by: Vec::new(),
            step: 60,
        }
    }
}

pub(super) fn over_time(
    sources: &Sources,
    request: &CostOverTimeRequest,
) -> Result<CostOverTime, QueryError> {
    let step = request.step.max(1);
    let mut runs = request.runs.clone();
    let begin = |time: UnixSeconds| UnixSeconds(time.0 - time.0 % step);
    let end = |time: UnixSeconds| UnixSeconds(time.0.div_ceil(step).saturating_mul(step));
    runs.since = runs.since.map(begin);
    runs.until = runs.until.map(end);
    let mut filter = Filter::default();
    filter.event.clone_from(&request.event);
    let (builds, sample_type) = sources.labelled_in_event(&runs, &filter)?;
    let cancel = &sources.context().cancel;
    let by = (step, &request.group_by[..]);
    let mut costs = cost_over_time(sources.store()?, &builds, &sample_type, by, cancel)?;
    let is_wanted = |time: UnixSeconds| {
        runs.since.is_none_or(|since| since <= time) && runs.until.is_none_or(|until| time < until)
    };
    for series in &mut costs.series {
        series.points.retain(|point| is_wanted(point.time));
    }
    costs.series.retain(|series| !series.points.is_empty());
    Ok(costs)
}
