//! What begins and what ends in the tree of both sides.
//!
//! A function *stays* if both sides have samples of it. Looked at from the functions that stay, a
//! stack is a row of calls from one to the next, with what only one side has in between. So a call
//! that only one side makes begins or ends, with all below it up to the next call that both make:
//! that is a region. Calls are looked at by function, not by stack: one renamed function near the
//! root would tear all stacks apart.

use super::blame::{Evidences, plus};
use super::functions::FunctionIx;
use super::pair::Pair;
use hashbrown::HashMap;

/// A function that stays, or functions that are taken for one; `None` is what starts the program.
pub(super) type Place = Option<FunctionIx>;

/// Samples of both sides.
type Samples = Pair<f64>;

/// Which functions are taken for one: each by the first of them.
#[derive(Clone, Debug)]
pub(super) struct Classes(Vec<FunctionIx>);

impl Classes {
    /// Each function by itself.
    pub(super) fn new(functions: usize) -> Classes {
        Classes((0..functions as u32).map(FunctionIx).collect())
    }

    pub(super) fn of(&self, function: FunctionIx) -> FunctionIx {
        self.0[function.get()]
    }

    /// Takes two functions for one, with all that either is taken for already.
    pub(super) fn merge(&mut self, a: FunctionIx, b: FunctionIx) {
        let (a, b) = (self.of(a), self.of(b));
        let (first, other) = (a.min(b), a.max(b));
        for class in &mut self.0 {
            if *class == other {
                *class = first;
            }
        }
    }
}

/// What only one side has, between functions that stay.
pub(super) struct Regions<'a> {
    pub(super) evidences: &'a Evidences<'a>,
    pub(super) classes: &'a Classes,
    /// Attributed self, by class.
    attributed: Vec<Samples>,
    stays: Vec<bool>,
    /// For each node the nearest caller that stays.
    callers: Vec<Place>,
    one_sided: Vec<bool>,
    /// What a node and its region below have by themselves.
    own: Vec<Samples>,
    /// Nodes that begin or end, in preorder.
    pub(super) nodes: Vec<usize>,
    /// What begins and ends at each place, by itself.
    turnover: HashMap<Place, Samples>,
    /// What a function that stays costs at a place, by place and function: all, and that part of it
    /// that is called out of regions.
    calls: HashMap<(Place, FunctionIx), [Samples; 2]>,
}

impl<'a> Regions<'a> {
    pub(super) fn of(evidences: &'a Evidences<'a>, classes: &'a Classes) -> Regions<'a> {
        let Evidences {
            tree,
            functions,
            tests,
            ..
        } = *evidences;
        let mut attributed = vec![Samples::default(); functions.list.len()];
        let mut totals = vec![Samples::default(); functions.list.len()];
        for function in 0..functions.list.len() {
            let class = classes.of(FunctionIx(function as u32)).get();
            let samples = |samples: Pair<u64>| samples.map(|samples| samples as f64);
            let own = samples(tests.attributed[function].samples);
            attributed[class] = plus(attributed[class], own);
            totals[class] = plus(totals[class], samples(tests.total[function].samples));
        }
        let is_on_both = |samples: &Samples| samples.baseline > 0.0 && samples.candidate > 0.0;
        let stays: Vec<bool> = totals.iter().map(is_on_both).collect();

        let class = |node: usize| classes.of(tree.function(node));
        // What is attributed to its caller is a part of it.
        let mut is_part: Vec<bool> = Vec::with_capacity(tree.len());
        let mut has_caller: Vec<bool> = Vec::with_capacity(tree.len());
        for node in 0..tree.len() {
            let is_below = tree.parent(node).is_some_and(|parent| has_caller[parent]);
            let function = &functions.list[tree.function(node).get()];
            let is_attributed = function.is_attributed_to_caller();
            is_part.push(is_attributed && is_below);
            has_caller.push(!is_attributed || is_below);
        }
        let mut callers: Vec<Place> = Vec::with_capacity(tree.len());
        let mut made: HashMap<(Place, FunctionIx), Samples> = HashMap::new();
        for node in 0..tree.len() {
            let caller = tree.parent(node).and_then(|parent| {
                match is_part[parent] || !stays[class(parent).get()] {
                    true => callers[parent],
                    false => Some(class(parent)),
                }
            });
            callers.push(caller);
            if !is_part[node] {
                let sum = made.entry((caller, class(node))).or_default();
                *sum = plus(*sum, evidences.total(node));
            }
        }

        let mut regions = Regions {
            evidences,
            classes,
            attributed,
            stays,
            callers,
            one_sided: Vec::with_capacity(tree.len()),
            own: vec![Samples::default(); tree.len()],
            nodes: Vec::new(),
            turnover: HashMap::new(),
            calls: HashMap::new(),
        };
        for (node, is_part) in is_part.into_iter().enumerate() {
            let parent = tree.parent(node);
            let in_region = parent.is_some_and(|parent| regions.one_sided[parent]);
            let call = (regions.callers[node], class(node));
            let one_sided = match is_part {
                true => in_region,
                false => !is_on_both(&made[&call]),
            };
            regions.one_sided.push(one_sided);
            if is_part {
                continue;
            }
            if one_sided {
                regions.nodes.push(node);
            } else if tree.is_outermost(node) {
                let [all, in_regions] = regions.calls.entry(call).or_default();
                *all = plus(*all, evidences.total(node));
                if in_region {
                    *in_regions = plus(*in_regions, evidences.total(node));
                }
            }
        }
        for node in (0..tree.len()).rev() {
            let own = plus(regions.own[node], evidences.attributed(node));
            regions.own[node] = own;
            let Some(parent) = tree.parent(node) else {
                continue;
            };
            if regions.one_sided[node] {
                regions.own[parent] = plus(regions.own[parent], own);
            }
        }
        for node in 0..tree.len() {
            let parent = tree.parent(node);
            let begins =
                regions.one_sided[node] && !parent.is_some_and(|parent| regions.one_sided[parent]);
            if begins {
                let sum = regions.turnover.entry(regions.callers[node]).or_default();
                *sum = plus(*sum, regions.own[node]);
            }
        }
        regions
    }

    /// Whether both sides have samples of a function, or of one that it is taken for.
    pub(super) fn stays(&self, function: FunctionIx) -> bool {
        self.stays[self.classes.of(function).get()]
    }

    /// The nearest caller of a node that stays.
    pub(super) fn place(&self, node: usize) -> Place {
        self.callers[node]
    }

    /// Whether a place calls a node, and no other function that begins or ends does.
    pub(super) fn is_direct(&self, node: usize) -> bool {
        let parent = self.evidences.tree.parent(node);
        !parent.is_some_and(|parent| self.one_sided[parent])
    }

    /// What a node and its region below have by themselves.
    pub(super) fn own(&self, node: usize) -> Samples {
        self.own[node]
    }

    /// What a place's own function, or those that it is taken for, have by themselves.
    pub(super) fn attributed(&self, class: FunctionIx) -> Samples {
        self.attributed[class.get()]
    }

    /// What begins and ends at a place.
    pub(super) fn turnover(&self, place: Place) -> Samples {
        self.turnover.get(&place).copied().unwrap_or_default()
    }

    /// What a function that stays costs at a place: all, and the part that regions call.
    pub(super) fn calls(&self, place: Place, class: FunctionIx) -> [Samples; 2] {
        self.calls.get(&(place, class)).copied().unwrap_or_default()
    }

    /// The outermost nodes below a region's node that both sides call from its place.
    pub(super) fn staying_below(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let tree = self.evidences.tree;
        let nodes = tree.subtree(node).skip(1);
        nodes.filter(move |&below| {
            let parent = tree.parent(below);
            let leaves = parent.is_some_and(|parent| self.one_sided[parent]);
            leaves
                && !self.one_sided[below]
                && self.callers[below] == self.callers[node]
                && tree.is_outermost(below)
        })
    }
}
