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
use std::collections::BTreeMap;

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
    let mut partners = vec![None; causes.len()];
    for direction in [Direction::Up, Direction::Down] {
        if causes.iter().all(|cause| cause.direction != direction) {
            continue;
        }
        let moves = Moves::new(evidences, causes, direction);
        for (partner, cause) in partners.iter_mut().zip(causes) {
            if cause.direction == direction {
                *partner = moves.partner(cause, setting, variation);
            }
        }
    }
    partners
}

/// What a function gained at a place, and how much of that was lost there by others.
#[derive(Default)]
struct Gain {
    gained: f64,
    lost: f64,
}

/// By place.
type Gains = BTreeMap<usize, Gain>;

fn sum(gains: &Gains, part: impl Fn(&Gain) -> f64) -> f64 {
    gains.values().map(part).sum()
}

/// The tree as seen from the side where a function has more: this side gained, the other lost.
/// Counts are samples in a run of size 1.
struct Moves<'a> {
    evidences: &'a Evidences<'a>,
    /// The direction in which functions changed that have more on this side.
    direction: Direction,
    this: Columns,
    other: Columns,
    /// For each node the nearest caller that both sides have; behind the last node stands the
    /// place that is the whole program.
    place: Vec<usize>,
    /// By place: what only the other side, and what only this side has called from there.
    ended: Vec<f64>,
    begun: Vec<f64>,
    /// By node: what a finding lost of its attributed self cost.
    lost_self: Vec<f64>,
    /// By place: what findings called from there lost of it.
    lost_by_callees: Vec<f64>,
}

/// Costs of one side by node.
struct Columns {
    total: Vec<f64>,
    attributed: Vec<f64>,
}

impl<'a> Moves<'a> {
    fn new(evidences: &'a Evidences, causes: &[Cause], direction: Direction) -> Self {
        let tree = evidences.tree;
        let (this, other) = columns(evidences, direction);
        let program = tree.len();
        let mut moves = Moves {
            evidences,
            direction,
            this,
            other,
            place: Vec::with_capacity(program),
            ended: vec![0.0; program + 1],
            begun: vec![0.0; program + 1],
            lost_self: vec![0.0; program + 1],
            lost_by_callees: vec![0.0; program + 1],
        };
        let mut has_shrunk = vec![false; evidences.functions.list.len()];
        for cause in causes.iter().filter(|cause| cause.direction != direction) {
            has_shrunk[cause.function.get()] = true;
        }
        for node in 0..program {
            let parent = tree.parent(node);
            let is_below_both = parent.is_none_or(|parent| moves.is_on_both(parent));
            let place = match parent {
                Some(parent) if is_below_both => parent,
                Some(parent) => moves.place[parent],
                None => program,
            };
            moves.place.push(place);
            if is_below_both && !moves.is_on_both(node) {
                moves.ended[place] += moves.other.total[node];
                moves.begun[place] += moves.this.total[node];
            }
            if moves.is_on_both(node) && has_shrunk[tree.function(node).get()] {
                let lost = moves.other.attributed[node] - moves.this.attributed[node];
                moves.lost_self[node] = lost.max(0.0);
                moves.lost_by_callees[place] += lost.max(0.0);
            }
        }
        moves
    }

    fn partner(
        &self,
        cause: &Cause,
        setting: &Setting,
        variation: &Variation,
    ) -> Option<FunctionIx> {
        let gains = [
            self.gains_by_total(cause.function),
            self.gains_by_self(cause.function),
        ];
        let balanced = gains.into_iter().find(|gains| {
            sum(gains, |gain| gain.gained) >= AT_LEAST * cause.explains.abs()
                && self.is_balanced(gains, setting, variation)
        });
        balanced.and_then(|gains| self.likeliest_loser(cause.function, &gains))
    }

    fn is_on_both(&self, node: usize) -> bool {
        self.this.total[node] > 0.0 && self.other.total[node] > 0.0
    }

    fn nodes_of(&self, function: FunctionIx) -> impl Iterator<Item = usize> + '_ {
        let tree = self.evidences.tree;
        (0..tree.len()).filter(move |&node| tree.function(node) == function)
    }

    /// What the function's total gained where it is called from.
    fn gains_by_total(&self, function: FunctionIx) -> Gains {
        let mut gains = Gains::new();
        for node in self
            .nodes_of(function)
            .filter(|&node| self.evidences.tree.is_outermost(node))
        {
            let place = self.place[node];
            let gained = self.this.total[node] - self.other.total[node];
            let ended = self.ended[place] + self.lost_self[place];
            let lost = if self.is_on_both(node) {
                // What has begun at the place comes first.
                ended - self.begun[place]
            } else {
                // What has begun at the place shares in what was lost there.
                let lost = ended + self.lost_by_callees[place];
                gained * lost / self.begun[place].max(gained)
            };
            add(&mut gains, place, gained, lost);
        }
        gains
    }

    /// What the function's self cost gained where stacks below it ended.
    fn gains_by_self(&self, function: FunctionIx) -> Gains {
        let mut gains = Gains::new();
        for node in self
            .nodes_of(function)
            .filter(|&node| self.is_on_both(node))
        {
            let gained = self.this.attributed[node] - self.other.attributed[node];
            add(
                &mut gains,
                node,
                gained,
                self.ended[node] - self.begun[node],
            );
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
        let mut lost: BTreeMap<(FunctionIx, usize), f64> = BTreeMap::new();
        let mut lose = |function: FunctionIx, place: usize, samples: f64| {
            if gains.contains_key(&place) && samples > 0.0 {
                *lost.entry((function, place)).or_default() += samples;
            }
        };
        for node in 0..tree.len() {
            let place = self.place[node];
            if self.is_on_both(node) {
                lose(tree.function(node), node, self.lost_self[node]);
                lose(tree.function(node), place, self.lost_self[node]);
            } else if tree.is_outermost(node) {
                lose(tree.function(node), place, self.other.total[node]);
            }
        }
        let mut overlaps: BTreeMap<FunctionIx, f64> = BTreeMap::new();
        for ((loser, place), samples) in lost {
            let gained = gains.get(&place).map_or(0.0, |gain| gain.gained);
            *overlaps.entry(loser).or_default() += samples.min(gained);
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

fn columns(evidences: &Evidences, direction: Direction) -> (Columns, Columns) {
    let sizes = evidences.sizes.sums();
    let scaled = |samples: &[u64], size: f64| samples.iter().map(|&x| x as f64 / size).collect();
    let (total, attributed) = (&evidences.nodes.total, &evidences.nodes.attributed);
    let baseline = Columns {
        total: scaled(&total.baseline, sizes.baseline),
        attributed: scaled(&attributed.baseline, sizes.baseline),
    };
    let candidate = Columns {
        total: scaled(&total.candidate, sizes.candidate),
        attributed: scaled(&attributed.candidate, sizes.candidate),
    };
    match direction {
        Direction::Up => (candidate, baseline),
        Direction::Down => (baseline, candidate),
    }
}

fn add(gains: &mut Gains, place: usize, gained: f64, lost: f64) {
    if gained > 0.0 {
        let gain = gains.entry(place).or_default();
        gain.gained += gained;
        gain.lost += lost.clamp(0.0, gained);
    }
}
