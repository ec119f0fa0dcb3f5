//! Compares the functions of a build with the builds before it.

use super::LevelShift;
use crate::answer::{Answer, truncate};
use crate::history::{FunctionIx, History, HistoryFunction, HistorySubject, Judged, RunSummary};
use crate::series::{ChangePoint, Score, ScoreOptions, Status, scores};
use serde::Serialize;

/// The functions of a build, compared with the builds before it.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Scores {
    /// The runs.
    pub history: HistorySubject,
    /// The newest of the judged runs.
    pub run: RunSummary,
    /// Number of judged runs: all runs of that build, or one run of the only build.
    pub judged: usize,
    /// Number of runs before them that expectations are based on.
    pub window: usize,
    /// Number of builds of these runs: as many as requested, or as exist. For the only build, the
    /// number of its runs.
    pub window_builds: usize,
    /// Number of judged functions.
    pub tested: usize,
    /// Number of functions whose q is at most 0.05.
    pub far: usize,
    /// Minimum share of a function in some run.
    pub min_share: f64,
    /// The functions: first those that explain why a run costs more, then the others by what a run costs more.
    /// With a minimum score, functions with a level shift follow, largest change first.
    pub functions: Vec<FunctionScore>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
    /// Scores of the other benchmarks if several are compared; omitted in JSON if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_benchmarks: Vec<Scores>,
}

impl Scores {
    /// Iterates over the scores of all benchmarks.
    pub fn by_benchmark(&self) -> impl Iterator<Item = &Scores> {
        std::iter::once(self).chain(&self.other_benchmarks)
    }
}

impl Answer for Scores {
    const SCHEMA: &'static str = "sto.regressions-over-time/1";
}

/// The score of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionScore {
    /// The function.
    #[serde(flatten)]
    pub function: HistoryFunction,
    /// Mean of its samples in the runs before, since their last level shift. Runs without the
    /// function count as zero.
    pub expected: f64,
    /// Standard deviation of its samples in these runs.
    pub deviation: f64,
    /// Mean of its samples in the judged runs.
    pub actual: f64,
    /// `actual` minus `expected`.
    pub difference: f64,
    /// The difference in standard deviations.
    pub score: f64,
    /// Probability of samples at least as far from those before if nothing had changed.
    pub p: Option<f64>,
    /// `p` adjusted for the number of judged functions.
    pub q: Option<f64>,
    /// Whether the function is new, gone or moved.
    pub status: Status,
    /// Whether the function explains why a run costs more, by the rules of `find-regressions`.
    pub is_cause: bool,
    /// The function that had its cost before; its own former name, if it was renamed. Omitted from JSON if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_from: Option<HistoryFunction>,
    /// The function that has its cost now. Omitted from JSON if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moved_to: Option<HistoryFunction>,
    /// Level shifts of its samples, over the whole history.
    pub changes: Vec<LevelShift>,
}

impl FunctionScore {
    pub(crate) fn new(history: &History, score: &Score) -> Self {
        let change =
            |change: &ChangePoint| LevelShift::new(change, (&history.runs[change.at]).into());
        let named = |function: FunctionIx| history.functions[function.get()].clone();
        FunctionScore {
            function: named(score.function),
            expected: score.expected.mean,
            deviation: score.expected.deviation,
            actual: score.actual,
            difference: score.actual - score.expected.mean,
            score: score.score,
            p: score.p,
            q: score.q,
            status: score.status,
            is_cause: score.is_cause,
            moved_from: score.was.map(named),
            moved_to: score.is_now.map(named),
            changes: score.changes.iter().map(change).collect(),
        }
    }
}

/// Scores the functions of the judged runs, and returns at most `limit` of them. With `min_score`,
/// only functions with at least that score and those that explain why a run costs more, followed by those with a level
/// shift, largest change first.
pub fn regressions_over_time(
    history: &History,
    judged: &Judged,
    options: ScoreOptions,
    min_score: Option<f64>,
    limit: Option<usize>,
) -> Scores {
    let mut scores = scores(history, judged, options);
    let tested = scores.len();
    let far = scores.iter().filter(|score| score.is_far()).count();
    if let Some(least) = min_score {
        let (far, mut changed): (Vec<Score>, Vec<Score>) =
            (scores.into_iter()).partition(|score| score.score >= least || score.is_cause);
        changed.retain(|score| !score.changes.is_empty());
        // The sort is stable: equals keep the order of their scores.
        changed.sort_by(|a, b| b.largest_change().total_cmp(&a.largest_change()));
        scores = far;
        scores.append(&mut changed);
    }
    let omitted = truncate(&mut scores, limit);
    let functions = scores
        .iter()
        .map(|score| FunctionScore::new(history, score));
    Scores {
        history: history.into(),
        run: (&history.runs[judged.newest()]).into(),
        judged: judged.runs.len(),
        window: judged.window.len(),
        window_builds: judged.builds.len(),
        tested,
        far,
        min_share: options.min_share,
        functions: functions.collect(),
        omitted,
        other_benchmarks: Vec::new(),
    }
}
