//! The parts that reports on histories share.

use crate::history::{History, HistoryRun};
use serde::{Deserialize, Serialize};
use sto_core::units::SampleType;

/// The runs that a report is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistorySubject {
    /// The program.
    pub executable: String,
    /// The benchmark; `None` for runs of any.
    pub benchmark: Option<String>,
    /// What was measured.
    pub sample_type: SampleType,
    /// Number of runs.
    pub runs: usize,
}

impl From<&History> for HistorySubject {
    fn from(history: &History) -> Self {
        HistorySubject {
            executable: history.executable.clone(),
            benchmark: history.benchmark.clone(),
            sample_type: history.sample_type.clone(),
            runs: history.runs.len(),
        }
    }
}

/// One run of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RunSummary {
    /// The build's version.
    pub build: String,
    /// Id of the profile.
    pub profile: String,
    /// When it was recorded, as RFC 3339 writes it.
    pub recorded: Option<String>,
}

impl From<&HistoryRun> for RunSummary {
    fn from(run: &HistoryRun) -> Self {
        RunSummary {
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
