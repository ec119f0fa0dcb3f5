//! Contexts in which a suspect differs from expectation.

use crate::expand::{
    Branch, Direction, ExpandLimits, Expansion, GreedySelection, Method, StopCriterion, expand,
    expansion,
};
use crate::history::History;
use crate::series::Score;

/// Minimum share of a suspect's difference in a context. Contexts divide the difference among them, so this also
/// limits the number followed side by side.
const LEAST_PART: f64 = 0.1;

/// Discards contexts with fewer samples than expected, or with hardly any of the difference.
struct Explaining<'a> {
    greedy: &'a GreedySelection,
    least: f64,
}

impl StopCriterion for Explaining<'_> {
    fn stops(&self, branch: &Branch) -> bool {
        let expected = self.greedy.expected(&branch.samples);
        let difference =
            expected.map_or(0.0, |e| self.greedy.0.judged_mean(&branch.samples) - e.mean);
        self.greedy.stops(branch) || difference < self.least
    }
}

/// Returns the callers and callees of a suspect that have its difference.
pub(super) fn contexts(
    history: &History,
    score: &Score,
    greedy: &GreedySelection,
) -> (Expansion, Expansion) {
    let criterion = Explaining {
        greedy,
        least: LEAST_PART * (score.actual - score.expected.mean),
    };
    let contexts = |direction| {
        let branches = expand(
            history,
            score.function,
            direction,
            &criterion,
            greedy,
            ExpandLimits::default(),
        );
        expansion(
            history,
            &branches,
            direction,
            Method::Greedy,
            greedy,
            greedy,
        )
    };
    (contexts(Direction::Callers), contexts(Direction::Callees))
}
