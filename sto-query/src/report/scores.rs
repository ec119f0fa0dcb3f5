//! The functions of one run against those before it.

use super::limit::limited;
use super::{ChangePointReport, HistoryFunctionReport, HistoryReport, RunReport};
use crate::history::History;
use crate::series::{ChangePoint, Score, ScoreOptions, Status, scores};
use serde::Serialize;

/// The functions of one run against those before it; schema `sto.regressions-over-time/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoresReport {
    /// `sto.regressions-over-time/1`.
    pub schema: &'static str,
    /// The runs.
    pub history: HistoryReport,
    /// The run that is judged.
    pub run: RunReport,
    /// Number of runs before it that tell what to expect: as many as asked for, or as there are.
    pub window: usize,
    /// The smallest share of any run that is looked at.
    pub min_share: f64,
    /// The functions: highest score first, then by name; where there is a least score, behind those the
    /// functions that changed for good, largest change first.
    pub functions: Vec<ScoreReport>,
    /// Number of functions that a limit left out.
    pub omitted: usize,
}

/// One function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ScoreReport {
    /// The function.
    #[serde(flatten)]
    pub function: HistoryFunctionReport,
    /// Mean of its samples in the runs before; runs without it count as zero.
    pub expected: f64,
    /// Standard deviation of its samples in the runs before.
    pub deviation: f64,
    /// Its samples in the judged run.
    pub actual: f64,
    /// `actual` less `expected`.
    pub difference: f64,
    /// The difference in standard deviations; see [`Score::score`](crate::series::Score::score).
    pub score: f64,
    /// Whether it is there.
    pub status: Status,
    /// Where its samples changed for good, over the whole history.
    pub changes: Vec<ChangePointReport>,
}

impl ScoreReport {
    pub(crate) fn new(history: &History, score: &Score) -> Self {
        let change = |change: &ChangePoint| {
            ChangePointReport::new(change, (&history.runs[change.at]).into())
        };
        ScoreReport {
            function: HistoryFunctionReport::new(history, score.function),
            expected: score.expected.mean,
            deviation: score.expected.deviation,
            actual: score.actual,
            difference: score.actual - score.expected.mean,
            score: score.score,
            status: score.status,
            changes: score.changes.iter().map(change).collect(),
        }
    }
}

/// Scores the functions of the run at this place of a history; at most `limit` of them. With `min_score`
/// only those that score at least that, and behind them those that changed for good: largest change first.
///
/// # Panics
/// If there is no such run.
pub fn regressions_over_time(
    history: &History,
    judged: usize,
    options: ScoreOptions,
    min_score: Option<f64>,
    limit: Option<usize>,
) -> ScoresReport {
    let mut scores = scores(history, judged, options);
    if let Some(least) = min_score {
        let (far, mut changed): (Vec<Score>, Vec<Score>) =
            scores.into_iter().partition(|score| score.score >= least);
        changed.retain(|score| !score.changes.is_empty());
        // Stable: equals keep the order of their scores.
        changed.sort_by(|a, b| b.largest_change().total_cmp(&a.largest_change()));
        scores = far;
        scores.append(&mut changed);
    }
    let omitted = limited(&mut scores, limit);
    let functions = scores.iter().map(|score| ScoreReport::new(history, score));
    ScoresReport {
        schema: "sto.regressions-over-time/1",
        history: history.into(),
        run: (&history.runs[judged]).into(),
        window: judged.min(options.window),
        min_share: options.min_share,
        functions: functions.collect(),
        omitted,
    }
}
