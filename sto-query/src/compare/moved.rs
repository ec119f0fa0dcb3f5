//! Cost that is elsewhere now, and is not more: renamed, inlined, outlined and split functions, and
//! wrappers between two old ones.
//!
//! That one function costs less and another more by as much proves nothing. Cost moved only at one
//! place (see [`regions`](super::regions)), from what ended there to what began there, and only where
//! something besides the sum tells so:
//!
//! - **inlined or outlined**: stacks that a function called ended, and it costs more by itself; or
//!   stacks that it calls began, and it costs less by itself;
//! - **wrapped**: what a new function calls was called at its place before, without it;
//! - **named alike**, or **calling the same functions**, or **in the same source file**
//!   (see [`signs`](super::signs)); the last two only where one is wholly gone and the other wholly
//!   new. Where these call the same functions, or have nearly the same name, they need not be at the
//!   same place.
//!
//! A function that is still called where it was, and merely got faster, never pays for another; and
//! kernel and user code never do for each other. Functions that took each other's place are one
//! function from then on: what they call is compared as what one function calls.
//!
//! Where nothing tells, a function that is wholly gone and one that is wholly new at the same place
//! and of the same cost are a pair, too: one was [`replaced`](super::replaced) by the other.

use super::blame::{Cause, Evidences};
use super::evidence::{Direction, Setting, direction};
use super::functions::FunctionIx;
use super::pair::Pair;
use super::regions::{Classes, Place, Regions};
use super::replaced::replaced;
use super::report::Basis;
use super::signs::{Sign, Signs};
use crate::statistics::Variation;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Part of a function's change that must have been gained, and of that gain that must have been
/// lost at the same places, whatever the test says: with few samples, nothing is significant.
pub(super) const AT_LEAST: f64 = 0.5;

/// The other function of a pair, and what the two are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Partner {
    /// The cost moved from it, or to it.
    Moved(FunctionIx),
    /// The same, and it is the same function by another name, as that or what it calls tells.
    Renamed(FunctionIx),
    /// One was replaced by the other, and their caller costs no more.
    Replaced(FunctionIx),
    /// One was replaced by the other, but this caller costs more.
    ReplacedUnder(FunctionIx, Place),
    /// It is called by the first, which was replaced by the second, or the other way round.
    PartOf(FunctionIx, FunctionIx),
}

/// For each cause the function that its cost moved from (where it grew) or to (where it shrank), or
/// that it replaced.
pub(super) fn partners(
    evidences: &Evidences,
    causes: &[Cause],
    setting: &Setting,
    variation: &Variation,
) -> Vec<Option<Partner>> {
    let mut classes = Classes::new(evidences.functions.list.len());
    let mut partners: Vec<Option<Partner>> = vec![None; causes.len()];
    let balance = Balance { setting, variation };
    let changed: BTreeSet<(FunctionIx, Direction)> = causes
        .iter()
        .map(|cause| (cause.function, cause.direction))
        .collect();
    for (sign, placed) in Sign::ALL {
        let regions = Regions::of(evidences, &classes);
        let signs = Signs::of(&regions, sign);
        let moves = |(cause, known): (&Cause, &Option<Partner>)| match known {
            Some(_) => None,
            None => Moves {
                regions: &regions,
                signs: &signs,
                balance: &balance,
                changed: &changed,
                direction: cause.direction,
                placed,
            }
            .of(cause),
        };
        let found: Vec<Option<Found>> = causes.par_iter().zip(&partners).map(moves).collect();
        let mut merged = classes.clone();
        for ((cause, partner), found) in causes.iter().zip(&mut partners).zip(found) {
            let Some(found) = found else { continue };
            let neither_stays = !regions.stays(cause.function) && !regions.stays(found.partner);
            let are_one = found.by_sign && neither_stays;
            *partner = Some(match are_one && sign != Sign::File {
                true => Partner::Renamed(found.partner),
                false => Partner::Moved(found.partner),
            });
            if are_one {
                merged.merge(cause.function, found.partner);
            }
        }
        classes = merged;
    }
    replaced(evidences, causes, &balance, classes, &mut partners);
    partners
}

/// Whether two sums are the same, as far as the runs tell.
pub(super) struct Balance<'a> {
    pub(super) setting: &'a Setting<'a>,
    variation: &'a Variation,
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

/// What a cause gained where something tells of a move, and what was lost there.
#[derive(Debug, Default)]
struct Gain {
    gained: f64,
    lost: f64,
    /// The parts of both that are its own, without functions that it calls and that stay.
    own_gained: f64,
    own_lost: f64,
    /// The part that was lost by functions that a sign tells of.
    by_sign: f64,
    /// What each function lost that may be the one that the cost was in.
    losers: BTreeMap<FunctionIx, f64>,
}

/// A move that was found.
struct Found {
    partner: FunctionIx,
    /// Whether a sign told, and not a call.
    by_sign: bool,
}

/// The tree as seen from the side where a function has more: this side gained, the other lost.
/// Counts are samples in a run of size 1.
struct Moves<'a> {
    regions: &'a Regions<'a>,
    signs: &'a Signs<'a>,
    balance: &'a Balance<'a>,
    /// The causes.
    changed: &'a BTreeSet<(FunctionIx, Direction)>,
    /// The direction in which functions changed that have more on this side.
    direction: Direction,
    /// Whether both must be at the same place.
    placed: bool,
}

impl Moves<'_> {
    fn of(&self, cause: &Cause) -> Option<Found> {
        let gains = match self.placed {
            true => vec![
                self.begun(cause.function),
                self.by_itself(cause),
                self.inlined(cause.function),
            ],
            false => vec![self.elsewhere(cause.function), self.by_itself(cause)],
        };
        let gain = gains.into_iter().find(|gain| {
            gain.gained >= AT_LEAST * cause.explains.abs() && self.is_balanced(gain)
        })?;
        let by_sign = gain.by_sign >= AT_LEAST * gain.lost;
        let partner = self.likeliest_loser(cause.function, gain)?;
        Some(Found { partner, by_sign })
    }

    /// What this side has, and the other.
    fn this_first(&self, samples: Pair<f64>) -> (f64, f64) {
        let sizes = self.regions.evidences.sizes.sums();
        let (baseline, candidate) = (
            samples.baseline / sizes.baseline,
            samples.candidate / sizes.candidate,
        );
        match self.direction {
            Direction::Up => (candidate, baseline),
            Direction::Down => (baseline, candidate),
        }
    }

    fn total(&self, node: usize) -> (f64, f64) {
        self.this_first(self.regions.evidences.total(node))
    }

    fn own(&self, node: usize) -> (f64, f64) {
        self.this_first(self.regions.own(node))
    }

    /// Whether one is code of the kernel, and the other is not.
    fn are_apart(&self, a: FunctionIx, b: FunctionIx) -> bool {
        let list = &self.regions.evidences.functions.list;
        list[a.get()].kernel != list[b.get()].kernel
    }

    /// What a function gained where calls of it began.
    fn begun(&self, function: FunctionIx) -> Gain {
        let tree = self.regions.evidences.tree;
        let mut by_place: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for &node in &self.regions.nodes {
            let begins = tree.function(node) == function && tree.is_outermost(node);
            if begins && self.total(node).0 > 0.0 {
                by_place
                    .entry(self.regions.place(node))
                    .or_default()
                    .push(node);
            }
        }
        let mut gain = Gain::default();
        let places: BTreeSet<Place> = by_place.keys().copied().collect();
        let mut ended = self.ended(function, &places);
        for (place, nodes) in by_place {
            let sum =
                |part: &dyn Fn(usize) -> f64| nodes.iter().map(|&node| part(node)).sum::<f64>();
            let gained = sum(&|node| self.total(node).0);
            let own = sum(&|node| self.own(node).0);
            let share = |lost: f64, claimed: f64| own * (lost / claimed.max(own)).min(1.0);

            let ended = ended.remove(&place).unwrap_or_default();
            let by_sign = share(ended.lost, ended.claimed);
            let outlined = self.outlined(function, place);
            let begun = self.this_first(self.regions.turnover(place)).0;
            let by_call = share(outlined, begun);
            let own_lost = (by_sign + by_call).min(own);
            let wrapped = self.wrapped(place, &nodes, &mut gain.losers);

            gain.gained += gained;
            gain.lost += (own_lost + wrapped).min(gained);
            gain.own_gained += own;
            gain.own_lost += own_lost;
            gain.by_sign += by_sign;
            for (loser, lost) in ended.losers {
                *gain.losers.entry(loser).or_default() += lost.min(gained);
            }
            if let Some(caller) = place.filter(|_| outlined > 0.0) {
                *gain.losers.entry(caller).or_default() += outlined.min(gained);
            }
        }
        gain.losers.remove(&function);
        gain
    }

    /// What a function gained by itself where calls of it began, and what functions that a sign tells
    /// of lost by themselves. What it calls may have got dearer: that is a cause of its own.
    fn by_itself(&self, cause: &Cause) -> Gain {
        if cause.basis != Basis::AttributedSelf {
            return Gain::default();
        }
        self.against(cause.function, |node| {
            self.this_first(self.regions.evidences.attributed(node))
        })
    }

    /// What a function gained with all that it calls, wherever it is called from.
    fn elsewhere(&self, function: FunctionIx) -> Gain {
        self.against(function, |node| {
            match self.regions.evidences.tree.is_outermost(node) {
                true => self.total(node),
                false => (0.0, 0.0),
            }
        })
    }

    /// What a function gained of a cost by node, and what functions that a sign tells of lost of it: at
    /// the same places, or anywhere.
    fn against(&self, function: FunctionIx, cost: impl Fn(usize) -> (f64, f64)) -> Gain {
        let tree = self.regions.evidences.tree;
        let at = |node: usize| match self.placed {
            true => self.regions.place(node),
            false => None,
        };
        let mut gained: BTreeMap<Place, f64> = BTreeMap::new();
        for &node in self
            .regions
            .nodes
            .iter()
            .filter(|&&node| tree.function(node) == function)
        {
            *gained.entry(at(node)).or_default() += cost(node).0;
        }
        gained.retain(|_, gained| *gained > 0.0);
        let mut sides: BTreeMap<FunctionIx, BTreeMap<Place, (f64, f64)>> = BTreeMap::new();
        for &node in &self.regions.nodes {
            if gained.contains_key(&at(node)) {
                let sum = sides.entry(tree.function(node)).or_default();
                let sum = sum.entry(at(node)).or_default();
                let (this, other) = cost(node);
                *sum = (sum.0 + this, sum.1 + other);
            }
        }
        let losers: BTreeSet<FunctionIx> = sides
            .keys()
            .copied()
            .filter(|&loser| loser != function && self.signs.tell(function, loser))
            .collect();
        let mut gain = Gain::default();
        for (&place, &gained) in &gained {
            let (mut lost, mut claimed) = (0.0, 0.0);
            for (&other, costs) in &sides {
                let Some(&(begun, ended)) = costs.get(&place) else {
                    continue;
                };
                if losers.contains(&other) && ended > 0.0 {
                    lost += ended;
                    *gain.losers.entry(other).or_default() += ended.min(gained);
                }
                let has_claim = |loser: &FunctionIx| self.signs.tell(other, *loser);
                if begun > 0.0 && (other == function || losers.iter().any(has_claim)) {
                    claimed += begun;
                }
            }
            gain.gained += gained;
            gain.lost += gained * (lost / claimed.max(gained)).min(1.0);
        }
        (gain.own_gained, gain.own_lost) = (gain.gained, gain.lost);
        gain.by_sign = gain.lost;
        gain
    }

    /// What a place lost by itself, where it is a cause: its code may have gone into what it calls.
    fn outlined(&self, function: FunctionIx, place: Place) -> f64 {
        let Some(class) = place.filter(|&class| !self.are_apart(function, class)) else {
            return 0.0;
        };
        let less = match self.direction {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        };
        let is_cause = |&&(function, direction): &&(FunctionIx, Direction)| {
            direction == less && self.regions.classes.of(function) == class
        };
        if !self.changed.iter().any(|cause| is_cause(&cause)) {
            return 0.0;
        }
        let (this, other) = self.this_first(self.regions.attributed(class));
        (other - this).max(0.0)
    }

    /// What functions that stay cost below these nodes, as far as they cost it at the place before,
    /// without them.
    fn wrapped(
        &self,
        place: Place,
        nodes: &[usize],
        losers: &mut BTreeMap<FunctionIx, f64>,
    ) -> f64 {
        let tree = self.regions.evidences.tree;
        let mut below: BTreeMap<FunctionIx, (FunctionIx, f64)> = BTreeMap::new();
        for below_node in nodes.iter().flat_map(|&n| self.regions.staying_below(n)) {
            let callee = tree.function(below_node);
            let class = self.regions.classes.of(callee);
            below.entry(class).or_insert((callee, 0.0)).1 += self.total(below_node).0;
        }
        if below.is_empty() {
            return 0.0;
        }
        // What called them at the place before, if that is gone: the function was renamed.
        let mut called_before: BTreeMap<FunctionIx, BTreeMap<FunctionIx, f64>> = BTreeMap::new();
        for &node in &self.regions.nodes {
            if self.regions.place(node) != place || self.total(node).1 == 0.0 {
                continue;
            }
            for below_node in self.regions.staying_below(node) {
                let class = self.regions.classes.of(tree.function(below_node));
                if below.contains_key(&class) {
                    let callers = called_before.entry(class).or_default();
                    *callers.entry(tree.function(node)).or_default() += self.total(below_node).1;
                }
            }
        }
        let mut wrapped = 0.0;
        for (class, (callee, cost)) in below {
            let [all, in_regions] = self.regions.calls(place, class);
            let (all, in_regions) = (self.this_first(all), self.this_first(in_regions));
            let without = (all.1 - (all.0 - in_regions.0)).max(0.0);
            let lost = cost * (without / in_regions.0).min(1.0);
            wrapped += lost;
            let callers = called_before.remove(&class);
            let callers = callers.unwrap_or_else(|| BTreeMap::from([(callee, lost)]));
            for (loser, cost) in callers {
                *losers.entry(loser).or_default() += lost.min(cost);
            }
        }
        wrapped
    }

    /// What ended at these places of functions that a sign tells of, and what began there that has as
    /// much of a claim to it.
    fn ended(&self, function: FunctionIx, places: &BTreeSet<Place>) -> BTreeMap<Place, Ended> {
        let tree = self.regions.evidences.tree;
        let mut of_place: BTreeMap<Place, Ended> = BTreeMap::new();
        let mut likely: BTreeMap<FunctionIx, bool> = BTreeMap::new();
        let mut upto: BTreeMap<Place, usize> = BTreeMap::new();
        let at_places = || {
            let nodes = self.regions.nodes.iter().copied();
            nodes.filter(|&node| places.contains(&self.regions.place(node)))
        };
        for node in at_places().filter(|&node| self.total(node).1 > 0.0) {
            let loser = tree.function(node);
            let is_likely = *likely
                .entry(loser)
                .or_insert_with(|| loser != function && self.signs.tell(function, loser));
            if !is_likely || !tree.is_outermost(node) {
                continue;
            }
            let place = self.regions.place(node);
            let ended = of_place.entry(place).or_default();
            *ended.losers.entry(loser).or_default() += self.total(node).1;
            let upto = upto.entry(place).or_default();
            if node >= *upto {
                ended.lost += self.own(node).1;
                *upto = tree.subtree(node).end;
            }
        }
        let losers: Vec<FunctionIx> = likely
            .into_iter()
            .filter(|&(_, is_likely)| is_likely)
            .map(|(loser, _)| loser)
            .collect();
        if losers.is_empty() {
            return of_place;
        }
        let mut claims: BTreeMap<FunctionIx, bool> = BTreeMap::from([(function, true)]);
        upto.clear();
        for node in at_places().filter(|&node| self.total(node).0 > 0.0) {
            let claimant = tree.function(node);
            let has_claim = *claims
                .entry(claimant)
                .or_insert_with(|| losers.iter().any(|&loser| self.signs.tell(claimant, loser)));
            let place = self.regions.place(node);
            let upto = upto.entry(place).or_default();
            if has_claim && node >= *upto {
                of_place.entry(place).or_default().claimed += self.own(node).0;
                *upto = tree.subtree(node).end;
            }
        }
        of_place
    }

    /// What a function that stays gained by itself, where calls that it made ended.
    fn inlined(&self, function: FunctionIx) -> Gain {
        let mut gain = Gain::default();
        if !self.regions.stays(function) {
            return gain;
        }
        let class = self.regions.classes.of(function);
        let (this, other) = self.this_first(self.regions.attributed(class));
        let tree = self.regions.evidences.tree;
        let (mut begun, mut ended) = (0.0, 0.0);
        for &node in &self.regions.nodes {
            let callee = tree.function(node);
            if self.regions.place(node) != Some(class) || self.are_apart(function, callee) {
                continue;
            }
            let (this, other) = self.own(node);
            if self.regions.is_direct(node) {
                begun += this;
                ended += other;
            }
            if other > 0.0 && tree.is_outermost(node) {
                *gain.losers.entry(callee).or_default() += self.total(node).1;
            }
        }
        gain.gained = (this - other).max(0.0);
        gain.lost = (ended - begun).clamp(0.0, gain.gained);
        (gain.own_gained, gain.own_lost) = (gain.gained, gain.lost);
        gain
    }

    /// Whether the function did not gain significantly more than was lost, neither with nor without
    /// what it calls.
    fn is_balanced(&self, gain: &Gain) -> bool {
        let setting = self.balance.setting;
        let whole = setting.sizes.means(setting.samples);
        let is_small =
            gain.own_gained < setting.options.min_share * whole.baseline.max(whole.candidate);
        let is_more = |gained, lost| self.balance.is_more(gained, lost, self.direction);
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
            .filter(|&(loser, _)| !self.are_apart(function, loser))
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
        let tests = self.regions.evidences.tests;
        [&tests.total, &tests.attributed]
            .map(|tests| {
                let (gained, lost) = (tests[function.get()].means, tests[loser.get()].means);
                match self.direction {
                    Direction::Up => (gained.candidate - lost.baseline).abs(),
                    Direction::Down => (gained.baseline - lost.candidate).abs(),
                }
            })
            .iter()
            .sum()
    }
}

/// What ended at a place of functions that a sign tells of.
#[derive(Debug, Default)]
struct Ended {
    lost: f64,
    /// What began there that the sign tells of as well.
    claimed: f64,
    /// What each of them cost there.
    losers: BTreeMap<FunctionIx, f64>,
}
