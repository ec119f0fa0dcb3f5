//! What begins and what ends in the tree of both sides.
//!
//! A function *stays* if both sides have samples of it. Looked at from the functions that stay, a
//! stack is a row of calls from one to the next, with what only one side has in between. So a call
//! that only one side makes begins or ends, with all below it up to the next call that both make:
//! that is a region. Calls are looked at by function, not by stack: one renamed function near the
//! root would tear all stacks apart.

use super::cause::{Evidences, plus};
use super::functions::FunctionIx;
use super::pair::Pair;
use hashbrown::HashMap;

/// A function that stays, or functions that are taken for one; `None` is what starts the program.
pub(super) type Caller = Option<FunctionIx>;

/// Samples of both sides.
type Samples = Pair<f64>;

/// Which functions are taken for one. Each leads to a function of its class that stands before it, and
/// the first of a class to itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classes(Vec<FunctionIx>);

impl Classes {
    /// Each function by itself.
    pub(super) fn new(functions: usize) -> Classes {
        Classes((0..functions as u32).map(FunctionIx).collect())
    }

    /// The first function of the class.
    pub(super) fn of(&self, mut function: FunctionIx) -> FunctionIx {
        while self.0[function.get()] != function {
            function = self.0[function.get()];
        }
        function
    }

    /// Takes two functions for one, with all that either is taken for already.
    pub(super) fn merge(&mut self, a: FunctionIx, b: FunctionIx) {
        let (a, b) = (self.of(a), self.of(b));
        self.0[a.max(b).get()] = a.min(b);
    }
}

/// Functions of each side, by what they cost, that are held against each other: with the usual `min_share`
/// there are no more that can change by themselves.
const ASKED: usize = 200;

/// What only one side has, between functions that stay.
pub(super) struct Regions<'a> {
    pub(super) evidences: &'a Evidences<'a>,
    pub(super) classes: Classes,
    /// Attributed self, by class.
    attributed: Vec<Samples>,
    stays: Vec<bool>,
    /// For each node the nearest caller that stays.
    callers: Vec<Caller>,
    one_sided: Vec<bool>,
    /// What a node and its region below have by themselves.
    own: Vec<Samples>,
    /// Nodes that begin or end, in preorder: all, of each function, and under each caller.
    pub(super) nodes: Vec<usize>,
    of_function: HashMap<FunctionIx, Vec<usize>>,
    at_caller: HashMap<Caller, Vec<usize>>,
    /// What begins and ends under each caller, by itself.
    turnover: HashMap<Caller, Samples>,
    /// By function, whether it is one of those that cost most of what begins and ends.
    costly: Vec<bool>,
    /// What a function that stays costs under a caller, by caller and function: all, and that part of it
    /// that is called out of regions.
    calls: HashMap<(Caller, FunctionIx), [Samples; 2]>,
}

impl<'a> Regions<'a> {
    pub(super) fn of(evidences: &'a Evidences<'a>, classes: Classes) -> Regions<'a> {
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

        let class_of: Vec<FunctionIx> = (0..functions.list.len() as u32)
            .map(|function| classes.of(FunctionIx(function)))
            .collect();
        let class = |node: usize| class_of[tree.function(node).get()];
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
        let mut callers: Vec<Caller> = Vec::with_capacity(tree.len());
        let mut made: HashMap<(Caller, FunctionIx), Samples> = HashMap::new();
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
            of_function: HashMap::new(),
            at_caller: HashMap::new(),
            turnover: HashMap::new(),
            costly: Vec::new(),
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
                let function = regions.of_function.entry(tree.function(node));
                function.or_default().push(node);
                let caller = regions.at_caller.entry(regions.callers[node]);
                caller.or_default().push(node);
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
        regions.costly = regions.costly();
        regions
    }

    /// The [`ASKED`] functions with most samples of each side in what begins and ends there, with what they
    /// call and without.
    fn costly(&self) -> Vec<bool> {
        let tree = self.evidences.tree;
        let samples = |function: FunctionIx| {
            let mut sums = [Samples::default(); 2];
            for node in self.of_function(function) {
                sums[0] = plus(sums[0], self.evidences.attributed(node));
                if tree.is_outermost(node) {
                    sums[1] = plus(sums[1], self.evidences.total(node));
                }
            }
            let [own, total] = sums;
            [own.baseline, own.candidate, total.baseline, total.candidate]
        };
        let functions = self.of_function.keys();
        let mut functions: Vec<_> = functions.map(|&f| (samples(f), f)).collect();
        let mut costly = vec![false; self.stays.len()];
        for column in 0..4 {
            functions
                .sort_unstable_by(|a, b| b.0[column].total_cmp(&a.0[column]).then(a.1.cmp(&b.1)));
            for (_, function) in functions.iter().take(ASKED) {
                costly[function.get()] = true;
            }
        }
        costly
    }

    /// Whether a function is one of those of which [signs](super::signs) are asked: each is held against
    /// each.
    pub(super) fn is_costly(&self, function: FunctionIx) -> bool {
        self.costly[function.get()]
    }

    /// The same with other functions taken for one.
    pub(super) fn with(self, classes: Classes) -> Regions<'a> {
        match classes == self.classes {
            true => self,
            false => Regions::of(self.evidences, classes),
        }
    }

    /// The nodes of a function that begin or end, in preorder.
    pub(super) fn of_function(&self, function: FunctionIx) -> impl Iterator<Item = usize> + '_ {
        self.of_function
            .get(&function)
            .into_iter()
            .flatten()
            .copied()
    }

    /// The nodes that begin or end under a caller, in preorder.
    pub(super) fn at(&self, caller: Caller) -> impl Iterator<Item = usize> + Clone + '_ {
        self.at_caller.get(&caller).into_iter().flatten().copied()
    }

    /// Whether both sides have samples of a function, or of one that it is taken for.
    pub(super) fn stays(&self, function: FunctionIx) -> bool {
        self.stays[self.classes.of(function).get()]
    }

    /// The nearest caller of a node that stays.
    pub(super) fn caller(&self, node: usize) -> Caller {
        self.callers[node]
    }

    /// Whether a caller calls a node, and no other function that begins or ends does.
    pub(super) fn is_direct(&self, node: usize) -> bool {
        let parent = self.evidences.tree.parent(node);
        !parent.is_some_and(|parent| self.one_sided[parent])
    }

    /// What a node and its region below have by themselves.
    pub(super) fn own(&self, node: usize) -> Samples {
        self.own[node]
    }

    /// What a caller's own function, or those that it is taken for, have by themselves.
    pub(super) fn attributed(&self, class: FunctionIx) -> Samples {
        self.attributed[class.get()]
    }

    /// What begins and ends under a caller.
    pub(super) fn turnover(&self, caller: Caller) -> Samples {
        self.turnover.get(&caller).copied().unwrap_or_default()
    }

    /// What a function that stays costs under a caller: all, and the part that regions call.
    pub(super) fn calls(&self, caller: Caller, class: FunctionIx) -> [Samples; 2] {
        self.calls
            .get(&(caller, class))
            .copied()
            .unwrap_or_default()
    }

    /// The outermost nodes below a region's node that both sides call from its caller.
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
