//! Result of a bisection.

use crate::answer::Answer;
use serde::Serialize;
use sto_core::model::CommitHash;

/// State of the search for the first commit with a finding.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Bisection {
    /// The commit without the finding.
    pub good: CommitHash,
    /// The commit with the finding.
    pub bad: CommitHash,
    /// The program; `None` if nothing has been measured yet.
    pub executable: Option<String>,
    /// The benchmark; `None` for runs without one.
    pub benchmark: Option<String>,
    /// The finding; `None` if the bad commit has not been found to be worse than the good one.
    pub finding: Option<SoughtFinding>,
    /// Candidates for the first commit, starting with the bad one, descendants before ancestors.
    pub commits: Vec<BisectedCommit>,
    /// Number of runs of the good commit.
    pub good_runs: usize,
    /// Outcome, or the next step.
    pub state: BisectState,
}

impl Answer for Bisection {
    const SCHEMA: &'static str = "sto.bisect/1";
}

impl Bisection {
    /// Returns the most likely commit.
    pub fn likeliest(&self) -> Option<&BisectedCommit> {
        // Of equal ones, the first.
        let commits = self.commits.iter().rev();
        commits.max_by(|a, b| a.first.total_cmp(&b.first))
    }

    /// Returns the number of runs of all candidates and the good commit.
    pub fn runs(&self) -> usize {
        let runs = self.commits.iter().map(|commit| commit.runs);
        self.good_runs + runs.sum::<usize>()
    }
}

/// The finding whose first commit is sought.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SoughtFinding {
    /// The function that costs more; `None` for the total cost of a run.
    pub function: Option<String>,
    /// Reason that the release check gives for the bad commit.
    pub reason: String,
    /// Samples in a run of the bad commit, divided by samples in a run of the good commit.
    pub ratio: f64,
    /// Other functions that are worse in the bad commit, possibly because of other commits.
    pub others: Vec<String>,
}

/// A candidate for the first commit.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BisectedCommit {
    /// Commit id.
    pub hash: CommitHash,
    /// Number of runs.
    pub runs: usize,
    /// Probability of being the first, from 0 to 1.
    pub first: f64,
    /// Probability of having the finding.
    pub having: f64,
    /// Reason why it cannot be measured, if it cannot.
    pub skipped: Option<String>,
}

/// State of a bisection.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum BisectState {
    /// Another run is needed.
    Next(NextRun),
    /// The first commit was found with the requested probability.
    Found(CommitHash),
    /// The bad commit is not measurably worse than the good one.
    NothingToFind,
    /// No further run is informative.
    Undecided,
}

/// The most informative run.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct NextRun {
    /// The commit to measure.
    pub commit: CommitHash,
    /// Expected information about the first commit, in bits; `None` for a run of the good or bad commit, which
    /// determines the finding.
    pub information: Option<f64>,
}
