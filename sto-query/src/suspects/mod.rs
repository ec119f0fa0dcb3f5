//! The functions of one run that are far from what the runs before it lead to expect, with all that
//! shows why: their history, the contexts in which they differ, and the stacks of both sides.
//!
//! Source: Lundberg and Rettig, Modeling Profiling Data in a Graph Database (2024), section 6.1, and
//! appendix B, which calls them candidates: functions that may have caused what was seen.
//!
#![doc = include_str!("suspects.md")]

mod contexts;
mod stacks;

use crate::compare::Stacks;
use crate::expand::{Expansion, Greedy};
use crate::functions::KeyOptions;
use crate::history::{History, HistoryRun, HistorySubject, Judged, RunSummary};
use crate::series::{Expected, FunctionScore, Score, ScoreOptions, Status, score, scores};
use crate::text::Command;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;
use sto_core::units::Cost;

/// Which functions are suspects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct SuspectOptions {
    /// Number of builds before the judged one that expectations rest on, at least 1.
    pub window: usize,
    /// Functions with a smaller share of every run that is looked at are left out.
    pub min_share: f64,
    /// The least score of a suspect; of one that is gone, the same below zero.
    pub min_score: f64,
    /// Most suspects that are listed.
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
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suspects {
    /// The runs that are looked at.
    pub history: HistorySubject,
    /// Every run, oldest first.
    pub(crate) runs: Vec<SuspectRun>,
    /// The indices of the judged runs, and of those that say what to expect.
    pub(crate) judged: Judged,
    /// The indices of each build's runs; of one build alone, each run's.
    pub(crate) observations: Vec<Range<usize>>,
    /// What makes a suspect.
    pub options: SuspectOptions,
    /// Number of functions that were judged.
    pub(crate) tested: usize,
    /// What the window leads to expect of the samples of the whole run; `None` of fewer than two runs.
    pub expected: Option<Expected>,
    /// The suspects: highest score first, then by name.
    pub suspects: Vec<Suspect>,
    /// Number of suspects beyond the limit.
    pub(crate) omitted: usize,
    /// Functions that are no suspects, but have a level shift in some run: in the order of their
    /// largest change relative to the whole, at most as many as suspects.
    pub changed: Vec<FunctionScore>,
    /// Stacks of the window, which is the baseline, and of the judged run; a run of the window costs
    /// 1 on average. `None` where one of them has no samples.
    pub stacks: Option<Stacks>,
    /// How functions of different builds were matched.
    pub matching: KeyOptions,
    /// The command that finds the same again; empty where the caller names none.
    pub command: Command,
}

/// A run.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SuspectRun {
    /// The run.
    pub run: RunSummary,
    /// What the whole run cost.
    pub(crate) whole: Cost,
    /// Its labels, by key.
    pub(crate) labels: BTreeMap<String, String>,
    /// Its metrics, by name.
    pub(crate) metrics: BTreeMap<String, f64>,
    /// The machine that it ran on.
    pub(crate) host: Option<String>,
    /// The revision of its build.
    pub(crate) revision: Option<String>,
}

/// A function that may have caused what was seen.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Suspect {
    /// How far from expected it is.
    pub score: FunctionScore,
    /// Its samples in every run of the history, oldest first.
    pub(crate) samples: Vec<f64>,
    /// The mean of its samples in its own code, in the window.
    pub self_expected: f64,
    /// Its samples in its own code, in a judged run on average.
    pub self_actual: f64,
    /// Who calls it where it has more samples than expected; `None` where it is gone.
    pub callers: Option<Expansion>,
    /// What it calls that has more samples than expected.
    pub(crate) callees: Option<Expansion>,
    /// The command that shows more of its contexts; empty where the caller names none.
    pub command: Command,
}

impl Suspect {
    /// What its own code has of its difference; the rest is in what it calls.
    pub(crate) fn self_difference(&self) -> f64 {
        self.self_actual - self.self_expected
    }
}

impl Suspects {
    /// Finds the suspects of the judged runs of a history. There are none where fewer than two runs
    /// come before them.
    pub fn of(history: &History, judged: Judged, options: SuspectOptions) -> Suspects {
        let of_scores = ScoreOptions {
            min_share: options.min_share,
            ..ScoreOptions::default()
        };
        let is_suspect = |score: &Score| {
            let is_gone = score.status == Status::Gone;
            let score_is_far = match is_gone {
                true => -score.score,
                false => score.score,
            } >= options.min_score;
            score.is_far() && score_is_far
        };
        let scores = scores(history, &judged, of_scores);
        let tested = scores.len();
        let (mut found, rest): (Vec<Score>, Vec<Score>) = scores.into_iter().partition(is_suspect);
        let omitted = found.len().saturating_sub(options.limit);
        found.truncate(options.limit);
        let inquiry = Inquiry {
            history,
            self_costs: judged.all().map(|run| history.self_costs(run)).collect(),
            greedy: Greedy(judged.clone()),
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

    /// The newest of the judged runs.
    pub fn run(&self) -> &SuspectRun {
        &self.runs[self.judged.newest()]
    }

    /// The number of the build that a run is of; of one build alone, of the run.
    pub(crate) fn build_of(&self, run: usize) -> usize {
        self.observations.partition_point(|runs| runs.end <= run)
    }

    /// Samples of a judged run, on average.
    pub(crate) fn actual(&self) -> f64 {
        let wholes = self.runs.iter().map(|run| run.whole.samples as f64);
        self.judged.actual(&wholes.collect::<Vec<_>>())
    }

    /// How far from what is expected the samples of the whole run are, in standard deviations.
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

/// What the suspects are asked with.
struct Inquiry<'a> {
    history: &'a History,
    greedy: Greedy,
    /// By run of the window, and then of the judged runs.
    self_costs: Vec<Vec<Cost>>,
}

impl Inquiry<'_> {
    fn suspect(&self, score: Score) -> Suspect {
        let own = |costs: &Vec<Cost>| costs[score.function.get()].samples as f64;
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

/// The functions with a level shift, the largest change of the whole first.
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
