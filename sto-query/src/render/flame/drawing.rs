//! What is drawn: the stacks of one view or two, merged by label.

use super::{FULL_COLOR_SHARE, Label, MAX_LEVELS};
use crate::compare::Focus;
use crate::render::flame::label::{LabelIx, Labels};
use crate::tree::{View, share, totals};
use hashbrown::HashMap;
use std::fmt::Write;
use sto_core::units::Cost;

/// Frames with a smaller share are not drawn: about a tenth of a pixel.
const MIN_SHARE: f64 = 0.0001;

/// Most bytes of folded text; where it would be more, wider frames are left out too. Each line
/// repeats its stack, and hostile input could make gigabytes of it. One stack as deep as is drawn,
/// of the longest labels, always fits.
const MAX_FOLDED_BYTES: usize = 128 << 20;

/// Widths stay below this, so that inferno's sums and products stay in 64 bits.
const MAX_WIDTH: u64 = 1 << 50;

/// Which of two views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Baseline = 0,
    Candidate = 1,
}

struct Node {
    parent: Option<usize>,
    label: LabelIx,
    level: usize,
    totals: [Cost; 2],
}

/// The merged stacks. A graph of one view has it as the candidate.
#[derive(Default)]
pub(super) struct Drawing {
    nodes: Vec<Node>,
    index: HashMap<(Option<usize>, LabelIx), usize>,
    whole: [Cost; 2],
    /// What of it is in focus.
    drawn: [Cost; 2],
    is_cut: bool,
}

impl Drawing {
    /// Adds the stacks of a view, or those of them that are in focus.
    pub(super) fn add(
        &mut self,
        side: Side,
        (view, sample_type): (&View, usize),
        focus: Option<&Focus>,
        labels: &mut Labels,
    ) {
        let mut self_costs = view.self_costs(sample_type);
        self.whole[side as usize] = self_costs.iter().copied().sum();
        if let Some(focus) = focus {
            focus.keep(view, &mut self_costs);
        }
        let totals = totals(&view.tree, &self_costs);
        self.drawn[side as usize] = self_costs.into_iter().sum();
        let labels = labels.of(&view.frames);
        // For each node of the view its place here; `None` below the deepest level.
        let mut places: Vec<Option<usize>> = Vec::with_capacity(view.tree.len());
        for node in view.tree.nodes() {
            let caller = view.tree.parent(node);
            let parent = caller.and_then(|caller| places[caller.get()]);
            let level = parent.map_or(0, |parent| self.nodes[parent].level + 1);
            let is_below = caller.is_some() && parent.is_none();
            let total = totals[node.get()];
            if is_below || level >= MAX_LEVELS || total.is_zero() {
                self.is_cut |= !total.is_zero();
                places.push(None);
                continue;
            }
            let label = labels[view.tree.frame(node).get()];
            let place = *self.index.entry((parent, label)).or_insert_with(|| {
                self.nodes.push(Node {
                    parent,
                    label,
                    level,
                    totals: [Cost::ZERO; 2],
                });
                self.nodes.len() - 1
            });
            self.nodes[place].totals[side as usize] += total;
            places.push(Some(place));
        }
    }

    /// The cost of all stacks of a view.
    pub(super) fn whole(&self, side: Side) -> Cost {
        self.whole[side as usize]
    }

    /// The share of a view's cost in the stacks that are in focus.
    pub(super) fn in_focus(&self, side: Side) -> f64 {
        share(self.drawn[side as usize], self.whole[side as usize])
    }

    /// The side that widths are of: the candidate, unless it has none of the stacks.
    pub(super) fn widths(&self) -> Side {
        match self.drawn[Side::Candidate as usize].is_zero() {
            true => Side::Baseline,
            false => Side::Candidate,
        }
    }

    /// Says so where the deepest calls are not drawn.
    pub(super) fn depth_note(&self) -> String {
        if !self.is_cut {
            return String::new();
        }
        format!(" Only the outermost {MAX_LEVELS} levels of calls are drawn.")
    }

    /// The share of the baseline's cost in stacks that the candidate does not have.
    pub(super) fn gone(&self) -> f64 {
        let is_gone = |node: &Node| node.totals[Side::Candidate as usize].is_zero();
        let outermost = self
            .nodes
            .iter()
            .filter(|node| is_gone(node) && !node.parent.is_some_and(|p| is_gone(&self.nodes[p])));
        let cost = outermost
            .map(|node| node.totals[Side::Baseline as usize])
            .sum();
        share(cost, self.whole(Side::Baseline))
    }

    /// What one unit of width stands for, in the sample type.
    pub(super) fn factor(&self) -> f64 {
        let whole = weight(self.whole(self.widths()), self.whole(self.widths()));
        whole as f64 / self.full_width() as f64
    }

    /// Folded lines of the candidate, in the order of the drawing.
    pub(super) fn lines(&self, labels: &[Label]) -> Vec<String> {
        self.fold(labels, false)
    }

    /// Folded lines with two numbers each, of which inferno draws the second as width and the
    /// difference as colour.
    pub(super) fn difference_lines(&self, labels: &[Label]) -> Vec<String> {
        let mut lines = self.fold(labels, true);
        // inferno gives the largest change full colour; a frame without width takes part in that
        // but is not drawn.
        let full_color = (self.drawn_width() as f64 * FULL_COLOR_SHARE) as u64;
        lines.push(format!("scale {full_color} 0"));
        lines
    }

    fn full_width(&self) -> u64 {
        let whole = self.whole(Side::Candidate);
        weight(whole, whole).min(MAX_WIDTH)
    }

    /// What the stacks in focus take of it: that is how wide the picture is.
    fn drawn_width(&self) -> u64 {
        let side = self.widths();
        self.width(self.drawn[side as usize], side)
    }

    /// What a cost takes of the full width. Both sides' wholes take all of it, so equal shares
    /// have equal widths, to the last digit.
    fn width(&self, cost: Cost, side: Side) -> u64 {
        let whole = self.whole(side);
        let part = u128::from(weight(cost, whole));
        let scaled = part * u128::from(self.full_width()) / u128::from(weight(whole, whole).max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX)
    }

    fn fold(&self, labels: &[Label], difference: bool) -> Vec<String> {
        let children = self.children(labels);
        let mut min_share = MIN_SHARE;
        loop {
            if let Some(lines) = self.try_fold(labels, &children, min_share, difference) {
                return lines;
            }
            min_share *= 2.0;
        }
    }

    /// The lines, or `None` where they take too many bytes.
    fn try_fold(
        &self,
        labels: &[Label],
        children: &[Vec<usize>],
        min_share: f64,
        difference: bool,
    ) -> Option<Vec<String>> {
        let min_width = (self.drawn_width() as f64 * min_share) as u64;
        let side = self.widths();
        let total = |node: usize, side: Side| self.nodes[node].totals[side as usize];
        let width = |node: usize| self.width(total(node, side), side);
        let is_drawn = |node: &usize| width(*node) > min_width;

        let mut lines = Vec::new();
        let mut bytes = 0;
        let mut stack = String::new();
        let mut ends: Vec<usize> = Vec::new();
        let roots = &children[0];
        let mut open: Vec<usize> = roots.iter().rev().copied().filter(is_drawn).collect();
        while let Some(ix) = open.pop() {
            let node = &self.nodes[ix];
            ends.truncate(node.level);
            stack.truncate(ends.last().copied().unwrap_or(0));
            if node.level > 0 {
                stack.push(';');
            }
            stack.push_str(&labels[node.label.0 as usize].text);
            ends.push(stack.len());

            let first = open.len();
            open.extend(children[ix + 1].iter().rev().copied().filter(is_drawn));
            let below: u64 = open[first..].iter().map(|&child| width(child)).sum();
            let own = width(ix) - below;
            if own > 0 || difference {
                let mut line = stack.clone();
                if difference {
                    // inferno takes a frame's colour from the line that ends in it, as the
                    // difference of its two numbers in wrapping arithmetic. The colour is to
                    // show the change of the total, so the first number is made such that
                    // `own - first` is that change, even where that takes a negative one.
                    let after = self.width(total(ix, Side::Candidate), Side::Candidate);
                    let before = self.width(total(ix, Side::Baseline), Side::Baseline);
                    let change = after.wrapping_sub(before);
                    let _ = write!(line, " {}", own.wrapping_sub(change));
                }
                let _ = write!(line, " {own}");
                bytes += line.len();
                if bytes > MAX_FOLDED_BYTES {
                    return None;
                }
                lines.push(line);
            }
        }
        Some(lines)
    }

    /// The roots, and then each node's children: by label.
    fn children(&self, labels: &[Label]) -> Vec<Vec<usize>> {
        let mut children = vec![Vec::new(); self.nodes.len() + 1];
        for (ix, node) in self.nodes.iter().enumerate() {
            children[node.parent.map_or(0, |parent| parent + 1)].push(ix);
        }
        let label = |ix: &usize| &labels[self.nodes[*ix].label.0 as usize].text;
        for siblings in &mut children {
            siblings.sort_by(|a, b| label(a).cmp(label(b)));
        }
        children
    }
}

/// The number that widths are made of: the value, or the samples where nothing has a value.
fn weight(cost: Cost, whole: Cost) -> u64 {
    if whole.value == 0 {
        cost.samples
    } else {
        cost.value
    }
}
