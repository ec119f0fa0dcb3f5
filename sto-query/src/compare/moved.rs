//! Cost that stands elsewhere, and is not more: renamed, inlined, outlined, replaced functions, and
//! wrappers between two old frames.
//!
//! Such a change leaves a trace in the tree: below one caller, stacks of one side end and stacks of
//! the other begin. If what a function gained there is not significantly more than what was lost
//! at the same places, the cost moved. What may have been lost at a place, a call path that both
//! sides have:
//!
//! - stacks below it that only the other side has;
//! - self cost of the place's own function, where that is a finding (outlining);
//! - for a function that the other side does not have there: cost of other functions called from
//!   the place that are findings (splitting).
//!
//! Two functions that stay where they are, one of which grew while the other shrank, are not
//! called moved: that is a regression and an improvement.

use super::blame::{Cause, Evidences};
use super::evidence::{Direction, Setting, direction};
use super::functions::FunctionIx;
use super::pair::Pair;
use crate::statistics::Variation;
use hashbrown::HashMap;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Part of a function's change that must have been gained, and of that gain that must have been
/// lost at the same places, whatever the test says: with few samples, nothing is significant.
const AT_LEAST: f64 = 0.5;

/// For each cause the function that its cost moved from (where it grew) or to (where it shrank).
pub(super) fn partners(
    evidences: &Evidences,
    causes: &[Cause],
    setting: &Setting,
    variation: &Variation,
) -> Vec<Option<FunctionIx>> {
    let tree = evidences.tree;
    let changed = causes.iter().map(|cause| (cause.function, cause.direction));
    let changed: BTreeSet<(FunctionIx, Direction)> = changed.collect();
    let nodes = changed.iter().map(|&(function, _)| (function, Vec::new()));
    let mut nodes: HashMap<FunctionIx, Vec<usize>> = nodes.collect();
    let mut places: Vec<Place> = Vec::with_capacity(tree.len());
    for node in 0..tree.len() {
        let place = tree
            .parent(node)
            .and_then(|parent| match evidences.is_on_both(parent) {
                true => Some(parent),
                false => places[parent],
            });
        places.push(place);
        if let Some(nodes) = nodes.get_mut(&tree.function(node)) {
            nodes.push(node);
        }
    }
    let partner = |cause: &Cause| {
        let view = Moves {
            evidences,
            direction: cause.direction,
            places: &places,
            changed: &changed,
        };
        view.partner(cause, &nodes[&cause.function], setting, variation)
    };
    causes.par_iter().map(partner).collect()
}

/// What a function gained at a place, and how much of that was lost there by others.
#[derive(Default)]
struct Gain {
    gained: f64,
    lost: f64,
}

/// A node that both sides have; `None` is the whole program.
type Place = Option<usize>;

type Gains = BTreeMap<Place, Gain>;

fn sum(gains: &Gains, part: impl Fn(&Gain) -> f64) -> f64 {
    gains.values().map(part).sum()
}

/// The tree as seen from the side where a function has more: this side gained, the other lost.
/// Counts are samples in a run of size 1.
struct Moves<'a> {
    evidences: &'a Evidences<'a>,
    /// The direction in which functions changed that have more on this side.
    direction: Direction,
    /// For each node the nearest caller that both sides have.
    places: &'a [Place],
    /// The causes.
    changed: &'a BTreeSet<(FunctionIx, Direction)>,
}

/// What happened among the callees of a place.
struct Turnover {
    /// What only the other side, and what only this side has called from there.
    ended: f64,
    begun: f64,
    /// What findings lost of their attributed self cost.
    lost_by_callees: f64,
}

impl Moves<'_> {
    fn partner(
        &self,
        cause: &Cause,
        nodes: &[usize],
        setting: &Setting,
        variation: &Variation,
    ) -> Option<FunctionIx> {
        let gains = [self.gains_by_total(nodes), self.gains_by_self(nodes)];
        let balanced = gains.into_iter().find(|gains| {
            sum(gains, |gain| gain.gained) >= AT_LEAST * cause.explains.abs()
                && self.is_balanced(gains, setting, variation)
        });
        balanced.and_then(|gains| self.likeliest_loser(cause.function, &gains))
    }

    /// What a node and all below it have on this side, and on the other.
    fn total(&self, node: usize) -> (f64, f64) {
        self.this_first(self.evidences.total(node))
    }

    /// What was laid at a node on this side, and on the other.
    fn attributed(&self, node: usize) -> (f64, f64) {
        self.this_first(self.evidences.attributed(node))
    }

    fn this_first(&self, samples: Pair<f64>) -> (f64, f64) {
        let sizes = self.evidences.sizes.sums();
        let (baseline, candidate) = (
            samples.baseline / sizes.baseline,
            samples.candidate / sizes.candidate,
        );
        match self.direction {
            Direction::Up => (candidate, baseline),
            Direction::Down => (baseline, candidate),
        }
    }

    /// What a finding lost of its attributed self cost at a node that both sides have.
    fn lost_self(&self, node: usize) -> f64 {
        let other_direction = match self.direction {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        };
        let function = self.evidences.tree.function(node);
        if !self.changed.contains(&(function, other_direction)) {
            return 0.0;
        }
        let (this, other) = self.attributed(node);
        (other - this).max(0.0)
    }

    fn turnover(&self, place: Place) -> Turnover {
        let mut turnover = Turnover {
            ended: 0.0,
            begun: 0.0,
            lost_by_callees: 0.0,
        };
        for callee in self.evidences.tree.callees(place) {
            if self.evidences.is_on_both(callee) {
                turnover.lost_by_callees += self.lost_self(callee);
            } else {
                let (this, other) = self.total(callee);
                turnover.begun += this;
                turnover.ended += other;
            }
        }
        turnover
    }

    /// What a function's total gained where it is called from.
    fn gains_by_total(&self, nodes: &[usize]) -> Gains {
        let Evidences { tree, .. } = *self.evidences;
        let mut by_place: BTreeMap<Place, Vec<usize>> = BTreeMap::new();
        for &node in nodes.iter().filter(|&&node| tree.is_outermost(node)) {
            by_place.entry(self.places[node]).or_default().push(node);
        }
        let mut gains = Gains::new();
        for (place, nodes) in by_place {
            let turnover = self.turnover(place);
            let ended = turnover.ended + place.map_or(0.0, |place| self.lost_self(place));
            for node in nodes {
                let (this, other) = self.total(node);
                let gained = this - other;
                let lost = if self.evidences.is_on_both(node) {
                    // What has begun at the place comes first.
                    ended - turnover.begun
                } else {
                    // What has begun at the place shares in what was lost there.
                    gained * (ended + turnover.lost_by_callees) / turnover.begun.max(gained)
                };
                add(&mut gains, place, gained, lost);
            }
        }
        gains
    }

    /// What a function's self cost gained where stacks below it ended.
    fn gains_by_self(&self, nodes: &[usize]) -> Gains {
        let mut gains = Gains::new();
        for &node in nodes {
            let (this, other) = self.attributed(node);
            if this > other && self.evidences.is_on_both(node) {
                let Turnover { ended, begun, .. } = self.turnover(Some(node));
                add(&mut gains, Some(node), this - other, ended - begun);
            }
        }
        gains
    }

    /// Whether the function did not gain significantly more than was lost.
    fn is_balanced(&self, gains: &Gains, setting: &Setting, variation: &Variation) -> bool {
        let gained = sum(gains, |gain| gain.gained);
        let lost = sum(gains, |gain| gain.lost);
        let means = match self.direction {
            Direction::Up => Pair::new(lost, gained),
            Direction::Down => Pair::new(gained, lost),
        };
        let sizes = setting.sizes.sums();
        let samples = [
            (means.baseline * sizes.baseline).round(),
            (means.candidate * sizes.candidate).round(),
        ];
        let p = variation.p_value_of_sums(samples, &setting.design);
        let gained_more = p <= setting.options.alpha
            && direction(means, setting.options.min_effect) == Some(self.direction);
        lost > 0.0 && lost >= AT_LEAST * gained && !gained_more
    }

    /// Of the functions that lost at least half as much at the same places, the one that was most
    /// like this function: in its total and in what it cost by itself.
    fn likeliest_loser(&self, function: FunctionIx, gains: &Gains) -> Option<FunctionIx> {
        let tree = self.evidences.tree;
        let mut overlaps: BTreeMap<FunctionIx, f64> = BTreeMap::new();
        for (&place, gain) in gains {
            let mut lost: BTreeMap<FunctionIx, f64> = BTreeMap::new();
            let mut lose = |node: usize, samples: f64| {
                if samples > 0.0 {
                    *lost.entry(tree.function(node)).or_default() += samples;
                }
            };
            place
                .iter()
                .for_each(|&node| lose(node, self.lost_self(node)));
            for callee in tree.callees(place) {
                if self.evidences.is_on_both(callee) {
                    lose(callee, self.lost_self(callee));
                    continue;
                }
                for node in tree.subtree(callee).filter(|&node| tree.is_outermost(node)) {
                    lose(node, self.total(node).1);
                }
            }
            for (loser, samples) in lost {
                *overlaps.entry(loser).or_default() += samples.min(gain.gained);
            }
        }
        overlaps.remove(&function);
        let enough = AT_LEAST * sum(gains, |gain| gain.lost);
        let likely = overlaps.iter().filter(|&(_, &overlap)| overlap >= enough);
        let by_likeness = likely.min_by(|a, b| {
            self.unlikeness(function, *a.0)
                .total_cmp(&self.unlikeness(function, *b.0))
        });
        let by_overlap = || overlaps.iter().rev().max_by(|a, b| a.1.total_cmp(b.1));
        by_likeness.or_else(by_overlap).map(|(&loser, _)| loser)
    }

    fn unlikeness(&self, function: FunctionIx, loser: FunctionIx) -> f64 {
        let tests = self.evidences.tests;
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

fn add(gains: &mut Gains, place: Place, gained: f64, lost: f64) {
    if gained > 0.0 {
        let gain = gains.entry(place).or_default();
        gain.gained += gained;
        gain.lost += lost.clamp(0.0, gained);
    }
}
