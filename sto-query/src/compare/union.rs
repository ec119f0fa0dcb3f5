//! The stacks of both sides as one tree of functions.

use super::functions::{FunctionIx, Functions};
use super::pair::Pair;
use std::cmp::Reverse;
use std::ops::Range;
use sto_core::tree::StackTree;

/// Stacks of functions, in preorder: parents precede their children, and subtrees are contiguous.
///
/// Frames of the same function are merged, so stacks may be merged too.
pub(super) struct UnionTree {
    parents: Vec<u32>,
    functions: Vec<FunctionIx>,
    ends: Vec<u32>,
    outermost: Vec<bool>,
    /// The node of the union for each node of a side's view.
    pub(super) of_node: Pair<Vec<u32>>,
}

const ROOT: u32 = u32::MAX;

impl UnionTree {
    /// Merges both trees. They are walked simultaneously, so that nodes are created in preorder,
    /// with children in the order of their functions.
    pub(super) fn new(trees: Pair<&StackTree>, functions: &Functions) -> UnionTree {
        let mut sides = [
            Side::new(trees.baseline, &functions.of_frame.baseline),
            Side::new(trees.candidate, &functions.of_frame.candidate),
        ];
        let mut tree = UnionTree {
            parents: Vec::new(),
            functions: Vec::new(),
            ends: Vec::new(),
            outermost: Vec::new(),
            of_node: Pair::default(),
        };
        // Nodes that are merged are adjacent, those of the next node last.
        let mut waiting: Vec<Waiting> = Vec::new();
        let mut met: Vec<Waiting> = Vec::new();
        for (number, side) in sides.iter().enumerate() {
            met.extend(side.roots(number));
        }
        loop {
            met.sort_unstable_by_key(|node| Reverse(node.function));
            waiting.append(&mut met);
            let Some(&next) = waiting.last() else { break };
            let node = tree.len() as u32;
            assert!(
                node != ROOT,
                "fewer than 2^32 - 1 nodes on both sides together"
            );
            tree.parents.push(next.parent);
            tree.functions.push(next.function);
            while let Some(same) = waiting.pop_if(|node| node.is_same(next)) {
                let side = &mut sides[same.side];
                side.of_node[same.node as usize] = node;
                met.extend(side.callees(same, node));
            }
        }
        let [baseline, candidate] = sides;
        tree.of_node = Pair::new(baseline.of_node, candidate.of_node);
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

    /// Returns the range of a node and everything below it.
    pub(super) fn subtree(&self, node: usize) -> Range<usize> {
        node..self.ends[node] as usize
    }

    /// Returns the callees of a node, or the roots for `None`.
    pub(super) fn callees(&self, node: Option<usize>) -> impl Iterator<Item = usize> + '_ {
        let range = match node {
            Some(node) => node + 1..self.ends[node] as usize,
            None => 0..self.len(),
        };
        siblings(&self.ends, range)
    }

    /// Whether no caller of this node is the same function. Only such nodes count towards a
    /// function's total; otherwise, recursion would be counted more than once.
    pub(super) fn is_outermost(&self, node: usize) -> bool {
        self.outermost[node]
    }

    /// Turns self values of nodes into sums over their subtrees.
    pub(super) fn add_up<T: Copy>(&self, column: &mut [T], add: impl Fn(T, T) -> T) {
        for node in (0..self.len()).rev() {
            if let Some(parent) = self.parent(node) {
                column[parent] = add(column[parent], column[node]);
            }
        }
    }

    /// Like [`add_up`](Self::add_up), for few nodes. Returns these and all their callers, each with
    /// the sum over its subtree, callers after callees.
    pub(super) fn with_callers<T: Copy + Default>(
        &self,
        mut at: Vec<(usize, T)>,
        add: impl Fn(T, T) -> T,
    ) -> impl Iterator<Item = (usize, T)> {
        at.sort_unstable_by_key(|&(node, _)| node);
        // Callers that are not visited yet. As nodes are in preorder, each calls the next one, and
        // the last is nearest to the current node.
        let mut callers: Vec<(usize, T)> = Vec::new();
        std::iter::from_fn(move || {
            let next = |nodes: &[(usize, T)]| nodes.last().map(|&(node, _)| node);
            let node = next(&at).max(next(&callers))?;
            let is_next = |other: &mut (usize, T)| other.0 == node;
            let (_, mut sum) = callers.pop_if(is_next).unwrap_or_default();
            while let Some((_, more)) = at.pop_if(is_next) {
                sum = add(sum, more);
            }
            if let Some(parent) = self.parent(node) {
                match callers.last_mut() {
                    Some((caller, known)) if *caller == parent => *known = add(*known, sum),
                    _ => callers.push((parent, sum)),
                }
            }
            Some((node, sum))
        })
    }

    /// Finds the nearest caller of each node that satisfies `is_caller`, and the nearest caller
    /// above it that is another function. Recursion is skipped in one step, so that finding callers
    /// is linear regardless of its depth.
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
        // For each function, the end of the last outermost subtree. Nodes before it are inside.
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

/// The result of [`UnionTree::callers`].
pub(super) struct Callers {
    nearest: Vec<u32>,
    /// By node, the nearest caller that is another function than the node's own.
    of_another: Vec<u32>,
}

impl Callers {
    /// Returns the nearest caller of a node that is not the function `other_than`.
    pub(super) fn find(
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

    /// Returns this caller, or the nearest one above it that is not this function.
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

/// The tree of one side, and the nodes of the union that its nodes were merged into.
struct Side<'a> {
    tree: &'a StackTree,
    function_of: &'a [FunctionIx],
    ends: Vec<u32>,
    of_node: Vec<u32>,
}

/// A node of one side whose parent in the union is known.
#[derive(Clone, Copy)]
struct Waiting {
    parent: u32,
    function: FunctionIx,
    side: usize,
    node: u32,
}

impl Waiting {
    fn is_same(&self, other: Waiting) -> bool {
        (self.parent, self.function) == (other.parent, other.function)
    }
}

impl<'a> Side<'a> {
    fn new(tree: &'a StackTree, function_of: &'a [FunctionIx]) -> Self {
        Side {
            tree,
            function_of,
            ends: tree.subtree_ends(),
            of_node: vec![ROOT; tree.len()],
        }
    }

    fn roots(&self, side: usize) -> impl Iterator<Item = Waiting> + '_ {
        self.waiting(0..self.tree.len(), side, ROOT)
    }

    fn callees(&self, caller: Waiting, parent: u32) -> impl Iterator<Item = Waiting> + '_ {
        let node = caller.node as usize;
        self.waiting(node + 1..self.ends[node] as usize, caller.side, parent)
    }

    fn waiting(
        &self,
        below: Range<usize>,
        side: usize,
        parent: u32,
    ) -> impl Iterator<Item = Waiting> + '_ {
        siblings(&self.ends, below).map(move |node| Waiting {
            parent,
            function: self.function_of[self.tree.frames()[node].get()],
            side,
            node: node as u32,
        })
    }
}

/// Returns the roots of a sequence of whole subtrees.
fn siblings(ends: &[u32], subtrees: Range<usize>) -> impl Iterator<Item = usize> + '_ {
    let mut next = subtrees.start;
    std::iter::from_fn(move || {
        let node = next;
        (node < subtrees.end).then(|| {
            next = ends[node] as usize;
            node
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::functions::Function;
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::collections::BTreeSet;
    use sto_core::model::FrameIx;
    use sto_core::tree::NodeIx;

    /// Frames 0 and 1 are one function, and so on.
    fn functions(frames: u32) -> Functions {
        let of_frame: Vec<FunctionIx> = (0..frames).map(|frame| FunctionIx(frame / 2)).collect();
        let function = |_| Function {
            symbol: String::new(),
            module: String::new(),
            file: None,
            kernel: false,
            unchanged: false,
            library: false,
            unnamed: false,
            instances: 0,
        };
        Functions {
            list: (0..frames).map(function).collect(),
            of_frame: Pair::new(of_frame.clone(), of_frame),
            renamed: Vec::new(),
        }
    }

    fn tree_of(mut stacks: Vec<Vec<u32>>) -> StackTree {
        stacks.sort();
        let mut tree = StackTree::new();
        let mut open: Vec<(u32, NodeIx)> = Vec::new();
        for stack in stacks {
            let same = open.iter().zip(&stack).take_while(|(a, b)| a.0 == **b);
            open.truncate(same.count());
            for &frame in &stack[open.len()..] {
                let parent = open.last().map(|&(_, node)| node);
                open.push((frame, tree.push(parent, FrameIx(frame))));
            }
        }
        tree
    }

    /// Returns the functions of each node's stack.
    fn paths(nodes: impl Iterator<Item = (Option<usize>, FunctionIx)>) -> Vec<Vec<u32>> {
        let mut paths: Vec<Vec<u32>> = Vec::new();
        for (parent, function) in nodes {
            let mut path = parent.map_or(Vec::new(), |parent| paths[parent].clone());
            path.push(function.0);
            paths.push(path);
        }
        paths
    }

    fn union(stacks: Pair<Vec<Vec<u32>>>, functions: &Functions) -> (UnionTree, [StackTree; 2]) {
        let trees = [tree_of(stacks.baseline), tree_of(stacks.candidate)];
        let union = UnionTree::new(Pair::new(&trees[0], &trees[1]), functions);
        (union, trees)
    }

    fn stacks() -> impl Strategy<Value = Vec<Vec<u32>>> {
        vec(vec(0..8_u32, 1..6), 0..12)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn union_has_each_stack_once_in_order(
            (baseline, candidate) in (stacks(), stacks())
        ) {
            let functions = functions(8);
            let (union, trees) = union(Pair::new(baseline, candidate), &functions);
            let of_union = paths((0..union.len()).map(|n| (union.parent(n), union.function(n))));
            let mut all = BTreeSet::new();
            let of_node = [&union.of_node.baseline, &union.of_node.candidate];
            for (tree, of_node) in trees.iter().zip(of_node) {
                let of_side = paths(tree.nodes().map(|node| {
                    let parent = tree.parent(node).map(NodeIx::get);
                    (parent, functions.of_frame.baseline[tree.frame(node).get()])
                }));
                for (path, &node) in of_side.iter().zip(of_node) {
                    prop_assert_eq!(path, &of_union[node as usize]);
                }
                all.extend(of_side);
            }
            // Preorder, with children in the order of their functions, is the order of paths.
            prop_assert_eq!(of_union, Vec::from_iter(all));
        }

        #[test]
        fn with_callers_agrees_with_add_up(
            (stacks, at) in (stacks(), vec((0..40_usize, 1..9_u64), 0..6))
        ) {
            let (union, _) = union(Pair::new(stacks, Vec::new()), &functions(8));
            let at: Vec<_> = at.into_iter().filter(|&(node, _)| node < union.len()).collect();
            let mut column = vec![0; union.len()];
            at.iter().for_each(|&(node, samples)| column[node] += samples);
            union.add_up(&mut column, |a, b| a + b);
            let mut expected: Vec<_> = column.into_iter().enumerate().collect();
            expected.retain(|&(_, samples)| samples > 0);
            expected.reverse();
            let sums: Vec<_> = union.with_callers(at, |a, b| a + b).collect();
            prop_assert_eq!(sums, expected);
        }
    }
}
