//! The contexts in which a suspect differs.

use crate::expand::{
    Branch, Direction, Expansion, Greedy, Method, Reach, StopCriterion, expand, expansion,
};
use crate::history::History;
use crate::series::Score;

/// The part of a suspect's difference that a context must have. Contexts share the difference among
/// them, so at most as many are followed side by side as this goes into 1, or a little more where
/// others have less than expected.
const LEAST_PART: f64 = 0.1;

/// Discards contexts that have fewer samples than expected, or hardly any of the difference.
struct Explaining<'a> {
    greedy: &'a Greedy,
    least: f64,
}

impl StopCriterion for Explaining<'_> {
    fn stops(&self, branch: &Branch) -> bool {
        let expected = self.greedy.expected(&branch.samples);
        let difference = expected.map_or(0.0, |e| self.greedy.0.actual(&branch.samples) - e.mean);
        self.greedy.stops(branch) || difference < self.least
    }
}

/// The callers and the callees of a suspect that have its difference.
pub(super) fn contexts(
    history: &History,
    score: &Score,
    greedy: &Greedy,
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
            Reach::default(),
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
