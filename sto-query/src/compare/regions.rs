//! Finds the calls that begin and end between the two sides.
//!
//! A function *stays* if both sides have samples of it. Seen from these functions, a stack is a row
//! of calls from one to the next, with one-sided functions in between. A call that only one side
//! makes begins or ends, together with everything below it up to the next call that both sides
//! make: that is a region. Calls are matched by function, not by stack, because one renamed
//! function near the root would make all stacks differ.

use super::cause::{Evidences, add};
use super::functions::FunctionIx;
use super::pair::Pair;
use hashbrown::HashMap;

/// A function that stays, or the first of merged functions; `None` is the root of the program.
pub(super) type Caller = Option<FunctionIx>;

/// Samples of both sides.
type Samples = Pair<f64>;

/// Sets of merged functions (union-find). Each function points to a preceding one of its class, and
/// the first of a class to itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Classes(Vec<FunctionIx>);

impl Classes {
    /// Creates one class per function.
    pub(super) fn new(functions: usize) -> Classes {
        Classes((0..functions as u32).map(FunctionIx).collect())
    }

    /// Returns the first function of the class.
    pub(super) fn class_of(&self, mut function: FunctionIx) -> FunctionIx {
        while self.0[function.get()] != function {
            function = self.0[function.get()];
        }
        function
    }

    /// Merges the classes of two functions.
    pub(super) fn merge(&mut self, a: FunctionIx, b: FunctionIx) {
        let (a, b) = (self.class_of(a), self.class_of(b));
        self.0[a.max(b).get()] = a.min(b);
    }
}

/// Number of most expensive functions of each side that are matched with each other. With the
/// default `min_share`, no more functions can change on their own.
const MAX_COSTLY: usize = 200;

/// The one-sided calls between functions that stay.
pub(super) struct Regions<'a> {
    pub(super) evidences: &'a Evidences<'a>,
    pub(super) classes: Classes,
    /// Attributed self, by class.
    attributed: Vec<Samples>,
    stays: Vec<bool>,
    /// The nearest caller that stays, by node.
    callers: Vec<Caller>,
    one_sided: Vec<bool>,
    /// Attributed self of a node and its region below.
    own: Vec<Samples>,
    /// Nodes that begin or end, in preorder: all, by function, and by caller.
    pub(super) nodes: Vec<usize>,
    of_function: HashMap<FunctionIx, Vec<usize>>,
    at_caller: HashMap<Caller, Vec<usize>>,
    /// Attributed self of the calls that begin and end under each caller.
    turnover: HashMap<Caller, Samples>,
    /// Whether a function is one of the most expensive that begin or end.
    costly: Vec<bool>,
    /// Cost of a function that stays under a caller, by caller and function: all, and the part that
    /// is called from regions.
    calls: HashMap<(Caller, FunctionIx), [Samples; 2]>,
}

impl<'a> Regions<'a> {
    pub(super) fn new(evidences: &'a Evidences<'a>, classes: Classes) -> Regions<'a> {
        let Evidences {
            tree,
            functions,
            tests,
            ..
        } = *evidences;
        let mut attributed = vec![Samples::default(); functions.list.len()];
        let mut totals = vec![Samples::default(); functions.list.len()];
        for function in 0..functions.list.len() {
            let class = classes.class_of(FunctionIx(function as u32)).get();
            let samples = |samples: Pair<u64>| samples.map(|samples| samples as f64);
            let own = samples(tests.attributed[function].samples);
            attributed[class] = add(attributed[class], own);
            totals[class] = add(totals[class], samples(tests.total[function].samples));
        }
        let is_on_both = |samples: &Samples| samples.baseline > 0.0 && samples.candidate > 0.0;
        let stays: Vec<bool> = totals.iter().map(is_on_both).collect();

        let class_of: Vec<FunctionIx> = (0..functions.list.len() as u32)
            .map(|function| classes.class_of(FunctionIx(function)))
            .collect();
        let class = |node: usize| class_of[tree.function(node).get()];
        // A node whose cost is attributed to its caller is part of the caller.
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
                if is_part[parent] || !stays[class(parent).get()] {
                    callers[parent]
                } else {
                    Some(class(parent))
                }
            });
            callers.push(caller);
            if !is_part[node] {
                let sum = made.entry((caller, class(node))).or_default();
                *sum = add(*sum, evidences.total(node));
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
            let one_sided = if is_part {
                in_region
            } else {
                !is_on_both(&made[&call])
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
                *all = add(*all, evidences.total(node));
                if in_region {
                    *in_regions = add(*in_regions, evidences.total(node));
                }
            }
        }
        for node in (0..tree.len()).rev() {
            let own = add(regions.own[node], evidences.attributed(node));
            regions.own[node] = own;
            let Some(parent) = tree.parent(node) else {
                continue;
            };
            if regions.one_sided[node] {
                regions.own[parent] = add(regions.own[parent], own);
            }
        }
        for node in 0..tree.len() {
            let parent = tree.parent(node);
            let begins =
                regions.one_sided[node] && !parent.is_some_and(|parent| regions.one_sided[parent]);
            if begins {
                let sum = regions.turnover.entry(regions.callers[node]).or_default();
                *sum = add(*sum, regions.own[node]);
            }
        }
        regions.costly = regions.costly();
        regions
    }

    /// Selects the [`MAX_COSTLY`] functions with most samples of each side in regions, both by self
    /// and by total count.
    fn costly(&self) -> Vec<bool> {
        let tree = self.evidences.tree;
        let samples = |function: FunctionIx| {
            let mut sums = [Samples::default(); 2];
            for node in self.nodes_of_function(function) {
                sums[0] = add(sums[0], self.evidences.attributed(node));
                if tree.is_outermost(node) {
                    sums[1] = add(sums[1], self.evidences.total(node));
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
            for (_, function) in functions.iter().take(MAX_COSTLY) {
                costly[function.get()] = true;
            }
        }
        costly
    }

    /// Whether a function is matched with others by [signs](super::signs), which compare all pairs.
    pub(super) fn is_costly(&self, function: FunctionIx) -> bool {
        self.costly[function.get()]
    }

    /// Recomputes the regions if `classes` merges other functions.
    pub(super) fn with_classes(self, classes: Classes) -> Regions<'a> {
        if classes == self.classes {
            self
        } else {
            Regions::new(self.evidences, classes)
        }
    }

    /// Returns the nodes of a function that begin or end, in preorder.
    pub(super) fn nodes_of_function(
        &self,
        function: FunctionIx,
    ) -> impl Iterator<Item = usize> + '_ {
        self.of_function
            .get(&function)
            .into_iter()
            .flatten()
            .copied()
    }

    /// Returns the nodes that begin or end under a caller, in preorder.
    pub(super) fn nodes_under(&self, caller: Caller) -> impl Iterator<Item = usize> + Clone + '_ {
        self.at_caller.get(&caller).into_iter().flatten().copied()
    }

    /// Whether both sides have samples of a function, or of one that it is merged with.
    pub(super) fn is_on_both_sides(&self, function: FunctionIx) -> bool {
        self.stays[self.classes.class_of(function).get()]
    }

    /// Returns the nearest caller of a node that stays.
    pub(super) fn caller(&self, node: usize) -> Caller {
        self.callers[node]
    }

    /// Whether no other one-sided function is between a node and its caller.
    pub(super) fn is_direct(&self, node: usize) -> bool {
        let parent = self.evidences.tree.parent(node);
        !parent.is_some_and(|parent| self.one_sided[parent])
    }

    /// Returns the attributed self of a node and its region below.
    pub(super) fn region_self(&self, node: usize) -> Samples {
        self.own[node]
    }

    /// Returns the attributed self of a class.
    pub(super) fn attributed(&self, class: FunctionIx) -> Samples {
        self.attributed[class.get()]
    }

    /// Returns the attributed self of the calls that begin and end under a caller.
    pub(super) fn attributed_under(&self, caller: Caller) -> Samples {
        self.turnover.get(&caller).copied().unwrap_or_default()
    }

    /// Returns the cost of a function that stays under a caller: all, and the part that is called
    /// from regions.
    pub(super) fn calls(&self, caller: Caller, class: FunctionIx) -> [Samples; 2] {
        self.calls
            .get(&(caller, class))
            .copied()
            .unwrap_or_default()
    }

    /// Returns the outermost nodes below a region's node that both sides call from its caller.
    pub(super) fn common_nodes_below(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
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
