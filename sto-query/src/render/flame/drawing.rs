//! The stacks to draw: the stacks of one or two views, merged by label.

use super::label::LabelIx;
use super::options::{FlameOptions, MAX_LEVELS, Widths};

use crate::tree::{View, share, totals};
use hashbrown::HashMap;
use sto_core::trace::{CALLS_EVENT, is_call_time};
use sto_core::tree::StackTree;
use sto_core::units::Cost;

/// Frames with a smaller share, about a tenth of a pixel, are not drawn.
pub(super) const MIN_SHARE: f64 = 0.0001;

/// One of two views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Baseline = 0,
    Candidate = 1,
}

impl Side {
    pub(super) fn other(self) -> Side {
        match self {
            Side::Baseline => Side::Candidate,
            Side::Candidate => Side::Baseline,
        }
    }
}

/// The stacks of one view.
pub(super) struct Stacks<'a> {
    pub(super) side: Side,
    pub(super) tree: &'a StackTree,
    /// Label of each frame.
    pub(super) labels: Vec<LabelIx>,
    /// Self cost of each node.
    pub(super) self_costs: Vec<Cost>,
}

pub(super) struct Node {
    pub(super) parent: Option<usize>,
    pub(super) label: LabelIx,
    pub(super) level: usize,
    pub(super) totals: [Cost; 2],
    /// Number of calls in traces of calls: the number of samples that end in this node.
    pub(super) calls: [u64; 2],
}

impl Node {
    pub(super) fn is_in(&self, side: Side) -> bool {
        !self.totals[side as usize].is_zero()
    }
}

/// The merged stacks. A graph of a single view has it as the candidate.
pub(super) struct Drawing {
    /// Nodes; parents (callers or, in an inverted drawing, callees) come before their children.
    pub(super) nodes: Vec<Node>,
    index: HashMap<(Option<usize>, LabelIx), usize>,
    whole: [Cost; 2],
    /// Cost of the stacks that the options select.
    pub(super) drawn: [Cost; 2],
    /// Number of runs on each side if samples are calls, otherwise `None`.
    pub(super) called_in: Option<[usize; 2]>,
    /// Side whose costs determine the widths.
    pub(super) side: Side,
    /// Whether only stacks that the candidate lacks are drawn.
    pub(super) is_elided: bool,
    pub(super) is_cut: bool,
    /// Cost of each side's runs relative to the baseline's.
    relative_cost: [f64; 2],
}

impl Drawing {
    /// Merges the selected stacks of the views, given the label of each frame.
    pub(super) fn new(
        views: &[(Side, (&View, usize))],
        options: &FlameOptions,
        labels: Vec<Vec<LabelIx>>,
    ) -> Drawing {
        let mut drawing = Drawing {
            nodes: Vec::new(),
            index: HashMap::new(),
            whole: [Cost::ZERO; 2],
            drawn: [Cost::ZERO; 2],
            called_in: called_in(views),
            side: Side::Candidate,
            is_elided: false,
            is_cut: false,
            relative_cost: [1.0, options.growth.unwrap_or(1.0)],
        };
        let mut chosen = Vec::with_capacity(views.len());
        for (&(side, (view, sample_type)), labels) in views.iter().zip(labels) {
            let mut self_costs = view.self_costs(sample_type);
            drawing.whole[side as usize] = self_costs.iter().copied().sum();
            if let Some(focus) = &options.focus {
                focus.keep_only(view, &mut self_costs);
            }
            if let Some(ignore) = &options.ignore {
                ignore.exclude(view, &mut self_costs);
            }
            drawing.drawn[side as usize] = self_costs.iter().copied().sum();
            chosen.push(Stacks {
                side,
                tree: &view.tree,
                labels,
                self_costs,
            });
        }
        if options.inverted {
            drawing.add_inverted(&chosen);
        } else {
            chosen.iter().for_each(|stacks| drawing.add(stacks));
        }
        drawing
    }

    fn add(&mut self, stacks: &Stacks) {
        let tree = stacks.tree;
        let totals = totals(tree, &stacks.self_costs);
        // The index of each node of the view in this drawing; `None` below the deepest level.
        let mut indices: Vec<Option<usize>> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let caller = tree.parent(node);
            let parent = caller.and_then(|caller| indices[caller.get()]);
            let level = parent.map_or(0, |parent| self.nodes[parent].level + 1);
            let is_below = caller.is_some() && parent.is_none();
            let (own, total) = (stacks.self_costs[node.get()], totals[node.get()]);
            if is_below || level >= MAX_LEVELS || total.is_zero() {
                self.is_cut |= !total.is_zero();
                indices.push(None);
                continue;
            }
            let label = stacks.labels[tree.frame(node).get()];
            let node = self.node(parent, label);
            self.nodes[node].totals[stacks.side as usize] += total;
            let calls = &mut self.nodes[node].calls[stacks.side as usize];
            *calls = calls.saturating_add(own.samples);
            indices.push(Some(node));
        }
    }

    /// Returns the child of `parent` with this label. Adds it if it does not exist.
    pub(super) fn node(&mut self, parent: Option<usize>, label: LabelIx) -> usize {
        let level = parent.map_or(0, |parent| self.nodes[parent].level + 1);
        *self.index.entry((parent, label)).or_insert_with(|| {
            self.nodes.push(Node {
                parent,
                label,
                level,
                totals: [Cost::ZERO; 2],
                calls: [0; 2],
            });
            self.nodes.len() - 1
        })
    }

    /// Selects the side that determines the widths: the other side if the requested side has no
    /// samples of the stacks.
    pub(super) fn set_widths(&mut self, widths: Widths) {
        self.side = match widths {
            Widths::Candidate => Side::Candidate,
            Widths::Baseline => Side::Baseline,
            Widths::Elided => return self.elide(),
        };
        if self.drawn[self.side as usize].is_zero() {
            self.side = self.side.other();
        }
    }

    /// Keeps only baseline stacks that the candidate lacks, and their callers.
    fn elide(&mut self) {
        self.side = Side::Baseline;
        self.is_elided = true;
        let mut gone = vec![Cost::ZERO; self.nodes.len()];
        let mut sum = Cost::ZERO;
        for (ix, node) in self.nodes.iter().enumerate().rev() {
            if !node.is_in(Side::Candidate) {
                gone[ix] = node.totals[Side::Baseline as usize];
            }
            let cost = gone[ix];
            match node.parent {
                Some(parent) => gone[parent] += cost,
                None => sum += cost,
            }
        }
        for (node, gone) in self.nodes.iter_mut().zip(gone) {
            node.totals[Side::Baseline as usize] = gone;
        }
        self.drawn[Side::Baseline as usize] = sum;
    }

    /// Returns the cost of all stacks of a view.
    pub(super) fn whole(&self, side: Side) -> Cost {
        self.whole[side as usize]
    }

    /// Returns the share of a view's cost in the selected stacks.
    pub(super) fn share_drawn(&self, side: Side) -> f64 {
        share(self.drawn[side as usize], self.whole[side as usize])
    }

    /// Returns how much more a node costs in the candidate, as a share of the drawn stacks.
    pub(super) fn growth(&self, node: &Node) -> f64 {
        let cost = |side: Side| {
            self.relative_cost[side as usize] * share(node.totals[side as usize], self.whole(side))
        };
        let drawn = self.relative_cost[self.side as usize] * self.share_drawn(self.side);
        (cost(Side::Candidate) - cost(Side::Baseline)) / drawn
    }

    /// Returns a note if the deepest calls are not drawn.
    pub(super) fn depth_note(&self) -> String {
        if !self.is_cut {
            return String::new();
        }
        format!(" Only the outermost {MAX_LEVELS} levels of calls are drawn.")
    }

    /// Returns the share of a side's cost in stacks that the other side lacks.
    pub(super) fn exclusive_share(&self, side: Side) -> f64 {
        let is_alone = |node: &Node| !node.is_in(side.other());
        let outermost = self.nodes.iter().filter(|node| {
            is_alone(node) && !node.parent.is_some_and(|p| is_alone(&self.nodes[p]))
        });
        let cost = outermost.map(|node| node.totals[side as usize]).sum();
        share(cost, self.whole(side))
    }
}

/// Returns the number of runs on each side if samples are calls; `None` if they are samples.
fn called_in(views: &[(Side, (&View, usize))]) -> Option<[usize; 2]> {
    let mut runs = [0; 2];
    for &(side, (view, column)) in views {
        let types = &view.sample_types;
        let calls = types.iter().position(|of| of.event == CALLS_EVENT)?;
        let sum = |column| -> Cost { view.self_costs(column).into_iter().sum() };
        // In a report with both events, samples can stand for parts of the time.
        if !is_call_time(types.get(column)?, types) || sum(column).samples != sum(calls).value {
            return None;
        }
        runs[side as usize] = view.selection.profiles.len();
    }
    Some(runs)
}
