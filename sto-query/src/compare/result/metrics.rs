//! Measurements of whole runs, on both sides.

use serde::{Deserialize, Serialize};
use sto_core::units::Unit;

/// The metric with the wall-clock seconds from a program's start to its end.
pub const SECONDS: &str = "seconds";

/// The name of the total cost of a run.
pub const TOTAL_COST: &str = "total-cost";

/// A measurement of each run, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MetricChange {
    /// The metric's name, or [`TOTAL_COST`].
    pub name: String,
    /// The metric that the values were divided by, which says how much work a run did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// The unit: `s` for [`SECONDS`], the event's unit for [`TOTAL_COST`]; `None` for others.
    pub unit: Option<MetricUnit>,
    /// Values in the baseline.
    pub baseline: Measured,
    /// Values in the candidate.
    pub candidate: Measured,
    /// Mean of the candidate / mean of the baseline; `None` if the baseline's mean is not above
    /// zero.
    pub change: Option<f64>,
    /// Probability of a difference at least as large if nothing had changed; `None` if no side has
    /// several runs.
    pub p: Option<f64>,
    /// `p` adjusted for the number of metrics that count (Holm); `None` if the metric does not
    /// count or was not tested.
    pub q: Option<f64>,
    /// The direction that counts as worse for the verdict.
    pub worse_if: WorseIf,
    /// The outcome of the test.
    pub outcome: MetricOutcome,
}

/// The unit of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MetricUnit {
    /// Seconds of time.
    #[serde(rename = "s")]
    Seconds,
    /// The unit of an event.
    #[serde(untagged)]
    Event(Unit),
}

/// A metric on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Measured {
    /// Number of runs that have the metric.
    pub runs: usize,
    /// Mean over these runs.
    pub mean: f64,
    /// Standard deviation; `None` for one run.
    pub deviation: Option<f64>,
}

/// The direction in which a change of a metric is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorseIf {
    /// Higher values are worse, as for time.
    Higher,
    /// Lower values are worse, as for requests per second.
    Lower,
    /// Neither; the metric is shown, but does not count.
    Never,
}

impl WorseIf {
    /// The name in JSON, policies and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            WorseIf::Higher => "higher",
            WorseIf::Lower => "lower",
            WorseIf::Never => "never",
        }
    }

    /// Returns the value with this name.
    pub fn from_name(name: &str) -> Option<WorseIf> {
        let all = [WorseIf::Higher, WorseIf::Lower, WorseIf::Never];
        all.into_iter().find(|known| known.name() == name)
    }
}

/// The outcome of the test of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MetricOutcome {
    /// The metric got significantly worse, by more than `min_effect`.
    Worse,
    /// The metric got significantly better, by more than `min_effect`.
    Better,
    /// The metric changed significantly, by more than `min_effect`, but neither direction is worse.
    Changed,
    /// The metric got worse, by an amount that [ignored](super::Finding::ignored) findings explain.
    Ignored,
    /// No significant change.
    Same,
    /// No side has several runs, so chance cannot be estimated.
    Untested,
}
