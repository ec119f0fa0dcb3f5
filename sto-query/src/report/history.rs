//! The parts that reports on histories share.

use super::SampleTypeReport;
use crate::history::{FunctionIx, History, HistoryRun};
use crate::series::ChangePoint;
use serde::Serialize;

/// The runs that a report is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryReport {
    /// The program.
    pub executable: String,
    /// The benchmark; `None` for runs of any.
    pub benchmark: Option<String>,
    /// What was measured.
    pub sample_type: SampleTypeReport,
    /// Number of runs.
    pub runs: usize,
}

impl From<&History> for HistoryReport {
    fn from(history: &History) -> Self {
        HistoryReport {
            executable: history.executable.clone(),
            benchmark: history.benchmark.clone(),
            sample_type: SampleTypeReport::from(&history.sample_type),
            runs: history.runs.len(),
        }
    }
}

/// One run of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunReport {
    /// The build's version.
    pub build: String,
    /// Id of the profile.
    pub profile: String,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded: Option<String>,
}

impl From<&HistoryRun> for RunReport {
    fn from(run: &HistoryRun) -> Self {
        RunReport {
            build: run.build.version.clone(),
            profile: run.profile.id.to_string(),
            recorded: run
                .profile
                .profile
                .origin
                .recorded
                .map(|time| time.to_string()),
        }
    }
}

/// A function of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryFunctionReport {
    /// Its symbol as it is compared between builds.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
}

impl HistoryFunctionReport {
    pub(super) fn new(history: &History, function: FunctionIx) -> Self {
        let function = &history.functions[function.get()];
        HistoryFunctionReport {
            function: function.symbol.clone(),
            module: function.module.clone(),
        }
    }
}

/// A change for good.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangePointReport {
    /// Place of the first observation after the change, counted from 0.
    pub at: usize,
    /// The run that observation is of, or the first run of its build.
    #[serde(flatten)]
    pub run: RunReport,
    /// Mean from the change before to this one.
    pub before: f64,
    /// Mean from this change to the next.
    pub after: f64,
    /// Probability of means at least as far apart if nothing had changed.
    pub p: f64,
    /// Number of runs that the change rests on: from it to the next, or to the end.
    pub runs: usize,
}

impl ChangePointReport {
    pub(super) fn new(change: &ChangePoint, run: RunReport) -> Self {
        ChangePointReport {
            at: change.at,
            run,
            before: change.before,
            after: change.after,
            p: change.p,
            runs: change.runs,
        }
    }
}
