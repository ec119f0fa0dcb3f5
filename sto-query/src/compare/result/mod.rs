//! The result of a comparison, as plain data for reports.

mod finding;
mod metrics;
mod options;
mod stacks;

pub use stacks::{StackNode, Stacks};

pub use metrics::{Measured, MetricUnit};

pub use finding::{
    AffectedCaller, AttributedCallee, CallChange, FunctionName, RunCosts, Undecided,
};

pub use finding::{Basis, CallPath, Change, Finding, FindingKind, Ignored, RunCost};
pub use metrics::{MetricChange, MetricOutcome, SECONDS, TOTAL_COST, WorseIf};
pub(crate) use options::Thresholds;
pub use options::{CompareError, CompareOptions, IgnoredFunction};

use crate::answer::Answer;
pub use crate::answer::Verdict;
use crate::functions::Matching;
use crate::models::ModelChanges;
use crate::text::Command;
use crate::tree::RunWindow;
use serde::{Deserialize, Serialize};
use sto_core::units::{Nanoseconds, SampleType, Unit};

/// The outcome of [`compare`](super::compare).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// The benchmark whose runs are compared; `None` for runs of any benchmark, or of none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The policy file with the thresholds and ignored functions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Whether the candidate got worse.
    pub verdict: Verdict,
    /// The verdict and its reason, as a sentence.
    pub reason: String,
    /// The side that is compared against.
    pub baseline: Side,
    /// The side that is judged.
    pub candidate: Side,
    /// The sample type that is compared; `None` if the sides have none in common.
    pub sample_type: Option<SampleType>,
    /// The period of a sample in traces of calls, whose time was measured instead of sampled.
    /// Omitted from JSON otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_in: Option<Nanoseconds>,
    /// Measurements of whole runs: time first, then total cost, then others by name.
    pub metrics: Vec<MetricChange>,
    /// Statistics of the tests; `None` if there was nothing to test.
    pub statistics: Option<Statistics>,
    /// Modules whose code did not change, sorted. Their cost is attributed to their callers.
    pub unchanged_modules: Vec<String>,
    /// The thresholds.
    #[serde(serialize_with = "Thresholds::serialize")]
    #[cfg_attr(feature = "schemas", schemars(with = "Thresholds"))]
    pub thresholds: CompareOptions,
    /// How functions of the two builds were matched.
    pub matching: Matching,
    /// Whether the sides are parts of the same runs. Costs are then compared per second. Omitted
    /// from JSON if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub within_runs: bool,
    /// Whether the variation between runs comes from an earlier build or is an assumption, because
    /// no side has several runs.
    pub weak: bool,
    /// The findings: regressions and new functions first, then moved and replaced ones, then
    /// improvements and gone ones; among them, the largest explained change first.
    pub findings: Vec<Finding>,
    /// Changes that were found under one assumption only: that most functions are unchanged, or that
    /// each run did the same work. They do not count for the verdict. Omitted from JSON if empty.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<Undecided>,
    /// Functions whose cost scales differently with the input size; `None` if not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curves: Option<ModelChanges>,
    /// Warnings about what weakens the comparison, as sentences.
    pub warnings: Vec<String>,
    /// The command that repeats this comparison; empty if the caller sets none.
    pub command: Command,
    /// All tested functions, the largest share of total first; `None` if not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<TestedFunction>>,
    /// The stacks of both sides, for drawings; `None` if not requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stacks: Option<Stacks>,
}

impl Comparison {
    /// Returns the unit of the event that is compared.
    pub(crate) fn unit(&self) -> Unit {
        self.sample_type.as_ref().map_or(Unit::Samples, |t| t.unit)
    }

    /// Returns the cost of a run of the candidate relative to one of the baseline, after the
    /// normalisation that the sizes of changes rest on.
    pub fn normalised_growth(&self) -> Option<f64> {
        let Normalisation {
            candidate_cost,
            candidate_size,
            also_per_run,
            ..
        } = self.statistics.as_ref()?.normalisation;
        let size = if also_per_run { 1.0 } else { candidate_size };
        Some(candidate_cost / size)
    }

    /// Returns the name of the benchmark, for tables of several comparisons.
    pub fn benchmark_name(&self) -> &str {
        self.benchmark.as_deref().unwrap_or("(none)")
    }
}

impl Answer for Comparison {
    const SCHEMA: &'static str = "sto.find-regressions/1";
}

/// A function that was tested, whether it changed or not.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct TestedFunction {
    /// The function's symbol, as returned by [`key_symbol`](crate::functions::key_symbol).
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// The function's source file, if known.
    pub file: Option<String>,
    /// Samples that ended in the function.
    #[serde(rename = "self")]
    pub self_: Change,
    /// Samples that ended in the function, or in library code and unchanged modules that it called.
    pub attributed_self: Change,
    /// Samples whose stacks contain the function, each counted once.
    pub total: Change,
}

impl Verdict {
    /// Returns the verdict over several comparisons: a regression if any is one, otherwise
    /// insufficient if any is or if the list is empty.
    pub(crate) fn combine(comparisons: &[Comparison]) -> Verdict {
        let has = |verdict| comparisons.iter().any(|c| c.verdict == verdict);
        match (has(Verdict::Regression), has(Verdict::Insufficient)) {
            (true, _) => Verdict::Regression,
            (false, true) => Verdict::Insufficient,
            (false, false) if comparisons.is_empty() => Verdict::Insufficient,
            (false, false) => Verdict::Clean,
        }
    }
}

/// One side of a comparison.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Side {
    /// The executable.
    pub executable: String,
    /// The build's version.
    pub build: String,
    /// GNU build id of the main program.
    pub gnu_build_id: Option<String>,
    /// Revision of the working tree that the build was ingested from.
    pub revision: Option<String>,
    /// Number of runs that have samples of the event.
    pub runs: usize,
    /// Number of samples of the event in these runs.
    pub samples: u64,
    /// The cost that the samples stand for, in the event's unit.
    pub value: u64,
    /// Number of all calls in these runs, for traces of calls. Omitted from JSON otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Hosts that the runs were recorded on, sorted.
    pub hosts: Vec<String>,
    /// Time at which the oldest run was recorded, in RFC 3339 format.
    pub first_recorded: Option<String>,
    /// Time at which the newest run was recorded, in RFC 3339 format.
    pub last_recorded: Option<String>,
    /// Share of samples without a symbol, from 0 to 1.
    pub unresolved_share: f64,
    /// Share of samples with truncated stacks.
    pub truncated_share: f64,
    /// Share of events that were dropped while recording.
    pub lost_share: f64,
    /// These runs, in the order of [`Finding::runs`].
    pub profiles: Vec<Run>,
}

impl Side {
    /// Whether the side is a single run that is a trace of calls.
    pub(crate) fn is_one_trace(&self) -> bool {
        self.calls.is_some() && self.profiles.len() == 1
    }

    /// Returns the parts of the runs' time that are compared; empty if runs are compared as a
    /// whole.
    pub(crate) fn windows(&self) -> Vec<RunWindow> {
        let mut runs: Vec<&Run> = self.profiles.iter().collect();
        runs.dedup_by_key(|run| &run.profile);
        runs.iter().filter_map(|run| run.window.clone()).collect()
    }
}

/// A run that has samples of the event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Run {
    /// Id of the run's profile.
    pub profile: String,
    /// Time at which the run was recorded, in RFC 3339 format.
    pub recorded: Option<String>,
    /// Host on which the run was recorded.
    pub host: Option<String>,
    /// Number of samples of the event.
    pub samples: u64,
    /// Factor that counts were divided by to make runs comparable; `None` if nothing was compared.
    pub size_factor: Option<f64>,
    /// The part of the run's time that this is. Omitted from JSON for whole runs. A run may be
    /// listed several times, in parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window: Option<RunWindow>,
}

/// How the sides were tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Statistics {
    /// How counts of different runs were made comparable.
    pub normalisation: Normalisation,
    /// How much counts vary between runs.
    pub dispersion: Dispersion,
    /// How much was tested.
    pub tested: Tested,
    /// Samples and runs needed to detect the smallest requested effect.
    pub needed: Needed,
}

/// How counts of different runs were made comparable.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Normalisation {
    /// The method.
    #[serde(flatten)]
    pub method: NormalisationMethod,
    /// Whether findings were also found per run, which their changes then refer to, because nothing
    /// shows whether each run did the same work. Omitted from JSON if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub also_per_run: bool,
    /// Whether costs are compared per run because the recordings show that each run did the same
    /// work. Omitted from JSON if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_same_work: bool,
    /// Number of functions that the size factors rest on.
    pub functions: usize,
    /// Cost of an unchanged function in a candidate run, relative to its cost in a baseline run: 1
    /// if each run did the same work.
    pub candidate_size: f64,
    /// Cost of a candidate run, relative to the cost of a baseline run.
    pub candidate_cost: f64,
}

/// A method that makes counts of different runs comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "metric", rename_all = "kebab-case")]
pub enum NormalisationMethod {
    /// Trimmed mean of M values ([`tmm`](crate::statistics::tmm)), assuming that most functions did
    /// not change. If too few functions have enough samples,
    /// [`PerRun`](NormalisationMethod::PerRun) is used instead.
    #[default]
    Tmm,
    /// Divides by the samples of each run, so that shares are compared.
    Total,
    /// Compares costs in the event's unit, assuming that each run did the same work.
    PerRun,
    /// Compares costs per unit of this metric, which says how much work a run did. Every profile
    /// must have it.
    PerMetric(String),
}

/// Variation of counts between runs beyond Poisson: variance = mean + dispersion x mean^2. The
/// median over the tested functions.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dispersion {
    /// Dispersion of self counts.
    #[serde(rename = "self")]
    pub self_: f64,
    /// Dispersion of total counts.
    pub total: f64,
    /// Whether the dispersion was estimated from the runs of a side.
    pub estimated: bool,
    /// The earlier build that the dispersion was estimated from if no side has several runs. If
    /// `None` and not `estimated`, the dispersion is an assumption.
    pub earlier_build: Option<String>,
}

/// How much was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Tested {
    /// Number of distinct functions on either side.
    pub functions: usize,
    /// Number of functions on both sides.
    pub shared: usize,
    /// Number of functions whose self count was tested.
    #[serde(rename = "self")]
    pub self_: usize,
    /// Number of functions whose total count was tested.
    pub total: usize,
}

/// Samples and runs needed to detect `min_effect` in a function with a tenth of the samples, at
/// `alpha` and with a power of 80 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Needed {
    /// Samples per side.
    pub samples: u64,
    /// Runs per side.
    pub runs: u64,
}

/// Rounds to six significant digits, because further digits depend on the platform's `ln`.
pub(crate) fn round_for_output(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
