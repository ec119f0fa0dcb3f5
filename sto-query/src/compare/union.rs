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
