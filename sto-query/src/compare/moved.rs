//! Cost that is elsewhere now, and is not more: renamed, inlined, outlined and split functions, and
//! wrappers between two old ones.
//!
//! That one function costs less and another more by as much proves nothing. Cost moved only at one
//! caller (see [`regions`](super::regions)), from what ended there to what began there, and only where
//! something besides the sum says so:
//!
//! - **inlined or outlined**: stacks that a function called ended, and it costs more by itself; or
//!   stacks that it calls began, and it costs less by itself;
//! - **wrapped**: what a new function calls was called by its caller before, without it;
//! - **named alike**, or **calling the same functions**, or **in the same source file**
//!   (see [`signs`](super::signs)); the last two only where one is wholly gone and the other wholly
//!   new. Where these call the same functions, or have nearly the same name, they need not be at the
//!   same caller.
//!
//! A function that is still called where it was, and merely got faster, never pays for another; and
//! kernel and user code never do for each other. Functions that took each other's place are one
//! function from then on: what they call is compared as what one function calls.
//!
//! Where nothing says so, a function that is wholly gone and one that is wholly new under the same caller
//! and of the same cost are a pair, too: one was [`replaced`](super::replaced) by the other.

use super::cause::{Cause, Evidences};
use super::evidence::{Direction, Setting};
use super::functions::{FunctionIx, Renamed};
use super::gains::{Gain, Gains};
use super::partner::{AT_LEAST, Balance, Partner};
use super::regions::{Classes, Regions};
use super::renamed::Pairs;
use super::replaced::replaced;
use super::result::Basis;
use super::signs::{Sign, Signs};
use rayon::prelude::*;
use std::collections::BTreeSet;
use sto_stats::Variation;

/// What became of the causes.
pub(super) struct Partners {
    /// By cause, the function that its cost moved from (where it grew) or to (where it shrank), or that
    /// it replaced.
    pub(super) of_cause: Vec<Option<Partner>>,
    /// Functions that are one by two names.
    pub(super) renamed: Vec<Renamed>,
}

/// Finds where the cost of causes was before, or is now.
pub(super) fn partners(
    evidences: &Evidences,
    causes: &[Cause],
    setting: &Setting,
    variation: &Variation,
) -> Partners {
    if setting.within_runs || !setting.has_stacks {
        return Partners {
            of_cause: vec![None; causes.len()],
            renamed: Vec::new(),
        };
    }
    let mut regions = Regions::of(evidences, Classes::new(evidences.functions.list.len()));
    let mut of_cause: Vec<Option<Partner>> = vec![None; causes.len()];
    let mut pairs = Pairs::new(evidences, causes);
    let balance = Balance { setting, variation };
    let changed: BTreeSet<(FunctionIx, Direction)> = causes
        .iter()
        .map(|cause| (cause.function, cause.direction))
        .collect();
    let mut signs_left = Sign::ALL.into_iter().peekable();
    while signs_left.peek().is_some() {
        let signs = Signs::of(&regions);
        let mut merged = regions.classes.clone();
        // What is known of functions holds until some of them are one.
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
                .of(cause),
            };
            let found: Vec<Option<FunctionIx>> =
                causes.par_iter().zip(&of_cause).map(moves).collect();
            for ((cause, partner), found) in causes.iter().zip(&mut of_cause).zip(found) {
                let Some(other) = found else { continue };
                let matched = |sign| signs.matches(sign, cause.function, other);
                let neither_stays = !regions.stays(cause.function) && !regions.stays(other);
                let are_one = neither_stays && (matched(Sign::Names) || matched(Sign::Callees));
                *partner = Some(match are_one {
                    true => Partner::Renamed(other),
                    false => Partner::Moved(other),
                });
                if are_one || neither_stays && matched(Sign::File) {
                    merged.merge(cause.function, other);
                    pairs.add(cause, other, &signs, are_one);
                }
            }
        }
        drop(signs);
        regions = regions.with(merged);
    }
    let renamed = pairs.renamed(&of_cause, &regions);
    replaced(regions, causes, &balance, &mut of_cause);
    Partners { of_cause, renamed }
}

/// What says whether cost moved.
struct Moves<'a> {
    gains: Gains<'a>,
    balance: &'a Balance<'a>,
}

impl Moves<'_> {
    fn of(&self, cause: &Cause) -> Option<FunctionIx> {
        let mut gains = self.gains.of(cause);
        if cause.basis == Basis::Total {
            // What other causes below it explain is theirs: a wrapper of what got dearer is no dearer.
            for gain in &mut gains {
                gain.gained = gain.gained.min(cause.explains.abs());
            }
        }
        let gain = gains.into_iter().find(|gain| {
            gain.gained >= AT_LEAST * cause.explains.abs() && self.is_balanced(gain)
        })?;
        self.likeliest_loser(cause.function, gain)
    }

    /// Whether the function did not gain significantly more than was lost, neither with nor without
    /// what it calls.
    fn is_balanced(&self, gain: &Gain) -> bool {
        let setting = self.balance.setting;
        let whole = setting.sizes.means(setting.samples);
        let is_small =
            gain.own_gained < setting.options.min_share * whole.baseline.max(whole.candidate);
        let is_more = |gained, lost| self.balance.is_more(gained, lost, self.gains.direction);
        gain.lost > 0.0
            && gain.lost >= AT_LEAST * gain.gained
            && !is_more(gain.gained, gain.lost)
            && (is_small || !is_more(gain.own_gained, gain.own_lost))
    }

    /// Of the functions that lost at least half as much, the one that was most like this function: in
    /// its total and in what it cost by itself.
    fn likeliest_loser(&self, function: FunctionIx, gain: Gain) -> Option<FunctionIx> {
        let losers = gain.losers.iter();
        let losers: Vec<(FunctionIx, f64)> = losers
            .map(|(&loser, &lost)| (loser, lost))
            .filter(|&(loser, _)| !self.gains.never_share(function, loser))
            .collect();
        let enough = AT_LEAST * gain.lost;
        let likely = losers.iter().filter(|&&(_, lost)| lost >= enough);
        let by_likeness = likely.min_by(|a, b| {
            self.unlikeness(function, a.0)
                .total_cmp(&self.unlikeness(function, b.0))
        });
        let by_cost = || losers.iter().rev().max_by(|a, b| a.1.total_cmp(&b.1));
        by_likeness.or_else(by_cost).map(|&(loser, _)| loser)
    }

    fn unlikeness(&self, function: FunctionIx, loser: FunctionIx) -> f64 {
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
