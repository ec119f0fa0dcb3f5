//! The contexts of a function.

use crate::answer::Answer;
use crate::expand::{Branch, Direction, Greedy, Selection};
use crate::history::{FunctionIx, History, HistoryFunction, HistorySubject, RunSummary};
use crate::series::{Expected, Status};
use crate::tree::{Link, fold_tree};
use serde::{Deserialize, Serialize};

/// How branches are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// By score.
    #[default]
    Greedy,
    /// By score, and what else speaks for a branch.
    Informed,
    /// By correlation with a metric.
    Correlation,
}

/// The contexts of a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Expansion {
    /// The runs.
    pub history: HistorySubject,
    /// The function.
    pub function: HistoryFunction,
    /// Where branches grew to.
    pub direction: Direction,
    /// How branches were ranked.
    pub method: Method,
    /// The newest run of those that are judged.
    pub run: RunSummary,
    /// Number of runs that are judged.
    pub judged: usize,
    /// Number of runs before them that expectations rest on.
    pub window: usize,
    /// The branches in preorder: the function alone, then those that extend it, each after the one
    /// that it extends.
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
    /// Number of functions beyond the first.
    pub depth: usize,
    /// The function that it grew by last.
    #[serde(flatten)]
    pub function: HistoryFunction,
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
    /// Whether it is one of several that the text shows as one line; left out of JSON where it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

impl ExpandedContext {
    /// It as a frame of a chain of calls, where `next` is the only one that extends it.
    pub(crate) fn link(&self, next: Option<&ExpandedContext>) -> Link<'_> {
        // To the digit that is shown.
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
    /// The same with a line for each branch.
    pub(crate) fn unfolded(mut self) -> Self {
        self.contexts
            .iter_mut()
            .for_each(|context| context.folded = false);
        self
    }
}

/// Reports branches of a function.
pub fn expansion(
    history: &History,
    branches: &[Branch],
    direction: Direction,
    method: Method,
    greedy: &Greedy,
    selection: &dyn Selection,
) -> Expansion {
    let function = |ix: FunctionIx| history.functions[ix.get()].clone();
    let contexts = branches.iter().map(|branch| {
        let nothing = Expected {
            mean: 0.0,
            deviation: 0.0,
        };
        let expected = greedy.expected(&branch.first).unwrap_or(nothing);
        let actual = greedy.0.actual(&branch.first);
        let last = &branch.last;
        let last_expected = greedy.expected(last).unwrap_or(nothing);
        ExpandedContext {
            depth: branch.depth(),
            function: function(branch.functions[branch.depth()]),
            difference: greedy.0.actual(last) - last_expected.mean,
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
    // The function itself never is folded.
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
