//! Pairs of functions with balanced costs.

use super::evidence::{Direction, TestParameters, direction};
use super::functions::FunctionIx;
use super::pair::Pair;
use super::regions::Caller;

/// Minimum share of a function's change that must have been gained from elsewhere, and minimum
/// share of that gain that must have been lost under the same callers. Applies regardless of the
/// test, which finds nothing significant with few samples.
pub(super) const MIN_SHARE: f64 = 0.5;

/// The partner of a function, and their relation.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partner {
    /// The cost moved from or to this function.
    Moved(FunctionIx),
    /// The cost moved from or to this function, and names or callees show that the function was
    /// renamed.
    Renamed(FunctionIx),
    /// One function was replaced by the other, and their caller costs no more.
    Replaced(FunctionIx),
    /// One function was replaced by the other, but this caller costs more.
    ReplacedUnder(FunctionIx, Caller),
    /// The function is called by the first one, which replaces the second or was replaced by it.
    PartOf(FunctionIx, FunctionIx),
}

impl Partner {
    /// Whether the function cost no more than its partner, so that nothing got worse.
    pub(super) fn has_the_cost(self) -> bool {
        !matches!(self, Partner::ReplacedUnder(..))
    }
}

/// Tests whether two sums differ significantly.
pub(super) struct Balance<'a> {
    pub(super) setting: &'a TestParameters<'a>,
}

impl Balance<'_> {
    /// Returns `true` if a gain exceeds a loss significantly, and by `min_effect` at least.
    ///
    /// Both are samples in a run of size 1. The candidate gained if `towards` is `Up`, the baseline
    /// if it is `Down`.
    pub(super) fn exceeds(&self, gained: f64, lost: f64, towards: Direction) -> bool {
        let means = match towards {
            Direction::Up => Pair::new(lost, gained),
            Direction::Down => Pair::new(gained, lost),
        };
        let sizes = self.setting.sizes.sums();
        let samples = [
            (means.baseline * sizes.baseline).round(),
            (means.candidate * sizes.candidate).round(),
        ];
        let TestParameters {
            options,
            design,
            variations,
            ..
        } = self.setting;
        direction(means, options.min_effect) == Some(towards)
            && variations.self_.p_value_of_sums(samples, design) <= options.alpha
    }
}
