//! Flame graphs as Pyroscope and Grafana draw them.

use crate::tree::{Union, View};
use hashbrown::HashMap;
use serde::Serialize;
use std::cmp::Reverse;
use sto_core::model::{Frame, FrameIx, FrameKind};
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Cost;

/// A flame graph of one view, or of two whose boxes are next to each other, as Pyroscope and Grafana draw it.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Flamebearer {
    /// The names of boxes. The first one is `total`.
    pub names: Vec<String>,
    /// The boxes of each level from left to right, as flat numbers: for each side, the distance from the end of the
    /// previous box, the total, and the self value; then the index of the name.
    pub levels: Vec<Vec<i64>>,
    /// The total of each side.
    pub totals: Vec<i64>,
    /// The largest self value of a box.
    pub max_self: i64,
}

/// How a flame graph is drawn.
#[derive(Clone, Copy, Debug)]
pub struct FlamebearerOptions {
    /// Maximum number of functions' boxes. What is left out below a box is a box `other`.
    pub max_nodes: usize,
    /// Whether boxes are as wide as their numbers of samples, even if samples have values.
    pub by_samples: bool,
}

/// The name of the box of everything.
const TOTAL: &str = "total";
/// The name of boxes for omitted stacks.
const OTHER: &str = "other";

/// Draws the first sample type of one view, or of two.
///
/// Functions are told apart by name only. Boxes of zero width are left out, and children lie within their parents.
pub fn flamebearer(sides: &[&View], options: FlamebearerOptions) -> Flamebearer {
    let union = Union::new(sides, by_name);
    let costs: Vec<Vec<i64>> = sides
        .iter()
        .enumerate()
        .map(|(side, view)| {
            let costs = union.costs(side, view, 0);
            let has_values = costs.iter().any(|(_, cost)| cost.value > 0);
            let mut own = vec![0; union.tree.len()];
            for (node, cost) in costs {
                own[node.get()] = weight(cost, options.by_samples || !has_values);
            }
            own
        })
        .collect();
    let totals: Vec<Vec<i64>> = costs.iter().map(|own| totals(&union.tree, own)).collect();
    let mut drawing = Drawing {
        graph: Flamebearer {
            names: vec![TOTAL.to_owned()],
            ..Flamebearer::default()
        },
        ends: Vec::new(),
    };
    drawing.draw(&union, &costs, &totals, options.max_nodes);
    drawing.graph
}

fn weight(cost: Cost, by_samples: bool) -> i64 {
    let weight = if by_samples { cost.samples } else { cost.value };
    i64::try_from(weight).unwrap_or(i64::MAX)
}

/// Returns the frame with only a name.
fn by_name(frame: Frame<'_>) -> Frame<'_> {
    let symbol = match (frame.symbol, frame.module) {
        ("", "") => "[unknown]",
        ("", module) => module,
        (symbol, _) => symbol,
    };
    Frame {
        symbol,
        module: "",
        file: "",
        line: 0,
        kind: FrameKind::User,
    }
}

fn totals(tree: &StackTree, own: &[i64]) -> Vec<i64> {
    let mut totals = own.to_vec();
    for node in tree.nodes().rev() {
        if let Some(parent) = tree.parent(node) {
            totals[parent.get()] = totals[parent.get()].saturating_add(totals[node.get()]);
        }
    }
    totals
}

/// A flame graph that boxes are added to.
struct Drawing {
    graph: Flamebearer,
    /// The end of the last box of each level and side.
    ends: Vec<Vec<i64>>,
}

/// A box whose children are being added, by side.
#[derive(Clone)]
struct Open {
    /// The begin of the next child.
    next: Vec<i64>,
    level: usize,
}

impl Drawing {
    fn draw(&mut self, union: &Union, own: &[Vec<i64>], totals: &[Vec<i64>], max_nodes: usize) {
        let sides = own.len();
        let tree = &union.tree;
        let of_node = |columns: &[Vec<i64>], node: NodeIx| -> Vec<i64> {
            columns.iter().map(|column| column[node.get()]).collect()
        };
        let is_kept = largest(tree, totals, max_nodes);
        // The cost of children that are left out, by caller.
        let mut left_out: HashMap<Option<NodeIx>, Vec<i64>> = HashMap::new();
        let mut whole = vec![0; sides];
        for node in tree.nodes() {
            let caller = tree.parent(node);
            if caller.is_none() {
                add(&mut whole, &of_node(totals, node));
            }
            let is_cut = !is_kept[node.get()] && caller.is_none_or(|caller| is_kept[caller.get()]);
            if is_cut {
                let sums = left_out.entry(caller).or_insert_with(|| vec![0; sides]);
                add(sums, &of_node(totals, node));
            }
        }
        let none = vec![0; sides];
        let mut root = self.add_box(0, &none, (&whole, &none), 0);
        self.graph.totals = whole;
        let mut other = None;
        self.add_other(&mut root, left_out.get(&None), &mut other);
        let mut names: Vec<Option<i64>> = vec![None; union.frames.len()];
        let mut open: Vec<Option<Open>> = vec![None; tree.len()];
        for node in tree.nodes().filter(|node| is_kept[node.get()]) {
            let frame = tree.frame(node);
            let name = *names[frame.get()].get_or_insert_with(|| self.name(union, frame));
            let caller = match tree.parent(node) {
                Some(caller) => open[caller.get()].as_mut(),
                None => Some(&mut root),
            };
            let Some(caller) = caller else { continue };
            let (level, start) = (caller.level + 1, caller.next.clone());
            let (total, own) = (of_node(totals, node), of_node(own, node));
            add(&mut caller.next, &total);
            let mut added = self.add_box(level, &start, (&total, &own), name);
            self.add_other(&mut added, left_out.get(&Some(node)), &mut other);
            open[node.get()] = Some(added);
        }
    }

    fn name(&mut self, union: &Union, frame: FrameIx) -> i64 {
        let symbol = union.frames.frame(frame).symbol.to_owned();
        self.graph.names.push(symbol);
        (self.graph.names.len() - 1) as i64
    }

    /// Adds a box for the children of a box that are left out.
    fn add_other(&mut self, below: &mut Open, total: Option<&Vec<i64>>, name: &mut Option<i64>) {
        let Some(total) = total.filter(|total| total.iter().any(|&total| total > 0)) else {
            return;
        };
        let name = *name.get_or_insert_with(|| {
            self.graph.names.push(OTHER.to_owned());
            (self.graph.names.len() - 1) as i64
        });
        let start = below.next.clone();
        add(&mut below.next, total);
        self.add_box(below.level + 1, &start, (total, total), name);
    }

    fn add_box(
        &mut self,
        level: usize,
        start: &[i64],
        (total, own): (&[i64], &[i64]),
        name: i64,
    ) -> Open {
        if level == self.graph.levels.len() {
            self.graph.levels.push(Vec::new());
            self.ends.push(vec![0; start.len()]);
        }
        for side in 0..start.len() {
            let end = &mut self.ends[level][side];
            self.graph.levels[level].extend([start[side] - *end, total[side], own[side]]);
            *end = start[side].saturating_add(total[side]);
            self.graph.max_self = self.graph.max_self.max(own[side]);
        }
        self.graph.levels[level].push(name);
        let mut next = start.to_vec();
        add(&mut next, own);
        Open { next, level }
    }
}

fn add(sums: &mut [i64], more: &[i64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.saturating_add(*more);
    }
}

/// Returns whether each node is one of the `count` largest ones. Callers are at least as large as their callees and come
/// before them, so that a node's callers are kept with it.
fn largest(tree: &StackTree, totals: &[Vec<i64>], count: usize) -> Vec<bool> {
    let sum = |node: &NodeIx| -> i128 { totals.iter().map(|t| i128::from(t[node.get()])).sum() };
    let mut nodes: Vec<NodeIx> = tree.nodes().filter(|node| sum(node) > 0).collect();
    nodes.sort_by_cached_key(|node| (Reverse(sum(node)), *node));
    let mut is_kept = vec![false; tree.len()];
    for node in nodes.into_iter().take(count) {
        is_kept[node.get()] = true;
    }
    is_kept
}
