//! Pairs of functions whose costs are the same.

use super::evidence::{Direction, Setting, direction};
use super::functions::FunctionIx;
use super::pair::Pair;
use super::regions::Caller;
use sto_stats::Variation;

/// Part of a function's change that must have been gained, and of that gain that must have been
/// lost under the same callers, whatever the test says: with few samples, nothing is significant.
pub(super) const AT_LEAST: f64 = 0.5;

/// The other function of a pair, and what the two are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partner {
    /// The cost moved from it, or to it.
    Moved(FunctionIx),
    /// The same, and it is the same function by another name, as that or what it calls says.
    Renamed(FunctionIx),
    /// One was replaced by the other, and their caller costs no more.
    Replaced(FunctionIx),
    /// One was replaced by the other, but this caller costs more.
    ReplacedUnder(FunctionIx, Caller),
    /// It is called by the first, which was replaced by the second, or the other way round.
    PartOf(FunctionIx, FunctionIx),
}

/// Whether two sums are the same, as far as the runs show.
pub(super) struct Balance<'a> {
    pub(super) setting: &'a Setting<'a>,
    pub(super) variation: &'a Variation,
}

impl Balance<'_> {
    /// Whether a gain is significantly more than a loss, by `min_effect` at least. Both are samples
    /// in a run of size 1, and the side that gained is where `direction` leads.
    pub(super) fn is_more(&self, gained: f64, lost: f64, towards: Direction) -> bool {
        let means = match towards {
            Direction::Up => Pair::new(lost, gained),
            Direction::Down => Pair::new(gained, lost),
        };
        let sizes = self.setting.sizes.sums();
        let samples = [
            (means.baseline * sizes.baseline).round(),
            (means.candidate * sizes.candidate).round(),
        ];
        let Setting {
            options, design, ..
        } = self.setting;
        direction(means, options.min_effect) == Some(towards)
            && self.variation.p_value_of_sums(samples, design) <= options.alpha
    }
}
