//! The stacks of both sides as one tree of functions.

use super::functions::{FunctionIx, Functions};
use super::pair::Pair;
use hashbrown::HashMap;
use sto_core::intern::StackTree;
use sto_core::model::FrameIx;

/// Stacks of functions, in preorder: a parent before its children, a subtree in one piece.
///
/// Frames that are one function fall together, so stacks may too.
pub(super) struct UnionTree {
    parents: Vec<u32>,
    functions: Vec<FunctionIx>,
    ends: Vec<u32>,
    outermost: Vec<bool>,
    /// By node of the side's view.
    pub(super) of_node: Pair<Vec<u32>>,
}

const ROOT: u32 = u32::MAX;

impl UnionTree {
    pub(super) fn new(trees: Pair<&StackTree>, functions: &Functions) -> UnionTree {
        let mut builder = Builder::default();
        let mut of_node = Pair::new(
            builder.add(trees.baseline, &functions.of_frame.baseline),
            builder.add(trees.candidate, &functions.of_frame.candidate),
        );
        let order = builder.preorder();

        let mut place = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            place[old as usize] = new as u32;
        }
        for node in of_node.baseline.iter_mut().chain(&mut of_node.candidate) {
            *node = place[*node as usize];
        }
        let new_parent = |&old: &u32| match builder.parents[old as usize] {
            ROOT => ROOT,
            parent => place[parent as usize],
        };
        let mut tree = UnionTree {
            parents: order.iter().map(new_parent).collect(),
            functions: order
                .iter()
                .map(|&old| builder.functions[old as usize])
                .collect(),
            ends: Vec::new(),
            outermost: Vec::new(),
            of_node,
        };
        tree.ends = tree.subtree_ends();
        tree.outermost = tree.outermost_nodes(functions.list.len());
        tree
    }

    pub(super) fn len(&self) -> usize {
        self.parents.len()
    }

    pub(super) fn parent(&self, node: usize) -> Option<usize> {
        let parent = self.parents[node];
        (parent != ROOT).then_some(parent as usize)
    }

    pub(super) fn function(&self, node: usize) -> FunctionIx {
        self.functions[node]
    }

    /// A node and all below it.
    pub(super) fn subtree(&self, node: usize) -> std::ops::Range<usize> {
        node..self.ends[node] as usize
    }

    /// Whether no caller of this node is the same function: only such nodes count towards a
    /// function's total, or recursion would be counted more than once.
    pub(super) fn is_outermost(&self, node: usize) -> bool {
        self.outermost[node]
    }

    /// Turns what nodes have by themselves into what their subtrees have.
    pub(super) fn add_up<T: Copy>(&self, column: &mut [T], add: impl Fn(T, T) -> T) {
        for node in (0..self.len()).rev() {
            if let Some(parent) = self.parent(node) {
                column[parent] = add(column[parent], column[node]);
            }
        }
    }

    /// For each node its nearest caller that `is_caller` says may be one, and the nearest of those
    /// that is not the same function as that caller: a recursion is passed over in one step, so that
    /// looking for callers is linear however deep it goes.
    pub(super) fn callers(&self, is_caller: impl Fn(FunctionIx) -> bool) -> Callers {
        let mut callers = Callers {
            nearest: Vec::with_capacity(self.len()),
            of_another: Vec::with_capacity(self.len()),
        };
        for node in 0..self.len() {
            let nearest = match self.parent(node) {
                Some(parent) if is_caller(self.function(parent)) => parent as u32,
                Some(parent) => callers.nearest[parent],
                None => ROOT,
            };
            callers.nearest.push(nearest);
            let function = self.function(node);
            let of_another = callers.other_than(self, nearest, function);
            callers.of_another.push(of_another);
        }
        callers
    }

    fn subtree_ends(&self) -> Vec<u32> {
        let mut ends: Vec<u32> = (1..=self.len() as u32).collect();
        self.add_up(&mut ends, u32::max);
        ends
    }

    fn outermost_nodes(&self, functions: usize) -> Vec<bool> {
        // For each function the end of the last outermost subtree: nodes before it are inside.
        let mut covered_to = vec![0; functions];
        let mut outermost = Vec::with_capacity(self.len());
        for (node, function) in self.functions.iter().enumerate() {
            let end = &mut covered_to[function.get()];
            let is_outermost = node as u32 >= *end;
            if is_outermost {
                *end = self.ends[node];
            }
            outermost.push(is_outermost);
        }
        outermost
    }
}

/// What [`UnionTree::callers`] found.
pub(super) struct Callers {
    nearest: Vec<u32>,
    /// By node, the nearest caller that is another function than the node's own.
    of_another: Vec<u32>,
}

impl Callers {
    /// The nearest caller of a node that is not this function.
    pub(super) fn of(
        &self,
        tree: &UnionTree,
        node: usize,
        other_than: FunctionIx,
    ) -> Option<FunctionIx> {
        match self.other_than(tree, self.nearest[node], other_than) {
            ROOT => None,
            caller => Some(tree.function(caller as usize)),
        }
    }

    /// This caller, or the nearest one above it that is not this function.
    fn other_than(&self, tree: &UnionTree, caller: u32, function: FunctionIx) -> u32 {
        match caller {
            ROOT => ROOT,
            caller if tree.function(caller as usize) == function => {
                self.of_another[caller as usize]
            }
            caller => caller,
        }
    }
}

/// Nodes in the order in which they are met: parents before their children, but subtrees in
/// pieces.
#[derive(Default)]
struct Builder {
    parents: Vec<u32>,
    functions: Vec<FunctionIx>,
    index: HashMap<(u32, FunctionIx), u32>,
}

impl Builder {
    /// Adds a tree, and tells which node each of its nodes became.
    fn add(&mut self, tree: &StackTree, function_of: &[FunctionIx]) -> Vec<u32> {
        let mut added: Vec<u32> = Vec::with_capacity(tree.len());
        let function = |frame: FrameIx| function_of[frame.get()];
        for node in tree.nodes() {
            let parent = tree.parent(node).map_or(ROOT, |parent| added[parent.get()]);
            let function = function(tree.frame(node));
            let next = self.parents.len() as u32;
            let ix = *self.index.entry((parent, function)).or_insert(next);
            if ix == next {
                assert!(
                    next != ROOT,
                    "fewer than 2^32 - 1 nodes on both sides together"
                );
                self.parents.push(parent);
                self.functions.push(function);
            }
            added.push(ix);
        }
        added
    }

    fn preorder(&self) -> Vec<u32> {
        let nodes = self.parents.len();
        let mut first_child = vec![ROOT; nodes];
        let mut next_sibling = vec![ROOT; nodes];
        let mut first_root = ROOT;
        for node in (0..nodes as u32).rev() {
            let head = match self.parents[node as usize] {
                ROOT => &mut first_root,
                parent => &mut first_child[parent as usize],
            };
            next_sibling[node as usize] = std::mem::replace(head, node);
        }
        let mut order = Vec::with_capacity(nodes);
        let mut open = vec![first_root];
        while let Some(node) = open.pop() {
            if node != ROOT {
                order.push(node);
                open.push(next_sibling[node as usize]);
                open.push(first_child[node as usize]);
            }
        }
        order
    }
}
