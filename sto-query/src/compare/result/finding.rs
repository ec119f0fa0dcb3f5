//! Findings: changed functions, and the evidence for each change.

use super::NormalisationMethod;
use crate::functions::is_repository_file;
use crate::text::{Command, Date};
use serde::{Deserialize, Serialize};

/// A change, at the function that explains it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// The function's symbol, as returned by [`key_symbol`](crate::functions::key_symbol).
    pub function: String,
    /// The short form of its name, which no other function of the comparison's findings has.
    #[serde(skip)]
    pub(crate) short_name: String,
    /// Number of instances of a generic function or template that are counted as one, because none
    /// of them changed significantly, but their sum did. Omitted from JSON if 0: the finding is about
    /// a single function.
    #[serde(skip_serializing_if = "is_zero")]
    pub instances: usize,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// The function's source file, if known.
    pub file: Option<String>,
    /// The line of that file to look at first: the most expensive line of the function. `None` if
    /// lines are not known.
    pub line: Option<u32>,
    /// The nearest caller's source file in the repository, if the function's own is not there.
    #[serde(skip)]
    pub(crate) caller_file: Option<String>,
    /// The kind of change of the function.
    pub kind: FindingKind,
    /// A summary of the finding, as a sentence.
    pub reason: String,
    /// The count that the finding rests on.
    pub basis: Basis,
    /// Samples that ended in the function.
    #[serde(rename = "self")]
    pub self_: Change,
    /// Samples that ended in the function, or in library code and unchanged modules that it called.
    pub attributed_self: Change,
    /// Samples whose stacks contain the function, each counted once.
    pub total: Change,
    /// The call paths to the function whose cost changed with it, largest change first: three at
    /// most.
    pub call_paths: Vec<CallPath>,
    /// Number of such call paths that are left out.
    pub more_call_paths: usize,
    /// The count that the finding rests on (attributed self or total) for each run.
    pub runs: RunCosts,
    /// Callers that got slower or faster because of the function, innermost first.
    pub affected_callers: Vec<AffectedCaller>,
    /// Callees in library code and unchanged modules with more than a tenth of the change, whose
    /// cost is part of the function's attributed self: three at most, the largest share first.
    pub attributed_callees: Vec<AttributedCallee>,
    /// Callees that changed because the function calls them more or less often, largest change
    /// first.
    pub grown_callees: Vec<FunctionName>,
    /// How often the function was called, in traces of calls. Omitted from JSON otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallChange>,
    /// For a moved function, the function that has its cost now.
    pub moved_to: Option<FunctionName>,
    /// For a moved function, the function that had its cost before. For a renamed function that
    /// costs more or less, its name in the baseline.
    pub moved_from: Option<FunctionName>,
    /// For a new function, the gone one with the same callers and the same cost.
    pub replaces: Option<FunctionName>,
    /// For a gone function, the new one with the same callers and the same cost.
    pub replaced_by: Option<FunctionName>,
    /// Whether the finding rests on the variation between runs of an earlier build, or on an
    /// assumed one.
    pub weak: bool,
    /// The command that shows a differential flame graph of the stacks with the function; empty if
    /// the caller sets none.
    pub command: Command,
    /// Why the finding does not count for the verdict; `None` if it counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Ignored>,
}

impl Finding {
    /// Whether the finding makes a comparison a regression: it got worse, and is not ignored.
    pub fn is_regression(&self) -> bool {
        self.kind.is_worse() && self.ignored.is_none()
    }

    /// Sort rank of the finding: regressions, moved and replaced functions, improvements, ignored
    /// findings.
    pub(crate) fn rank(&self) -> u8 {
        match self.ignored {
            Some(_) => u8::MAX,
            None => self.kind.rank(),
        }
    }

    /// Whether the candidate has no sample of the function.
    pub fn is_gone(&self) -> bool {
        self.total.candidate_samples == 0
    }

    /// Returns the file and line in the program's repository that an annotation can point to.
    pub(crate) fn annotated_place(&self) -> Option<(&str, Option<u32>)> {
        let own = self.file.as_deref().filter(|file| is_repository_file(file));
        let own = own.map(|file| (file, self.line));
        own.or_else(|| Some((self.caller_file.as_deref()?, None)))
    }

    /// Returns `FILE:LINE`, or only the file if the line is not known; `None` if the file is not
    /// known.
    pub fn location(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}

/// A change that was found under one assumption about the work of the runs, and not under the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Undecided {
    /// The method that found it: choosing it counts the change.
    #[serde(flatten)]
    pub method: NormalisationMethod,
    /// The change, normalised by that method.
    pub finding: Finding,
}

/// A call path to a finding's function, with the count that the finding rests on there: the
/// attributed self of the function and its recursion below this path, or the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallPath {
    /// The functions, outermost first; the last is the finding's. Of more than 64 functions, the 32
    /// outermost and the 32 innermost.
    pub stack: Vec<FunctionName>,
    /// Number of functions that are left out in the middle.
    pub omitted: usize,
    /// Share of the baseline's samples, from 0 to 1.
    pub baseline_share: f64,
    /// Share of the candidate's samples.
    pub candidate_share: f64,
    /// Samples in all runs of the baseline.
    pub baseline_samples: u64,
    /// Samples in all runs of the candidate.
    pub candidate_samples: u64,
    /// Normalised candidate / baseline; `None` if the baseline has no samples.
    pub change: Option<f64>,
}

/// Why a finding does not count for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Ignored {
    /// The reason given by the user.
    pub reason: String,
    /// The last day on which the finding is ignored.
    pub expires: Date,
}

impl Ignored {
    /// Ignores a finding for this reason, up to and including that day.
    pub fn new(reason: &str, expires: Date) -> Ignored {
        Ignored {
            reason: reason.to_owned(),
            expires,
        }
    }
}

/// Kind of change of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FindingKind {
    /// The function costs more.
    Regression,
    /// The function costs less.
    Improvement,
    /// The baseline has no samples of the function.
    New,
    /// The candidate has no samples of the function.
    Gone,
    /// The cost moved from or to another function.
    Moved,
    /// The function is new or gone, and replaces or was replaced by another one with the same
    /// callers and cost.
    Replaced,
}

impl FindingKind {
    /// The name of the kind in JSON.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Regression => "regression",
            FindingKind::Improvement => "improvement",
            FindingKind::New => "new",
            FindingKind::Gone => "gone",
            FindingKind::Moved => "moved",
            FindingKind::Replaced => "replaced",
        }
    }

    /// Whether the function costs more than before.
    pub(crate) fn is_worse(self) -> bool {
        matches!(self, FindingKind::Regression | FindingKind::New)
    }

    /// Sort rank of the kind: regressions, moved functions, improvements.
    pub(crate) fn rank(self) -> u8 {
        match self {
            FindingKind::Regression | FindingKind::New => 0,
            FindingKind::Moved | FindingKind::Replaced => 1,
            FindingKind::Improvement | FindingKind::Gone => 2,
        }
    }
}

/// The count that a finding rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Basis {
    /// The attributed self count changed.
    AttributedSelf,
    /// The total count changed, and no function below explains that.
    Total,
    /// Callees changed because the function calls them more or less often.
    Calls,
}

/// A count on both sides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// Share of the baseline's samples, from 0 to 1.
    pub baseline_share: f64,
    /// Share of the candidate's samples.
    pub candidate_share: f64,
    /// Samples in all runs of the baseline.
    pub baseline_samples: u64,
    /// Samples in all runs of the candidate.
    pub candidate_samples: u64,
    /// Mean cost of a run of the baseline, or of a unit of its work, in the event's unit; of a
    /// second if parts of runs are compared. `None` if only shares are compared.
    pub baseline_cost: Option<f64>,
    /// Normalised cost of the candidate: `baseline_cost` times `change`.
    pub candidate_cost: Option<f64>,
    /// Normalised candidate / baseline; `None` if the baseline has no samples.
    pub change: Option<f64>,
    /// Lower bound of the confidence interval of the change, at a confidence of 1 - `alpha`; `None`
    /// if not tested.
    pub change_low: Option<f64>,
    /// Upper bound of the confidence interval; `None` if not tested or unbounded.
    pub change_high: Option<f64>,
    /// Probability of a change at least as large if nothing had changed; `None` if not tested.
    pub p: Option<f64>,
    /// `p` adjusted for the number of functions tested (Benjamini & Hochberg).
    pub q: Option<f64>,
}

/// Mean number of calls of a function in a run. Calls within another call of the same function do
/// not count, as their time is part of the outer one's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallChange {
    /// Calls in a run of the baseline.
    pub baseline: f64,
    /// Calls in a run of the candidate.
    pub candidate: f64,
    /// Candidate / baseline, divided by the median of that ratio over all functions, which is how
    /// much more work the candidate's runs had. `None` if a side never calls the function.
    pub often: Option<f64>,
    /// Change of the cost per call: the change of the count that the finding rests on, divided by
    /// `often`.
    pub each: Option<f64>,
}

/// The cost of a function in each run, in the order of its side's profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunCosts {
    /// Costs in the baseline's runs.
    pub baseline: Vec<RunCost>,
    /// Costs in the candidate's runs.
    pub candidate: Vec<RunCost>,
}

/// The cost of a function in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunCost {
    /// Number of samples.
    pub samples: u64,
    /// Normalised cost, as a multiple of the mean cost of a baseline run. The mean over the
    /// baseline's runs is the function's share there; the candidate's mean is that share times the
    /// change.
    pub cost: f64,
}

/// A caller that inherits a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AffectedCaller {
    /// The function.
    pub function: String,
    /// Its module.
    pub module: String,
    /// Total share of the baseline's samples.
    pub baseline_share: f64,
    /// Total share of the candidate's samples.
    pub candidate_share: f64,
    /// Normalised candidate / baseline; `None` if the baseline has no samples.
    pub change: Option<f64>,
}

/// A callee whose cost is attributed to the function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AttributedCallee {
    /// The callee; `None` for a whole module in which no single function dominates.
    pub function: Option<String>,
    /// Its module.
    pub module: String,
    /// Share of the baseline's samples that the finding's function spends there.
    pub baseline_share: f64,
    /// Share of the candidate's samples that the finding's function spends there.
    pub candidate_share: f64,
}

/// A function's name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionName {
    /// The function.
    pub function: String,
    /// Its module.
    pub module: String,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
