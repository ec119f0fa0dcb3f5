//! What a comparison says, as plain data: everything that a report needs.

mod finding;
mod metrics;
mod options;
mod stacks;

pub(crate) use finding::{AffectedCaller, AttributedCallee, CallChange, FunctionName, RunCosts};
pub use finding::{Basis, CallPath, Change, Finding, FindingKind, Ignored, RunCost};
pub(crate) use metrics::{Measured, MetricUnit};
pub use metrics::{MetricChange, MetricOutcome, SECONDS, TOTAL_COST, WorseIf};
pub(crate) use options::Thresholds;
pub use options::{CompareError, CompareOptions, IgnoredFunction};
pub(crate) use stacks::{StackNode, Stacks};

use crate::answer::Answer;
pub use crate::answer::Verdict;
use crate::functions::Matching;
use crate::models::ModelChanges;
use crate::text::Command;
use crate::tree::RunWindow;
use serde::{Deserialize, Serialize};
use sto_core::units::{Nanoseconds, SampleType};

/// The outcome of [`compare`](super::compare).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Comparison {
    /// The benchmark whose runs are compared; `None` where runs of any benchmark are, or those that
    /// name none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub benchmark: Option<String>,
    /// The policy file that thresholds and ignored functions come from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// Whether the candidate got worse.
    pub verdict: Verdict,
    /// The verdict as a sentence, with what it rests on.
    pub reason: String,
    /// The side that is compared against.
    pub baseline: Side,
    /// The side that is judged.
    pub candidate: Side,
    /// What is compared; `None` where the sides share none.
    pub sample_type: Option<SampleType>,
    /// In a trace of calls, whose time was not sampled but measured: what counts as a sample here. JSON leaves it out
    /// elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counted_in: Option<Nanoseconds>,
    /// What was measured of each run as a whole: time first, then total cost, then others by name.
    pub metrics: Vec<MetricChange>,
    /// How it was tested; `None` where there was nothing to test.
    pub statistics: Option<Statistics>,
    /// Modules that cannot have changed: their cost is attributed to their callers. Sorted.
    pub unchanged_modules: Vec<String>,
    /// The thresholds.
    #[serde(serialize_with = "Thresholds::serialize")]
    #[cfg_attr(feature = "schemas", schemars(with = "Thresholds"))]
    pub thresholds: CompareOptions,
    /// How functions of the two builds were matched.
    pub matching: Matching,
    /// Whether the sides are parts of the same runs' time: what is compared is then the cost of a second. JSON leaves it
    /// out where they are not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub within_runs: bool,
    /// Whether the run-to-run variation is that of an earlier build, or an assumption, because no side
    /// has several runs.
    pub weak: bool,
    /// What changed: regressions and new functions first, then moved and replaced ones, then
    /// improvements and gone ones; the largest explained change first among them.
    pub findings: Vec<Finding>,
    /// Functions whose cost grows otherwise than it did with what runs were given, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curves: Option<ModelChanges>,
    /// Whole sentences about what weakens the comparison.
    pub warnings: Vec<String>,
    /// The command that makes this comparison again; empty where the caller names none.
    pub command: Command,
    /// Every function that was tested, the largest share of total first, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<TestedFunction>>,
    /// The stacks of both sides, where that was asked for. They are for drawings: JSON leaves them
    /// out.
    #[serde(skip)]
    pub stacks: Option<Stacks>,
}

impl Comparison {
    /// What is compared, among several: the benchmark's name.
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
    /// The function: its symbol as [`key_symbol`](crate::functions::key_symbol) leaves it.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Its source file, where known.
    pub file: Option<String>,
    /// Samples that ended in the function.
    #[serde(rename = "self")]
    pub self_: Change,
    /// Samples that ended in the function, or in library code and unchanged modules that it called.
    pub attributed_self: Change,
    /// Samples whose stack has the function, each counted once.
    pub total: Change,
}

impl Verdict {
    /// The verdict over several comparisons: a regression in one is one of all; without, too little
    /// data in one is too little for all. No comparison at all is too little data.
    pub(crate) fn over(comparisons: &[Comparison]) -> Verdict {
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
    /// Revision of the work tree it was ingested from.
    pub revision: Option<String>,
    /// Number of runs that have samples of the event.
    pub runs: usize,
    /// Their samples of the event.
    pub samples: u64,
    /// What the samples stand for, in the event's unit.
    pub value: u64,
    /// All calls of these runs, in traces of calls; JSON leaves it out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<u64>,
    /// Hosts that the runs were recorded on. Sorted.
    pub hosts: Vec<String>,
    /// When the oldest run was recorded, as RFC 3339 writes it.
    pub first_recorded: Option<String>,
    /// When the newest run was recorded.
    pub last_recorded: Option<String>,
    /// Share of samples without a symbol, from 0 to 1.
    pub unresolved_share: f64,
    /// Share of samples whose stack was cut before its root.
    pub truncated_share: f64,
    /// Share of events that were dropped while recording.
    pub lost_share: f64,
    /// Those runs, in the order of [`Finding::runs`].
    pub profiles: Vec<Run>,
}

impl Side {
    /// Whether it is one run, a trace of calls.
    pub(crate) fn is_one_trace(&self) -> bool {
        self.calls.is_some() && self.profiles.len() == 1
    }

    /// What was taken of each run's time; empty where it is all of it.
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
    /// Id of its profile.
    pub profile: String,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded: Option<String>,
    /// Where it was recorded.
    pub host: Option<String>,
    /// Its samples of the event.
    pub samples: u64,
    /// What its counts were divided by, to compare them with those of other runs; `None` where
    /// nothing was compared.
    pub size_factor: Option<f64>,
    /// What was taken of its time, or what this is a part of where a run stands here several times, in parts; JSON
    /// leaves it out where it is all of it.
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
    /// What it takes to see the smallest effect that is asked for.
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
    /// Functions that the size factors rest on.
    pub functions: usize,
    /// What a function that did not change costs in a candidate run, in units of its cost in a
    /// baseline run: 1 where each run did the same work.
    pub candidate_size: f64,
    /// What everything costs in a candidate run, in units of its cost in a baseline run.
    pub candidate_cost: f64,
}

/// What makes counts of different runs comparable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(tag = "method", content = "metric", rename_all = "kebab-case")]
pub enum NormalisationMethod {
    /// Trimmed mean of M values ([`tmm`](crate::statistics::tmm)): most functions did not change.
    /// Where too few functions have enough samples, [`PerRun`](NormalisationMethod::PerRun) is used instead.
    #[default]
    Tmm,
    /// Samples of each run: shares are compared.
    Total,
    /// Cost in the event's unit: each run did the same work.
    PerRun,
    /// Cost for a unit of this metric, which each profile has: a run did as much work as it says.
    PerMetric(String),
}

/// How much counts vary between runs beyond Poisson: variance = mean + dispersion x mean^2. The
/// median over the functions that were tested.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Dispersion {
    /// Of self counts.
    #[serde(rename = "self")]
    pub self_: f64,
    /// Of total counts.
    pub total: f64,
    /// Whether it was estimated from the runs of a side.
    pub estimated: bool,
    /// The earlier build that it was estimated from instead, as no side has several runs; without
    /// one, it is an assumption.
    pub earlier_build: Option<String>,
}

/// How much was tested.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Tested {
    /// Distinct functions on either side.
    pub functions: usize,
    /// Functions on both sides.
    pub shared: usize,
    /// Functions whose self count was tested.
    #[serde(rename = "self")]
    pub self_: usize,
    /// Functions whose total count was tested.
    pub total: usize,
}

/// What it takes to see `min_effect` in a function that holds a tenth of the samples, at `alpha`
/// and with a chance of 80 %.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Needed {
    /// Samples a side.
    pub samples: u64,
    /// Runs a side.
    pub runs: u64,
}

/// Six significant digits: more would only show how this machine's logarithm rounds.
pub(crate) fn rounded(number: f64) -> f64 {
    format!("{number:.5e}").parse().unwrap_or(number)
}
