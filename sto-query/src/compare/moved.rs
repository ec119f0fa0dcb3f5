//! Detects cost that moved to another function without growing: renamed, inlined, outlined and
//! split functions, and new wrappers between two old functions.
//!
//! One function costing less and another as much more proves nothing. Cost only counts as moved
//! under one caller (see [`regions`](super::regions)), from calls that ended there to calls that
//! began there, and only with evidence besides the sums:
//!
//! - **inlined or outlined**: stacks that a function called ended, and its self cost grew; or
//!   stacks that it calls began, and its self cost shrank;
//! - **wrapped**: the caller of a new function used to call its callees directly;
//! - **similar names**, **the same callees** or **the same source file** (see
//!   [`signs`](super::signs)). Callees and files only count if one function is gone and the other
//!   new. Functions with the same callees or nearly the same name need not have the same caller.
//!
//! A function that is still called from the same place merely got faster, so it never accounts for
//! the cost of another; neither does kernel code for user code, nor the reverse. Functions that
//! took each other's place count as one function in the following steps, so their callees are
//! compared as those of one function.
//!
//! Without such evidence, a gone and a new function with the same caller and the same cost are a
//! pair: one was [`replaced`](super::replaced) by the other.

use super::cause::{Cause, Evidences};
use super::evidence::Direction;
use super::functions::{FunctionIx, Renamed};
use super::gains::{Gain, Gains};
use super::partner::{Balance, MIN_SHARE, Partner};
use super::regions::{Classes, Regions};
use super::renamed::Pairs;
use super::replaced::pair_replaced;
use super::result::Basis;
use super::signs::{Sign, Signs};
use rayon::prelude::*;
use std::collections::BTreeSet;

/// The partners of all causes, and renamed functions.
pub(super) struct Partners {
    /// By cause, the function that its cost moved from (if it grew) or to (if it shrank), or that
    /// it replaced.
    pub(super) of_cause: Vec<Option<Partner>>,
    /// Functions that were renamed.
    pub(super) renamed: Vec<Renamed>,
}

/// Finds the functions that the cost of causes moved from or to.
pub(super) fn find_partners(evidences: &Evidences, causes: &[Cause]) -> Partners {
    let setting = evidences.tests.setting;
    if causes.is_empty() || setting.within_runs || !setting.has_stacks {
        return Partners {
            of_cause: vec![None; causes.len()],
            renamed: Vec::new(),
        };
    }
    let mut regions = Regions::new(evidences, Classes::new(evidences.functions.list.len()));
    let mut of_cause: Vec<Option<Partner>> = vec![None; causes.len()];
    let mut pairs = Pairs::new(evidences, causes);
    let balance = Balance { setting };
    let changed: BTreeSet<(FunctionIx, Direction)> = causes
        .iter()
        .map(|cause| (cause.function, cause.direction))
        .collect();
    let mut signs_left = Sign::ALL.into_iter().peekable();
    while signs_left.peek().is_some() {
        let signs = Signs::new(&regions);
        let mut merged = regions.classes.clone();
        // Signs stay valid until functions are merged.
        while merged == regions.classes
            && let Some((sign, same_caller)) = signs_left.next()
        {
            let moves = |(cause, known): (&Cause, &Option<Partner>)| match known {
                Some(_) => None,
                None => Moves {
                    gains: Gains {
                        regions: &regions,
                        signs: &signs,
                        sign,
                        changed: &changed,
                        direction: cause.direction,
                        same_caller,
                    },
                    balance: &balance,
                }
                .find_origin(cause),
            };
            let found: Vec<Option<FunctionIx>> =
                causes.par_iter().zip(&of_cause).map(moves).collect();
            for ((cause, partner), found) in causes.iter().zip(&mut of_cause).zip(found) {
                let Some(other) = found else { continue };
                let matched = |sign| signs.matches(sign, cause.function, other);
                let neither_stays =
                    !regions.is_on_both_sides(cause.function) && !regions.is_on_both_sides(other);
                let are_one = neither_stays && (matched(Sign::Names) || matched(Sign::Callees));
                *partner = Some(if are_one {
                    Partner::Renamed(other)
                } else {
                    Partner::Moved(other)
                });
                if are_one || neither_stays && matched(Sign::File) {
                    merged.merge(cause.function, other);
                    pairs.add(cause, other, &signs, are_one);
                }
            }
        }
        drop(signs);
        regions = regions.with_classes(merged);
    }
    let renamed = pairs.renamed(&of_cause, &regions);
    pair_replaced(regions, causes, &balance, &mut of_cause);
    Partners { of_cause, renamed }
}

/// Decides whether the cost of a cause moved.
struct Moves<'a> {
    gains: Gains<'a>,
    balance: &'a Balance<'a>,
}

impl Moves<'_> {
    /// Returns the function that the cost of a cause moved from or to.
    fn find_origin(&self, cause: &Cause) -> Option<FunctionIx> {
        let mut gains = self.gains.compute(cause);
        if cause.basis == Basis::Total {
            // Changes that causes below explain are not its own: a wrapper of a slower function is
            // not slower.
            for gain in &mut gains {
                gain.gained = gain.gained.min(cause.explains.abs());
            }
        }
        let gain = gains.into_iter().find(|gain| {
            gain.gained >= MIN_SHARE * cause.explains.abs() && self.is_balanced(gain)
        })?;
        self.likeliest_loser(cause.function, gain)
    }

    /// Whether the function did not gain significantly more than was lost, neither with nor without
    /// its callees.
    fn is_balanced(&self, gain: &Gain) -> bool {
        let setting = self.balance.setting;
        let whole = setting.sizes.means(setting.samples);
        let is_small =
            gain.own_gained < setting.options.min_share * whole.baseline.max(whole.candidate);
        let is_more = |gained, lost| self.balance.exceeds(gained, lost, self.gains.direction);
        gain.lost > 0.0
            && gain.lost >= MIN_SHARE * gain.gained
            && !is_more(gain.gained, gain.lost)
            && (is_small || !is_more(gain.own_gained, gain.own_lost))
    }

    /// Returns the function whose total and self cost were most similar to this function's, among
    /// those with a large part of the lost cost. If there are none, returns the largest loser.
    fn likeliest_loser(&self, function: FunctionIx, gain: Gain) -> Option<FunctionIx> {
        let losers = gain.losers.iter();
        let losers: Vec<(FunctionIx, f64)> = losers
            .map(|(&loser, &lost)| (loser, lost))
            .filter(|&(loser, _)| !self.gains.is_kernel_mismatch(function, loser))
            .collect();
        let enough = MIN_SHARE * gain.lost;
        let likely = losers.iter().filter(|&&(_, lost)| lost >= enough);
        let most_similar = likely.min_by(|a, b| {
            self.distance(function, a.0)
                .total_cmp(&self.distance(function, b.0))
        });
        let by_cost = || losers.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        most_similar.or_else(by_cost).map(|&(loser, _)| loser)
    }

    fn distance(&self, function: FunctionIx, loser: FunctionIx) -> f64 {
        let tests = self.gains.regions.evidences.tests;
        [&tests.total, &tests.attributed]
            .map(|tests| {
                let (gained, lost) = (tests[function.get()].means, tests[loser.get()].means);
                match self.gains.direction {
                    Direction::Up => (gained.candidate - lost.baseline).abs(),
                    Direction::Down => (gained.baseline - lost.candidate).abs(),
                }
            })
            .iter()
            .sum()
    }
}
