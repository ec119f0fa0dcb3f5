//! Functions of a run that deviate from the expectation set by earlier runs, with explanations: their history, the
//! contexts in which they differ, and the stacks of both sides.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.1, and appendix B,
//! which calls them candidates: functions that may have caused an observed change.
//!
//! See [the manual](crate::manual::suspects).

mod contexts;
mod stacks;

use crate::answer::Answer;
use crate::compare::Stacks;
use crate::expand::{Expansion, GreedySelection};
use crate::functions::KeyOptions;
use crate::history::{History, HistoryRun, HistorySubject, Judged, RunSummary};
use crate::series::{Expected, FunctionScore, Score, ScoreOptions, Status, score, scores};
use crate::text::Command;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use sto_core::units::Cost;

/// Criteria for suspects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SuspectOptions {
    /// Number of earlier builds that determine the expectation, at least 1.
    pub window: usize,
    /// Minimum share that a function must have in some run.
    pub min_share: f64,
    /// Minimum score of a suspect; for a function that is gone, its negative.
    pub min_score: f64,
    /// Maximum number of listed suspects.
    pub limit: usize,
}

impl Default for SuspectOptions {
    fn default() -> Self {
        SuspectOptions {
            window: 10,
            min_share: ScoreOptions::default().min_share,
            min_score: 2.0,
            limit: 20,
        }
    }
}

/// The suspects of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Suspects {
    /// Runs that were examined.
    pub history: HistorySubject,
    /// Every run, oldest first.
    pub(crate) runs: Vec<SuspectRun>,
    /// Indices of the judged runs and of the runs that determine the expectation.
    pub(crate) judged: Judged,
    /// Indices of each build's runs; with only one build, each run separately.
    pub(crate) observations: Vec<Range<usize>>,
    /// Criteria for suspects.
    pub options: SuspectOptions,
    /// Number of judged functions.
    pub(crate) tested: usize,
    /// Expected samples of a whole run, from the window; `None` with fewer than two runs.
    pub expected: Option<Expected>,
    /// The suspects: first those that explain why a run costs more, then the others by what a run costs more.
    pub suspects: Vec<Suspect>,
    /// Number of suspects beyond the limit.
    pub(crate) omitted: usize,
    /// Other functions with a level shift in some run, largest change relative to the whole first; at most as many as
    /// suspects.
    pub changed: Vec<FunctionScore>,
    /// Stacks of the window, which is the baseline, and of the judged run; costs are scaled so that a run of the
    /// window is 1 on average. `None` if one of them has no samples.
    pub stacks: Option<Stacks>,
    /// Matching of functions between builds.
    pub matching: KeyOptions,
    /// Command that produces the same result; empty if the caller gave none.
    pub command: Command,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SuspectRun {
    /// The run.
    pub run: RunSummary,
    /// Cost of the whole run.
    pub(crate) whole: Cost,
    /// Labels by key.
    pub(crate) labels: BTreeMap<String, String>,
    /// Metrics by name.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// Machine on which it ran.
    pub(crate) host: Option<String>,
    /// Revision of its build.
    pub(crate) revision: Option<String>,
}

/// A function that may have caused an observed change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Suspect {
    /// Deviation from expectation.
    pub score: FunctionScore,
    /// Total samples in every run of the history, oldest first.
    pub(crate) samples: Vec<f64>,
    /// Mean self samples in the window.
    pub self_expected: f64,
    /// Mean self samples in the judged runs.
    pub self_actual: f64,
    /// Callers with more samples than expected; `None` if the function is gone.
    pub callers: Option<Expansion>,
    /// Callees with more samples than expected.
    pub(crate) callees: Option<Expansion>,
    /// Command that shows more of its contexts; empty if the caller gave none.
    pub command: Command,
}

impl Suspect {
    /// Returns the part of the difference in the function's own code; the rest is in its callees.
    pub(crate) fn self_difference(&self) -> f64 {
        self.self_actual - self.self_expected
    }
}

impl Answer for Suspects {
    const SCHEMA: &'static str = "sto.suspects/1";
}

impl Suspects {
    /// Finds the suspects of the judged runs in a history, at most `options.limit`. Without two runs in the window
    /// before the judged runs, there are none.
    pub fn find(history: &History, judged: Judged, options: SuspectOptions) -> Suspects {
        let of_scores = ScoreOptions {
            min_share: options.min_share,
            ..ScoreOptions::default()
        };
        let is_suspect = |score: &Score| {
            let is_gone = score.status == Status::Gone;
            let distance = if is_gone { -score.score } else { score.score };
            let score_is_far = distance >= options.min_score || score.is_cause;
            score.is_far() && score_is_far && score.status != Status::Moved
        };
        let scores = scores(history, &judged, of_scores);
        let tested = scores.len();
        let (mut found, rest): (Vec<Score>, Vec<Score>) = scores.into_iter().partition(is_suspect);
        let omitted = found.len().saturating_sub(options.limit);
        found.truncate(options.limit);
        let inquiry = Inquiry {
            history,
            self_costs: judged.all().map(|run| history.self_costs(run)).collect(),
            greedy: GreedySelection(judged.clone()),
        };
        let wholes: Vec<f64> = judged
            .window
            .clone()
            .map(|run| history.runs[run].whole.samples as f64)
            .collect();
        Suspects {
            history: history.into(),
            runs: history.runs.iter().map(SuspectRun::from).collect(),
            tested,
            observations: history.observations(),
            expected: Expected::from_observations(&wholes),
            suspects: found
                .into_par_iter()
                .map(|score| inquiry.suspect(score))
                .collect(),
            omitted,
            changed: changed(history, rest, options.limit),
            stacks: stacks::stacks(history, &judged),
            matching: history.matching,
            command: Command::default(),
            judged,
            options,
        }
    }

    /// Returns the newest judged run.
    pub fn run(&self) -> &SuspectRun {
        &self.runs[self.judged.newest()]
    }

    /// Returns the index of a run's build, or the index of the run if all runs have the same build.
    pub(crate) fn build_of(&self, run: usize) -> usize {
        self.observations.partition_point(|runs| runs.end <= run)
    }

    /// Returns the mean number of samples in a judged run.
    pub(crate) fn actual(&self) -> f64 {
        let wholes = self.runs.iter().map(|run| run.whole.samples as f64);
        self.judged.judged_mean(&wholes.collect::<Vec<_>>())
    }

    /// Returns the deviation of the total samples from expectation, in standard deviations.
    pub(crate) fn score(&self) -> Option<f64> {
        self.expected.map(|expected| score(self.actual(), expected))
    }
}

impl From<&HistoryRun> for SuspectRun {
    fn from(run: &HistoryRun) -> Self {
        let profile = &run.profile.profile;
        SuspectRun {
            run: run.into(),
            whole: run.whole,
            labels: profile.labels.clone(),
            metrics: profile.metrics.clone(),
            host: profile.origin.host.clone(),
            revision: run.build.revision.clone(),
        }
    }
}

/// Data for examining suspects.
struct Inquiry<'a> {
    history: &'a History,
    greedy: GreedySelection,
    /// Self costs by run, of the window and then of the judged runs.
    self_costs: Vec<Vec<Cost>>,
}

impl Inquiry<'_> {
    fn suspect(&self, score: Score) -> Suspect {
        // The samples of a renamed function include those under its old name.
        let names = [Some(score.function), score.was];
        let own = |costs: &Vec<Cost>| -> f64 {
            let names = names.iter().flatten();
            names.map(|name| costs[name.get()].samples as f64).sum()
        };
        let (window, judged) = self.self_costs.split_at(self.greedy.0.window.len());
        let mean = |runs: &[Vec<Cost>]| runs.iter().map(own).sum::<f64>() / runs.len() as f64;
        let contexts = (score.status != Status::Gone)
            .then(|| contexts::contexts(self.history, &score, &self.greedy));
        let (callers, callees) = contexts.unzip();
        Suspect {
            self_expected: mean(window),
            self_actual: mean(judged),
            callers,
            callees,
            command: Command::default(),
            score: FunctionScore::new(self.history, &score),
            samples: score.samples,
        }
    }
}

/// Returns the functions with a level shift, largest change relative to the whole first.
fn changed(history: &History, scores: Vec<Score>, limit: usize) -> Vec<FunctionScore> {
    let mut changed: Vec<Score> = scores;
    changed.retain(|score| !score.changes.is_empty());
    changed.sort_by(|a, b| {
        b.largest_change()
            .total_cmp(&a.largest_change())
            .then(a.function.cmp(&b.function))
    });
    changed.truncate(limit);
    changed
        .iter()
        .map(|score| FunctionScore::new(history, score))
        .collect()
}
