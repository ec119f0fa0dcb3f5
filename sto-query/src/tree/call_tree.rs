//! The pruned call tree.

use super::{CostShare, FrameInfo, Subject};
use crate::answer::Answer;
use crate::tree::{Cut, Link, NO_OWN_COST, Prune, View, fold_tree, prune, totals};
use serde::Serialize;
use sto_core::units::Cost;

/// A pruned call tree.
///
/// The nodes are a flat list with the index of each node's caller instead of nested objects, as
/// recursion can be deeper than JSON readers allow.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallTree {
    /// The program, build and profiles.
    #[serde(flatten)]
    pub subject: Subject,
    /// Share below which stacks were cut.
    pub min_share: f64,
    /// Number of levels that were kept.
    pub max_depth: usize,
    /// The stacks: callers before their callees, siblings by descending cost.
    pub nodes: Vec<CallTreeNode>,
    /// Everything that was cut.
    pub cut: CutStacks,
    /// Whether text has a line for each stack.
    #[serde(skip)]
    pub(crate) is_unfolded: bool,
}

impl Answer for CallTree {
    const SCHEMA: &'static str = "sto.tree/1";
}

/// A stack of the call tree.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallTreeNode {
    /// Index of its caller in `nodes`.
    pub parent: Option<usize>,
    /// Number of its callers.
    pub depth: usize,
    /// Its last frame.
    #[serde(flatten)]
    pub frame: FrameInfo,
    /// Source line; omitted in JSON unless frames are split by line.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
    /// Cost of the samples with exactly this stack.
    #[serde(rename = "self")]
    pub self_cost: CostShare,
    /// Cost of the samples whose stack begins with this one.
    pub total: CostShare,
    /// The stacks that were cut directly below it.
    pub cut: CutStacks,
    /// Whether text shows it in one line with other stacks; omitted in JSON if false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub folded: bool,
}

fn is_zero(line: &u32) -> bool {
    *line == 0
}

/// Stacks that were cut.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CutStacks {
    /// Number of stacks.
    pub stacks: usize,
    /// Their cost.
    #[serde(flatten)]
    pub cost: CostShare,
}

impl CutStacks {
    fn new(cut: Cut, whole: Cost) -> Self {
        CutStacks {
            stacks: cut.stacks,
            cost: CostShare::new(cut.cost, whole),
        }
    }
}

/// Returns the call tree of a view in one sample type, pruned by `options`. Stacks of the same
/// functions are one, whether they were interpreted or compiled.
pub fn call_tree(view: &View, sample_type: usize, options: &Prune) -> CallTree {
    let view = &*view.with_merged_stacks();
    let self_costs = view.self_costs(sample_type);
    let whole: Cost = self_costs.iter().copied().sum();
    let totals = totals(&view.tree, &self_costs);
    let pruned = prune(&view.tree, &totals, options);
    let nodes = pruned.rows.iter().map(|row| {
        let frame = view.frames.frame(view.tree.frame(row.node));
        CallTreeNode {
            parent: row.parent,
            depth: row.depth,
            frame: frame.into(),
            line: frame.line,
            self_cost: CostShare::new(self_costs[row.node.get()], whole),
            total: CostShare::new(totals[row.node.get()], whole),
            cut: CutStacks::new(row.cut, whole),
            folded: false,
        }
    });
    let mut nodes: Vec<CallTreeNode> = nodes.collect();
    let link = |ix: usize| nodes[ix].link();
    for ix in fold_tree(nodes.iter().map(|node| node.depth), link) {
        nodes[ix].folded = true;
    }
    CallTree {
        subject: Subject::with_whole(view, sample_type, whole),
        min_share: options.min_share,
        max_depth: options.max_depth,
        nodes,
        cut: CutStacks::new(pruned.cut, whole),
        is_unfolded: false,
    }
}

impl CallTree {
    /// Returns the tree with a line for each stack.
    pub fn unfolded(mut self) -> Self {
        self.nodes.iter_mut().for_each(|node| node.folded = false);
        self.is_unfolded = true;
        self
    }
}

impl CallTreeNode {
    /// Returns the stack's last frame as a link of a chain of calls.
    pub(crate) fn link(&self) -> Link<'_> {
        Link {
            symbol: &self.frame.function,
            module: &self.frame.module,
            is_passed_through: self.self_cost.share < NO_OWN_COST,
        }
    }
}
