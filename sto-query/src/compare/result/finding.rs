//! What changed, and what explains it.

use crate::text::{Command, Date};
use serde::{Deserialize, Serialize};

/// One change, at the function that explains it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Finding {
    /// The function: its symbol as [`key_symbol`](crate::functions::key_symbol) leaves it.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Its source file, where known.
    pub file: Option<String>,
    /// The line of that file to look at first: of the function's lines, the one that costs most.
    /// `None` where lines are not known.
    pub line: Option<u32>,
    /// What happened.
    pub kind: FindingKind,
    /// The sentence that a person would read first.
    pub reason: String,
    /// Which count the finding rests on.
    pub basis: Basis,
    /// Samples that ended in the function.
    #[serde(rename = "self")]
    pub self_: Change,
    /// Samples that ended in the function, or in library code and unchanged modules that it called.
    pub attributed_self: Change,
    /// Samples whose stack has the function, each counted once.
    pub total: Change,
    /// The call paths to it whose cost changed with it, largest change first: three at most.
    pub call_paths: Vec<CallPath>,
    /// How many such paths there are beyond those.
    pub more_call_paths: usize,
    /// What the count that it rests on is in each run: attributed self, or else total.
    pub runs: RunCosts,
    /// Callers that got slower or faster because of it, innermost first.
    pub affected_callers: Vec<AffectedCaller>,
    /// What it calls that its attributed self has the cost of, library code and unchanged modules,
    /// where more than a tenth of the change is: three at most, the largest part first.
    pub attributed_callees: Vec<AttributedCallee>,
    /// Functions below it that changed because it calls them more, or less; largest change first.
    pub grown_callees: Vec<FunctionName>,
    /// In traces of calls, how often it was called; JSON leaves it out elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<CallChange>,
    /// For a moved function: where its cost is now.
    pub moved_to: Option<FunctionName>,
    /// For a moved function: where its cost was. For one that costs more or less, and has another name
    /// in the baseline: that name.
    pub moved_from: Option<FunctionName>,
    /// For a new function: the gone one of the same callers, at the same cost.
    pub replaces: Option<FunctionName>,
    /// For a function that is gone: the new one of the same callers, at the same cost.
    pub replaced_by: Option<FunctionName>,
    /// Whether it rests on the run-to-run variation of an earlier build, or on an assumed one.
    pub weak: bool,
    /// The command that shows the rest: a differential flame graph of the stacks that have it;
    /// empty where the caller names none.
    pub command: Command,
    /// Why it does not count for the verdict, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignored: Option<Ignored>,
}

impl Finding {
    /// Whether a release check fails for it: it got worse, and is not to be ignored.
    pub fn is_regression(&self) -> bool {
        self.kind.is_worse() && self.ignored.is_none()
    }

    /// Its rank among kinds: what got worse, what moved or was replaced, what got better, what is
    /// ignored.
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

    /// `FILE:LINE`, or the file alone; `None` where it is not known.
    pub fn location(&self) -> Option<String> {
        let file = self.file.as_ref()?;
        Some(match self.line {
            Some(line) => format!("{file}:{line}"),
            None => file.clone(),
        })
    }
}

/// A call path to a finding's function, and what the finding rests on there: the attributed self of
/// the function and its recursion below this path, or the total.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallPath {
    /// The functions, outermost first; the last is the finding's. Of more than 64, the 32 outermost
    /// and the 32 innermost.
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
    /// Normalised candidate / baseline; `None` where the baseline has no samples.
    pub change: Option<f64>,
}

/// Why a finding does not count for the verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Ignored {
    /// Why it is ignored, as the user says.
    pub reason: String,
    /// The last day on which it is.
    pub expires: Date,
}

impl Ignored {
    /// For this reason, up to and including that day.
    pub fn new(reason: &str, expires: Date) -> Ignored {
        Ignored {
            reason: reason.to_owned(),
            expires,
        }
    }
}

/// What happened to a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum FindingKind {
    /// It costs more.
    Regression,
    /// It costs less.
    Improvement,
    /// The baseline has no sample of it.
    New,
    /// The candidate has no sample of it.
    Gone,
    /// Its cost was in another function, or is in another now.
    Moved,
    /// It is new, or gone, and another function had, or has, its callers and its cost.
    Replaced,
}

impl FindingKind {
    /// As JSON names it.
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

    /// Whether it costs more than before.
    pub(crate) fn is_worse(self) -> bool {
        matches!(self, FindingKind::Regression | FindingKind::New)
    }

    /// Place among findings: what got worse, what moved, what got better.
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
    /// Its attributed self count changed.
    AttributedSelf,
    /// Its total count changed, and no function below it explains that.
    Total,
    /// Functions below it changed because it calls them more, or less.
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
    /// Normalised candidate / baseline; `None` where the baseline has no samples.
    pub change: Option<f64>,
    /// The least change that the test does not exclude, at a confidence of 1 - `alpha`; `None` if
    /// not tested.
    pub change_low: Option<f64>,
    /// The largest change that the test does not exclude; `None` if not tested, or without bound.
    pub change_high: Option<f64>,
    /// Probability of a change at least as large if nothing had changed; `None` if not tested.
    pub p: Option<f64>,
    /// `p` adjusted for the number of functions tested (Benjamini & Hochberg).
    pub q: Option<f64>,
}

/// How often a function was called, in a run on average. A call within another one of the same function does not count:
/// its time is that of the outer one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallChange {
    /// Calls in a run of the baseline.
    pub baseline: f64,
    /// Calls in a run of the candidate.
    pub candidate: f64,
    /// Candidate / baseline, divided by what that is for most functions: by how much more the candidate's runs had to
    /// do. `None` where a side never calls it.
    pub often: Option<f64>,
    /// What the change of the count that the finding rests on leaves for one call: how much longer each takes.
    pub each: Option<f64>,
}

/// What a function cost in each run, in the order of its side's profiles.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunCosts {
    /// In the runs of the baseline.
    pub baseline: Vec<RunCost>,
    /// In the runs of the candidate.
    pub candidate: Vec<RunCost>,
}

/// What a function cost in a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunCost {
    /// Its samples.
    pub samples: u64,
    /// Normalised, in units of what a run of the baseline costs on average: so the mean of the
    /// baseline's runs is the share that the function has there, and the candidate's is that times
    /// the change.
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
    /// Normalised candidate / baseline; `None` where the baseline has no samples.
    pub change: Option<f64>,
}

/// What a function calls, and has the cost of.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct AttributedCallee {
    /// The function; `None` where it is all of a module that no function stands out of.
    pub function: Option<String>,
    /// Its module.
    pub module: String,
    /// What the finding's function spends there: a share of the baseline's samples.
    pub baseline_share: f64,
    /// The same share of the candidate's samples.
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
