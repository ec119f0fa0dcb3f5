//! Result of expanding a function.

use crate::answer::Answer;
use crate::expand::{Branch, BranchSelection, Direction, GreedySelection};
use crate::history::{FunctionIx, History, HistoryFunction, HistorySubject, RunSummary};
use crate::series::{Expected, Status};
use crate::tree::{Link, fold_tree};
use serde::{Deserialize, Serialize};

/// Ranking of branches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By score.
    #[default]
    Greedy,
    /// By score and further evidence.
    Informed,
    /// By correlation with a metric.
    Correlation,
}

/// Contexts of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Expansion {
    /// The runs.
    pub history: HistorySubject,
    /// The function.
    pub function: HistoryFunction,
    /// Direction in which branches grew.
    pub direction: Direction,
    /// Ranking of branches.
    pub method: Method,
    /// The newest judged run.
    pub run: RunSummary,
    /// Number of judged runs.
    pub judged: usize,
    /// Number of earlier runs that determine the expectations.
    pub window: usize,
    /// The branches in preorder, starting with only the function.
    pub contexts: Vec<ExpandedContext>,
}

impl Answer for Expansion {
    const SCHEMA: &'static str = "sto.expand/1";
}

/// A branch.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ExpandedContext {
    /// Number of functions without the first.
    pub depth: usize,
    /// The last function added.
    #[serde(flatten)]
    pub function: HistoryFunction,
    /// Difference between actual and expected samples of that function in this context.
    pub difference: f64,
    /// Expected samples of the expanded function in this context.
    pub candidate_expected: f64,
    /// Actual samples of the expanded function in this context.
    pub candidate_actual: f64,
    /// Difference between actual and expected samples of the expanded function.
    pub candidate_difference: f64,
    /// Difference of the expanded function in standard deviations.
    pub candidate_score: f64,
    /// Rank of the branch. For a caller, it is the candidate's score; for a callee, the score of its own samples in
    /// this context; both raised by further evidence. With correlation, it is the coefficient.
    pub rank: f64,
    /// Whether the expanded function is new, gone, or present in this context.
    pub status: Status,
    /// Whether the text output combines it with others in one line; omitted from JSON if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

impl ExpandedContext {
    /// Converts it to a frame of a chain of calls, where `next` is the only branch that extends it.
    pub(crate) fn link(&self, next: Option<&ExpandedContext>) -> Link<'_> {
        // Equal up to the displayed precision.
        let same = |a: f64, b: f64| (a - b).abs() < 0.05;
        Link {
            symbol: &self.function.function,
            module: &self.function.module,
            is_passed_through: next.is_some_and(|next| {
                same(self.difference, next.difference)
                    && same(self.candidate_difference, next.candidate_difference)
            }),
        }
    }
}

impl Expansion {
    /// Returns the expansion with one line for each branch.
    pub(crate) fn unfolded(mut self) -> Self {
        self.contexts
            .iter_mut()
            .for_each(|context| context.folded = false);
        self
    }
}

/// Creates the report of a function's branches.
pub fn expansion(
    history: &History,
    branches: &[Branch],
    direction: Direction,
    method: Method,
    greedy: &GreedySelection,
    selection: &dyn BranchSelection,
) -> Expansion {
    let function = |ix: FunctionIx| history.functions[ix.get()].clone();
    let contexts = branches.iter().map(|branch| {
        let nothing = Expected {
            mean: 0.0,
            deviation: 0.0,
        };
        let expected = greedy.expected(&branch.first).unwrap_or(nothing);
        let actual = greedy.0.judged_mean(&branch.first);
        let last = &branch.last;
        let last_expected = greedy.expected(last).unwrap_or(nothing);
        ExpandedContext {
            depth: branch.depth(),
            function: function(branch.functions[branch.depth()]),
            difference: greedy.0.judged_mean(last) - last_expected.mean,
            candidate_expected: expected.mean,
            candidate_actual: actual,
            candidate_difference: actual - expected.mean,
            candidate_score: greedy.score(&branch.first),
            rank: selection.rank(branch),
            status: Status::new(expected.mean, actual),
            folded: false,
        }
    });
    let mut contexts: Vec<ExpandedContext> = contexts.collect();
    // The function itself is never folded.
    let link = |ix: usize| contexts[ix].link(contexts.get(ix + 1).filter(|_| ix > 0));
    for ix in fold_tree(contexts.iter().map(|context| context.depth), link) {
        contexts[ix].folded = true;
    }
    Expansion {
        history: history.into(),
        function: function(branches[0].functions[0]),
        direction,
        method,
        run: (&history.runs[greedy.0.newest()]).into(),
        judged: greedy.0.runs.len(),
        window: greedy.0.window.len(),
        contexts,
    }
}
