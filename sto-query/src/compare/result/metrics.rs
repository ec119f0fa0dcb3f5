//! What was measured of each run as a whole, on both sides.

use serde::{Deserialize, Serialize};
use sto_core::units::Unit;

/// The metric that recorded runs have: wall-clock seconds from a program's start to its end.
pub const SECONDS: &str = "seconds";

/// What all samples of a run stand for.
pub const TOTAL_COST: &str = "total-cost";

/// A number that was measured of each run, on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MetricChange {
    /// The metric's name, or [`TOTAL_COST`].
    pub name: String,
    /// What its numbers were divided by: the metric that says how much work a run did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per: Option<String>,
    /// The unit: `s` of [`SECONDS`], that of the event of [`TOTAL_COST`]; `None` of others.
    pub unit: Option<MetricUnit>,
    /// In the baseline.
    pub baseline: Measured,
    /// In the candidate.
    pub candidate: Measured,
    /// Mean of the candidate / mean of the baseline; `None` where the baseline's is not above zero.
    pub change: Option<f64>,
    /// Probability of a difference at least as large if nothing had changed; `None` where no side has
    /// several runs.
    pub p: Option<f64>,
    /// `p` adjusted for the number of metrics that count (Holm); `None` where it does not count, or
    /// was not tested.
    pub q: Option<f64>,
    /// Which change counts for the verdict.
    pub worse_if: WorseIf,
    /// What became of it.
    pub outcome: MetricOutcome,
}

/// What a metric counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum MetricUnit {
    /// Seconds of time.
    #[serde(rename = "s")]
    Seconds,
    /// What an event counts.
    #[serde(untagged)]
    Event(Unit),
}

/// A metric on one side.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Measured {
    /// Runs that have it.
    pub runs: usize,
    /// Its mean over them.
    pub mean: f64,
    /// Its standard deviation; `None` of one run.
    pub deviation: Option<f64>,
}

/// Which change of a metric is for the worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum WorseIf {
    /// More of it, as of time.
    Higher,
    /// Less of it, as of requests in a second.
    Lower,
    /// Neither: it is shown, and does not count.
    Never,
}

impl WorseIf {
    /// As JSON, policies and the command line name it.
    pub fn name(self) -> &'static str {
        match self {
            WorseIf::Higher => "higher",
            WorseIf::Lower => "lower",
            WorseIf::Never => "never",
        }
    }

    /// That of this name.
    pub fn of(name: &str) -> Option<WorseIf> {
        let all = [WorseIf::Higher, WorseIf::Lower, WorseIf::Never];
        all.into_iter().find(|known| known.name() == name)
    }
}

/// What became of a metric.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum MetricOutcome {
    /// It changed for the worse, significantly and by more than `min_effect`.
    Worse,
    /// The same, for the better.
    Better,
    /// The same, where neither direction is for the worse.
    Changed,
    /// The same as `Worse`, by what [ignored](super::Finding::ignored) findings explain.
    Ignored,
    /// None of these.
    Same,
    /// No side has several runs to show what chance does.
    Untested,
}
