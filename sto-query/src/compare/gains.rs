//! Computes what a function gained and what was lost in the same place, to decide whether its cost
//! [moved](super::moved).
//!
//! Everything is seen from the side where the function has more: this side gained, the other lost.
//! Counts are samples in a run of size 1.

use super::cause::Cause;
use super::evidence::Direction;
use super::functions::FunctionIx;
use super::pair::Pair;
use super::regions::{Caller, Regions};
use super::result::Basis;
use super::signs::{Sign, Signs};
use std::collections::{BTreeMap, BTreeSet};

/// The cost that a cause gained with evidence that it moved, and the cost that was lost there.
#[derive(Debug, Default)]
pub(super) struct Gain {
    pub(super) gained: f64,
    pub(super) lost: f64,
    /// The parts of both without callees that stay.
    pub(super) own_gained: f64,
    pub(super) own_lost: f64,
    /// The loss of each function that may have had the cost.
    pub(super) losers: BTreeMap<FunctionIx, f64>,
}

/// Computes gains, for one sign and direction.
pub(super) struct Gains<'a> {
    pub(super) regions: &'a Regions<'a>,
    pub(super) signs: &'a Signs<'a>,
    pub(super) sign: Sign,
    /// All causes.
    pub(super) changed: &'a BTreeSet<(FunctionIx, Direction)>,
    /// The direction of functions that have more on this side.
    pub(super) direction: Direction,
    /// Whether the loss must be under the same caller.
    pub(super) same_caller: bool,
}

impl Gains<'_> {
    /// Returns the gains of a cause, for each way in which it may have moved. The first that fits
    /// is used.
    pub(super) fn compute(&self, cause: &Cause) -> Vec<Gain> {
        if self.same_caller {
            vec![
                self.begun(cause.function),
                self.by_itself(cause),
                self.inlined(cause.function),
            ]
        } else {
            vec![self.elsewhere(cause.function), self.by_itself(cause)]
        }
    }

    /// Returns the means of this side and of the other.
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
        self.this_first(self.regions.region_self(node))
    }

    /// Whether one is kernel code, and the other is not.
    pub(super) fn is_kernel_mismatch(&self, a: FunctionIx, b: FunctionIx) -> bool {
        let list = &self.regions.evidences.functions.list;
        list[a.get()].kernel != list[b.get()].kernel
    }

    /// Returns the gain of a function where calls of it began.
    fn begun(&self, function: FunctionIx) -> Gain {
        let tree = self.regions.evidences.tree;
        let mut by_caller: BTreeMap<Caller, Vec<usize>> = BTreeMap::new();
        for node in self.regions.nodes_of_function(function) {
            if tree.is_outermost(node) && self.total(node).0 > 0.0 {
                by_caller
                    .entry(self.regions.caller(node))
                    .or_default()
                    .push(node);
            }
        }
        let mut gain = Gain::default();
        let callers: BTreeSet<Caller> = by_caller.keys().copied().collect();
        let mut ended = self.ended(function, &callers);
        for (caller, nodes) in by_caller {
            let sum =
                |part: &dyn Fn(usize) -> f64| nodes.iter().map(|&node| part(node)).sum::<f64>();
            let gained = sum(&|node| self.total(node).0);
            let own = sum(&|node| self.own(node).0);
            let share = |lost: f64, claimed: f64| own * (lost / claimed.max(own)).min(1.0);

            let ended = ended.remove(&caller).unwrap_or_default();
            let by_sign = share(ended.lost, ended.claimed);
            let outlined = self.outlined(function, caller);
            let begun = self.this_first(self.regions.attributed_under(caller)).0;
            let by_call = share(outlined, begun);
            let own_lost = (by_sign + by_call).min(own);
            let wrapped = self.wrapped(caller, &nodes, &mut gain.losers);

            gain.gained += gained;
            gain.lost += (own_lost + wrapped).min(gained);
            gain.own_gained += own;
            gain.own_lost += own_lost;
            for (loser, lost) in ended.losers {
                *gain.losers.entry(loser).or_default() += lost.min(gained);
            }
            if let Some(class) = caller.filter(|_| outlined > 0.0) {
                *gain.losers.entry(class).or_default() += outlined.min(gained);
            }
        }
        gain.losers.remove(&function);
        gain
    }

    /// Returns the gain of a function's own cost where calls of it began, and the loss of the own
    /// cost of functions that a sign matches. Slower callees are causes of their own.
    fn by_itself(&self, cause: &Cause) -> Gain {
        if cause.basis != Basis::AttributedSelf {
            return Gain::default();
        }
        self.gain_against_matches(cause.function, |node| {
            self.this_first(self.regions.evidences.attributed(node))
        })
    }

    /// Returns the gain of a function's total cost, wherever it is called from.
    fn elsewhere(&self, function: FunctionIx) -> Gain {
        self.gain_against_matches(function, |node| {
            if self.regions.evidences.tree.is_outermost(node) {
                self.total(node)
            } else {
                (0.0, 0.0)
            }
        })
    }

    /// Returns the gain of a function in a cost by node, and the loss of functions that a sign
    /// matches: under the same callers, or anywhere.
    fn gain_against_matches(
        &self,
        function: FunctionIx,
        cost: impl Fn(usize) -> (f64, f64),
    ) -> Gain {
        let tree = self.regions.evidences.tree;
        let at = |node: usize| {
            if self.same_caller {
                self.regions.caller(node)
            } else {
                None
            }
        };
        let mut gained: BTreeMap<Caller, f64> = BTreeMap::new();
        for node in self.regions.nodes_of_function(function) {
            *gained.entry(at(node)).or_default() += cost(node).0;
        }
        gained.retain(|_, gained| *gained > 0.0);
        let there = |caller: Caller| -> Box<dyn Iterator<Item = usize> + '_> {
            if self.same_caller {
                Box::new(self.regions.nodes_under(caller))
            } else {
                Box::new(self.regions.nodes.iter().copied())
            }
        };
        let mut sides: BTreeMap<FunctionIx, BTreeMap<Caller, (f64, f64)>> = BTreeMap::new();
        for &caller in gained.keys() {
            let asked = |node: &usize| self.regions.is_costly(tree.function(*node));
            for node in there(caller).filter(asked) {
                let sum = sides.entry(tree.function(node)).or_default();
                let sum = sum.entry(caller).or_default();
                let (this, other) = cost(node);
                *sum = (sum.0 + this, sum.1 + other);
            }
        }
        let losers: BTreeSet<FunctionIx> = sides
            .keys()
            .copied()
            .filter(|&loser| loser != function && self.signs.matches(self.sign, function, loser))
            .collect();
        let mut gain = Gain::default();
        for (&caller, &gained) in &gained {
            let (mut lost, mut claimed) = (0.0, 0.0);
            for (&other, costs) in &sides {
                let Some(&(begun, ended)) = costs.get(&caller) else {
                    continue;
                };
                if losers.contains(&other) && ended > 0.0 {
                    lost += ended;
                    *gain.losers.entry(other).or_default() += ended.min(gained);
                }
                let has_claim = |loser: &FunctionIx| self.signs.matches(self.sign, other, *loser);
                if begun > 0.0 && (other == function || losers.iter().any(has_claim)) {
                    claimed += begun;
                }
            }
            gain.gained += gained;
            gain.lost += gained * (lost / claimed.max(gained)).min(1.0);
        }
        (gain.own_gained, gain.own_lost) = (gain.gained, gain.lost);
        gain
    }

    /// Returns the loss of a caller's own cost, if it is a cause: its code may have moved into a
    /// callee.
    fn outlined(&self, function: FunctionIx, caller: Caller) -> f64 {
        let Some(class) = caller.filter(|&class| !self.is_kernel_mismatch(function, class)) else {
            return 0.0;
        };
        let less = match self.direction {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        };
        let is_cause = |&&(function, direction): &&(FunctionIx, Direction)| {
            direction == less && self.regions.classes.class_of(function) == class
        };
        if !self.changed.iter().any(|cause| is_cause(&cause)) {
            return 0.0;
        }
        let (this, other) = self.this_first(self.regions.attributed(class));
        (other - this).max(0.0)
    }

    /// Returns the cost of functions that stay below these nodes, as far as the caller called them
    /// before without these nodes in between.
    fn wrapped(
        &self,
        caller: Caller,
        nodes: &[usize],
        losers: &mut BTreeMap<FunctionIx, f64>,
    ) -> f64 {
        let tree = self.regions.evidences.tree;
        let mut below: BTreeMap<FunctionIx, (FunctionIx, f64)> = BTreeMap::new();
        for below_node in nodes
            .iter()
            .flat_map(|&n| self.regions.common_nodes_below(n))
        {
            let callee = tree.function(below_node);
            let class = self.regions.classes.class_of(callee);
            below.entry(class).or_insert((callee, 0.0)).1 += self.total(below_node).0;
        }
        if below.is_empty() {
            return 0.0;
        }
        // Gone functions that called them under the caller before: they may have been renamed.
        let mut called_before: BTreeMap<FunctionIx, BTreeMap<FunctionIx, f64>> = BTreeMap::new();
        let asked = |node: &usize| self.regions.is_costly(tree.function(*node));
        for node in self.regions.nodes_under(caller).filter(asked) {
            if self.total(node).1 == 0.0 {
                continue;
            }
            for below_node in self.regions.common_nodes_below(node) {
                let class = self.regions.classes.class_of(tree.function(below_node));
                if below.contains_key(&class) {
                    let callers = called_before.entry(class).or_default();
                    *callers.entry(tree.function(node)).or_default() += self.total(below_node).1;
                }
            }
        }
        let mut wrapped = 0.0;
        for (class, (callee, cost)) in below {
            let [all, in_regions] = self.regions.calls(caller, class);
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

    /// Returns the cost that ended under these callers in functions that a sign matches, and the
    /// cost that began there with an equal claim to it.
    fn ended(&self, function: FunctionIx, callers: &BTreeSet<Caller>) -> BTreeMap<Caller, Ended> {
        let tree = self.regions.evidences.tree;
        let mut of_caller: BTreeMap<Caller, Ended> = BTreeMap::new();
        let mut likely: BTreeMap<FunctionIx, bool> = BTreeMap::new();
        let mut upto: BTreeMap<Caller, usize> = BTreeMap::new();
        let at_callers = || {
            callers
                .iter()
                .flat_map(|&caller| self.regions.nodes_under(caller))
        };
        for node in at_callers().filter(|&node| self.total(node).1 > 0.0) {
            let loser = tree.function(node);
            let is_likely = *likely.entry(loser).or_insert_with(|| {
                loser != function && self.signs.matches(self.sign, function, loser)
            });
            if !is_likely || !tree.is_outermost(node) {
                continue;
            }
            let caller = self.regions.caller(node);
            let ended = of_caller.entry(caller).or_default();
            *ended.losers.entry(loser).or_default() += self.total(node).1;
            let upto = upto.entry(caller).or_default();
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
            return of_caller;
        }
        let mut claims: BTreeMap<FunctionIx, bool> = BTreeMap::from([(function, true)]);
        upto.clear();
        for node in at_callers().filter(|&node| self.total(node).0 > 0.0) {
            let claimant = tree.function(node);
            let has_claim = *claims.entry(claimant).or_insert_with(|| {
                losers
                    .iter()
                    .any(|&loser| self.signs.matches(self.sign, claimant, loser))
            });
            let caller = self.regions.caller(node);
            let upto = upto.entry(caller).or_default();
            if has_claim && node >= *upto {
                of_caller.entry(caller).or_default().claimed += self.own(node).0;
                *upto = tree.subtree(node).end;
            }
        }
        of_caller
    }

    /// Returns the gain of the own cost of a function that stays, where calls that it made ended.
    fn inlined(&self, function: FunctionIx) -> Gain {
        let mut gain = Gain::default();
        if !self.regions.is_on_both_sides(function) {
            return gain;
        }
        let class = self.regions.classes.class_of(function);
        let (this, other) = self.this_first(self.regions.attributed(class));
        let tree = self.regions.evidences.tree;
        let (mut begun, mut ended) = (0.0, 0.0);
        for node in self.regions.nodes_under(Some(class)) {
            let callee = tree.function(node);
            if self.is_kernel_mismatch(function, callee) {
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
}

/// The cost that ended under a caller, in functions that a sign matches.
#[derive(Debug, Default)]
struct Ended {
    lost: f64,
    /// The cost that began there in functions that the sign matches as well.
    claimed: f64,
    /// The cost of each of these functions there.
    losers: BTreeMap<FunctionIx, f64>,
}
