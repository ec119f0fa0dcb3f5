//! Dominators: the last node that all paths from the root to another node pass through.
//!
//! Source: T. Lengauer and R. E. Tarjan, "A fast algorithm for finding dominators in a flowgraph"
//! (1979), in the version whose time is proportional to edges times the logarithm of nodes.

/// A graph, with edges by source node.
pub(super) struct Graph {
    /// Index of the first edge of each node, and the number of edges.
    pub(super) first: Vec<usize>,
    pub(super) to: Vec<u32>,
}

impl Graph {
    /// Makes a graph of edges in any order.
    pub(super) fn new(nodes: usize, edges: impl Iterator<Item = (u32, u32)> + Clone) -> Graph {
        let mut first = vec![0; nodes + 1];
        for (from, _) in edges.clone() {
            first[from as usize + 1] += 1;
        }
        for node in 0..nodes {
            first[node + 1] += first[node];
        }
        let (mut next, mut to) = (first.clone(), vec![0; first[nodes]]);
        for (from, callee) in edges {
            to[next[from as usize]] = callee;
            next[from as usize] += 1;
        }
        Graph { first, to }
    }

    pub(super) fn nodes(&self) -> usize {
        self.first.len() - 1
    }

    pub(super) fn from(&self, node: u32) -> &[u32] {
        &self.to[self.first[node as usize]..self.first[node as usize + 1]]
    }
}

const NONE: u32 = u32::MAX;

/// The immediate dominator of each node; `None` for the root and unreachable nodes.
pub(super) fn dominators(graph: &Graph, root: u32) -> Vec<Option<u32>> {
    let Order {
        nodes,
        numbers,
        callers,
    } = Order::new(graph, root);
    let edges = nodes.iter().zip(0..).flat_map(|(&node, number)| {
        let callees = graph.from(node).iter();
        callees.map(move |&callee| (callee, number))
    });
    let edges = edges.map(|(callee, number)| (numbers[callee as usize], number));
    let sources = Graph::new(nodes.len(), edges);
    let mut forest = Forest::new(nodes.len() as u32);
    let mut dominator = vec![0; nodes.len()];
    // Linked lists of the nodes with this node as semidominator.
    let (mut head, mut next) = (vec![NONE; nodes.len()], vec![NONE; nodes.len()]);
    for node in (1..nodes.len() as u32).rev() {
        for &source in sources.from(node) {
            let least = forest.least(source);
            let semi = forest.semi[least as usize];
            let own = &mut forest.semi[node as usize];
            *own = semi.min(*own);
        }
        let semi = forest.semi[node as usize] as usize;
        next[node as usize] = std::mem::replace(&mut head[semi], node);
        let caller = callers[node as usize];
        forest.ancestor[node as usize] = caller;
        let mut listed = std::mem::replace(&mut head[caller as usize], NONE);
        while listed != NONE {
            let least = forest.least(listed);
            let is_less = forest.semi[least as usize] < forest.semi[listed as usize];
            dominator[listed as usize] = if is_less { least } else { caller };
            listed = next[listed as usize];
        }
    }
    let mut of_nodes = vec![None; graph.nodes()];
    for number in 1..nodes.len() {
        if dominator[number] != forest.semi[number] {
            dominator[number] = dominator[dominator[number] as usize];
        }
        of_nodes[nodes[number] as usize] = Some(nodes[dominator[number] as usize]);
    }
    of_nodes
}

/// The reachable nodes in depth-first order.
struct Order {
    nodes: Vec<u32>,
    /// Number of each node.
    numbers: Vec<u32>,
    /// Number of the parent in the search tree, by number.
    callers: Vec<u32>,
}

impl Order {
    fn new(graph: &Graph, root: u32) -> Order {
        let mut order = Order {
            nodes: vec![root],
            numbers: vec![NONE; graph.nodes()],
            callers: vec![0],
        };
        order.numbers[root as usize] = 0;
        let mut way = vec![(root, graph.from(root).iter())];
        while let Some((node, callees)) = way.last_mut() {
            let Some(&callee) = callees.next() else {
                way.pop();
                continue;
            };
            if order.numbers[callee as usize] == NONE {
                order.callers.push(order.numbers[*node as usize]);
                order.numbers[callee as usize] = order.nodes.len() as u32;
                order.nodes.push(callee);
                way.push((callee, graph.from(callee).iter()));
            }
        }
        order
    }
}

/// The forest of visited nodes, by number.
struct Forest {
    semi: Vec<u32>,
    ancestor: Vec<u32>,
    /// The node with the least semidominator on the path to the ancestor.
    label: Vec<u32>,
    way: Vec<u32>,
}

impl Forest {
    fn new(nodes: u32) -> Forest {
        Forest {
            semi: (0..nodes).collect(),
            ancestor: vec![NONE; nodes as usize],
            label: (0..nodes).collect(),
            way: Vec::new(),
        }
    }

    /// The node with the least semidominator on the path from a node to the root of its tree,
    /// excluding the root.
    fn least(&mut self, node: u32) -> u32 {
        let above = |forest: &Forest, node: u32| forest.ancestor[node as usize];
        let mut at = node;
        while above(self, at) != NONE && above(self, above(self, at)) != NONE {
            self.way.push(at);
            at = above(self, at);
        }
        // Path compression.
        while let Some(at) = self.way.pop() {
            let ancestor = above(self, at);
            let [own, its] = [at, ancestor].map(|node| self.label[node as usize]);
            if self.semi[its as usize] < self.semi[own as usize] {
                self.label[at as usize] = its;
            }
            self.ancestor[at as usize] = above(self, ancestor);
        }
        self.label[node as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns `true` if all paths from 0 to a node pass through another.
    fn is_on_all_ways(graph: &Graph, node: u32, through: u32) -> bool {
        let mut seen = vec![false; graph.nodes()];
        let mut left = vec![0];
        while let Some(at) = left.pop() {
            if at == through || std::mem::replace(&mut seen[at as usize], true) {
                continue;
            }
            left.extend(graph.from(at));
        }
        !seen[node as usize]
    }

    proptest! {
        #[test]
        fn finds_the_last_node_on_all_paths(
            edges in prop::collection::vec((0..12u32, 0..12u32), 0..40)
        ) {
            let graph = Graph::new(12, edges.iter().copied());
            let found = dominators(&graph, 0);
            for node in 1..12 {
                let is_reached = !is_on_all_ways(&graph, node, 12);
                let strict: Vec<u32> = (0..12)
                    .filter(|&other| other != node && is_on_all_ways(&graph, node, other))
                    .collect();
                prop_assert_eq!(found[node as usize].is_some(), is_reached);
                if let Some(dominator) = found[node as usize] {
                    prop_assert!(strict.contains(&dominator));
                    for &other in &strict {
                        prop_assert!(other == dominator || is_on_all_ways(&graph, dominator, other));
                    }
                }
            }
            prop_assert_eq!(found[0], None);
        }
    }
}
