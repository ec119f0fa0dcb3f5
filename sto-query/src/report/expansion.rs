//! The contexts of a function.

use super::{HistoryFunctionReport, HistoryReport, RunReport};
use crate::expand::{Branch, Direction, Greedy, Selection};
use crate::history::{FunctionIx, History};
use crate::series::{Expected, Status};
use serde::Serialize;

/// How branches are ranked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By score.
    Greedy,
    /// By score, and what else speaks for a branch.
    Informed,
    /// By correlation with a metric.
    Correlation,
}

/// The contexts of a function; schema `sto.expand/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExpansionReport {
    /// `sto.expand/1`.
    pub schema: &'static str,
    /// The runs.
    pub history: HistoryReport,
    /// The function.
    pub function: HistoryFunctionReport,
    /// `callers` or `callees`.
    pub direction: &'static str,
    /// How branches were ranked.
    pub method: Method,
    /// The run that is judged.
    pub run: RunReport,
    /// Number of runs before it that tell what to expect.
    pub window: usize,
    /// The branches in preorder: the function alone, then those that extend it, each behind the one
    /// that it extends.
    pub contexts: Vec<ContextReport>,
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ContextReport {
    /// Number of functions beyond the first.
    pub depth: usize,
    /// The function that it grew by last.
    #[serde(flatten)]
    pub function: HistoryFunctionReport,
    /// Samples of that function in the judged run, in this context, less those expected.
    pub difference: f64,
    /// Samples of the expanded function in this context, expected.
    pub candidate_expected: f64,
    /// The same in the judged run.
    pub candidate_actual: f64,
    /// The difference of the two.
    pub candidate_difference: f64,
    /// That difference in standard deviations.
    pub candidate_score: f64,
    /// What the branch was ranked by: for a caller, the candidate's score; for a callee, that of its own
    /// samples in this context; raised by what speaks for it, or the correlation.
    pub rank: f64,
    /// Whether the expanded function is there in this context.
    pub status: Status,
}

/// Reports branches of a function.
pub fn expansion(
    history: &History,
    branches: &[Branch],
    direction: Direction,
    method: Method,
    greedy: &Greedy,
    selection: &dyn Selection,
) -> ExpansionReport {
    let function = |ix: FunctionIx| HistoryFunctionReport::new(history, ix);
    let contexts = branches.iter().map(|branch| {
        let nothing = Expected {
            mean: 0.0,
            deviation: 0.0,
        };
        let expected = greedy.expected(&branch.first).unwrap_or(nothing);
        let actual = branch.first[greedy.judged];
        let last = &branch.last;
        let last_expected = greedy.expected(last).unwrap_or(nothing);
        ContextReport {
            depth: branch.depth(),
            function: function(branch.functions[branch.depth()]),
            difference: last[greedy.judged] - last_expected.mean,
            candidate_expected: expected.mean,
            candidate_actual: actual,
            candidate_difference: actual - expected.mean,
            candidate_score: greedy.score(&branch.first),
            rank: selection.rank(branch),
            status: Status::of(expected.mean, actual),
        }
    });
    ExpansionReport {
        schema: "sto.expand/1",
        history: history.into(),
        function: function(branches[0].functions[0]),
        direction: match direction {
            Direction::Callers => "callers",
            Direction::Callees => "callees",
        },
        method,
        run: (&history.runs[greedy.judged]).into(),
        window: greedy.window.len(),
        contexts: contexts.collect(),
    }
}
