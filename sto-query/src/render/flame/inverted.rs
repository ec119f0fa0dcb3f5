//! Stacks from the innermost function outwards.

use super::MAX_LEVELS;
use super::drawing::{Drawing, MIN_SHARE, Stacks};
use crate::tree::share;
use sto_core::tree::NodeIx;
use sto_core::units::Cost;

/// A stack that is followed outwards to its root.
struct Path<'a> {
    stacks: &'a Stacks<'a>,
    /// The next frame.
    node: NodeIx,
    /// Cost of the whole stack.
    cost: Cost,
}

impl Drawing {
    /// Adds the stacks with their leaves as roots. Callers are followed only from frames wide
    /// enough to be drawn, so that there are at most as many nodes as stacks and drawn frames.
    pub(super) fn add_inverted(&mut self, stacks: &[Stacks]) {
        let leaves = stacks.iter().flat_map(|stacks| {
            let costs = stacks.tree.nodes().zip(&stacks.self_costs);
            costs
                .filter(|(_, cost)| !cost.is_zero())
                .map(move |(node, &cost)| Path { stacks, node, cost })
        });
        let mut open = vec![(None, leaves.collect::<Vec<_>>())];
        while let Some((parent, mut paths)) = open.pop() {
            let label = |path: &Path| path.stacks.labels[path.stacks.tree.frame(path.node).get()];
            paths.sort_unstable_by_key(label);
            for of_label in paths.chunk_by(|a, b| label(a) == label(b)) {
                let ix = self.node(parent, label(&of_label[0]));
                for path in of_label {
                    let (node, side) = (&mut self.nodes[ix], path.stacks.side as usize);
                    node.totals[side] += path.cost;
                    node.calls[side] = node.calls[side].saturating_add(path.cost.samples);
                }
                let node = &self.nodes[ix];
                let mut sides = node.totals.iter().zip(self.drawn);
                if !sides.any(|(&total, drawn)| share(total, drawn) >= MIN_SHARE) {
                    continue;
                }
                let callers = of_label.iter().filter_map(|path| {
                    let node = path.stacks.tree.parent(path.node)?;
                    Some(Path { node, ..*path })
                });
                let callers: Vec<_> = callers.collect();
                if node.level + 1 < MAX_LEVELS {
                    open.push((Some(ix), callers));
                } else {
                    self.is_cut |= !callers.is_empty();
                }
            }
        }
    }
}
