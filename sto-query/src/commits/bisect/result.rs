//! What is known of which commit made a finding.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::model::CommitHash;

/// What is known of which commit is the first that has a finding.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bisection {
    /// The commit that has it not.
    pub good: CommitHash,
    /// The commit that has it.
    pub bad: CommitHash,
    /// The program; `None` where nothing was measured yet.
    pub executable: Option<String>,
    /// The benchmark; `None` of runs that name none.
    pub benchmark: Option<String>,
    /// What is sought; `None` where the bad commit was not found to be worse than the good one, or not yet.
    pub finding: Option<SoughtFinding>,
    /// The commits that may be the first, the bad one before the others, each before those that it follows.
    pub commits: Vec<BisectedCommit>,
    /// Number of runs of the good commit.
    pub good_runs: usize,
    /// Whether it was found, or what to do next.
    pub state: BisectState,
}

impl Answer for Bisection {
    const SCHEMA: &'static str = "sto.bisect/1";
}

impl Bisection {
    /// The likeliest commit.
    pub fn likeliest(&self) -> Option<&BisectedCommit> {
        // Of equals the first.
        let commits = self.commits.iter().rev();
        commits.max_by(|a, b| a.first.total_cmp(&b.first))
    }

    /// The number of runs of all of these commits.
    pub fn runs(&self) -> usize {
        let runs = self.commits.iter().map(|commit| commit.runs);
        self.good_runs + runs.sum::<usize>()
    }
}

/// What is sought.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SoughtFinding {
    /// The function that costs more; `None` where it is a run as a whole.
    pub function: Option<String>,
    /// What a release check says of the bad commit.
    pub reason: String,
    /// Samples of a run of the bad commit / samples of a run of the good one.
    pub ratio: f64,
    /// Other functions that the bad commit made worse, which may be the work of other commits.
    pub others: Vec<String>,
}

/// A commit that may be the first.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BisectedCommit {
    /// Its id.
    pub hash: CommitHash,
    /// Number of its runs.
    pub runs: usize,
    /// The probability that it is the first, from 0 to 1.
    pub first: f64,
    /// The probability that it has the finding.
    pub having: f64,
    /// Why it cannot be measured, if so.
    pub skipped: Option<String>,
}

/// How far it is.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectState {
    /// A run is to be made.
    Next(NextRun),
    /// This is the first commit, as surely as was asked for.
    Found(CommitHash),
    /// The bad commit is not worse than the good one, as far as their runs tell.
    NothingToFind,
    /// No run that could be made tells more.
    Undecided,
}

/// The run that tells most.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NextRun {
    /// The commit to measure.
    pub commit: CommitHash,
    /// Bits that it is expected to tell of which commit is the first; `None` of a run of the good or bad commit, which
    /// says what is sought.
    pub information: Option<f64>,
}
