//! Pruning of call trees.

use super::share;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use sto_core::tree::{NodeIx, StackTree};
use sto_core::units::Cost;

/// Limits of a call tree.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct Prune {
    /// Share (0 to 1) below which stacks are cut.
    pub min_share: f64,
    /// Number of levels to keep.
    pub max_depth: usize,
}

impl Default for Prune {
    fn default() -> Self {
        Prune {
            min_share: 0.01,
            max_depth: 100,
        }
    }
}

/// Stacks that were cut below a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Cut {
    /// Number of stacks.
    pub(crate) stacks: usize,
    /// Their cost.
    pub(crate) cost: Cost,
}

/// A stack that was kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Row {
    /// The stack.
    pub(crate) node: NodeIx,
    /// Index of its caller in [`Pruned::rows`].
    pub(crate) parent: Option<usize>,
    /// Number of its callers.
    pub(crate) depth: usize,
    /// The stacks that were cut directly below it.
    pub(crate) cut: Cut,
}

/// A pruned call tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) struct Pruned {
    /// The stacks that were kept: callers before their callees, siblings by descending total.
    pub(crate) rows: Vec<Row>,
    /// All stacks that were cut, including roots.
    pub(crate) cut: Cut,
}

/// Cuts stacks that are small or deep. Stacks without cost are dropped and not counted as cut.
///
/// `totals` is the result of [`totals`](fn@super::totals) for this tree.
pub(crate) fn prune(tree: &StackTree, totals: &[Cost], prune: &Prune) -> Pruned {
    let ends = tree.subtree_ends();
    let roots = tree.nodes().filter(|&node| tree.parent(node).is_none());
    let whole = roots.map(|root| totals[root.get()]).sum();

    let mut kept: Vec<Row> = Vec::new();
    let mut all_cut = Cut::default();
    // The callers of the next node, as indices of `kept`.
    let mut callers: Vec<usize> = Vec::new();
    let mut next = 0;
    while next < tree.len() {
        let node = NodeIx(next as u32);
        let end = ends[node.get()] as usize;
        while callers
            .last()
            .is_some_and(|&row| ends[kept[row].node.get()] as usize <= next)
        {
            callers.pop();
        }
        let total = totals[node.get()];
        if total.is_zero() {
            next = end;
        } else if share(total, whole) < prune.min_share || callers.len() >= prune.max_depth {
            let stacks = (next..end).filter(|&n| !totals[n].is_zero()).count();
            let below = callers.last().map(|&row| &mut kept[row].cut);
            for cut in below.into_iter().chain([&mut all_cut]) {
                cut.stacks += stacks;
                cut.cost += total;
            }
            next = end;
        } else {
            kept.push(Row {
                node,
                parent: callers.last().copied(),
                depth: callers.len(),
                cut: Cut::default(),
            });
            callers.push(kept.len() - 1);
            next += 1;
        }
    }
    Pruned {
        rows: order_siblings_by_total(&kept, totals),
        cut: all_cut,
    }
}

/// Orders siblings by descending cost; equals keep the order of the tree.
pub(crate) fn order_siblings_by_total(kept: &[Row], totals: &[Cost]) -> Vec<Row> {
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); kept.len()];
    let mut roots = Vec::new();
    for (ix, row) in kept.iter().enumerate() {
        row.parent
            .map_or(&mut roots, |parent| &mut children[parent])
            .push(ix);
    }
    // Nodes are popped from the end, so the cheapest comes first.
    let cheapest_first = |siblings: &mut Vec<usize>| {
        siblings.sort_by_key(|&ix| {
            let total = totals[kept[ix].node.get()];
            (total.value, total.samples, Reverse(ix))
        });
    };
    children.iter_mut().for_each(cheapest_first);
    cheapest_first(&mut roots);

    let mut new_index = vec![0; kept.len()];
    let mut rows = Vec::with_capacity(kept.len());
    let mut open = roots;
    while let Some(ix) = open.pop() {
        new_index[ix] = rows.len();
        rows.push(Row {
            parent: kept[ix].parent.map(|parent| new_index[parent]),
            ..kept[ix]
        });
        open.append(&mut children[ix]);
    }
    rows
}
