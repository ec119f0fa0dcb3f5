//! The drawing as folded text, which inferno draws.

use super::FULL_COLOR_SHARE;
use super::drawing::{Drawing, MIN_SHARE, Side};
use super::label::Label;
use std::fmt::Write;
use sto_core::units::Cost;

/// Most bytes of folded text; where it would be more, wider frames are left out too. Each line
/// repeats its stack, and hostile input could make gigabytes of it. One stack as deep as is drawn,
/// of the longest labels, always fits.
const MAX_FOLDED_BYTES: usize = 128 << 20;

/// Widths stay below this, so that inferno's sums and products stay in 64 bits.
const MAX_WIDTH: u64 = 1 << 50;

impl Drawing {
    /// What one unit of width stands for, in the sample type.
    pub(super) fn factor(&self) -> f64 {
        let whole = self.whole(self.side);
        weight(whole, whole) as f64 / self.full_width() as f64
    }

    /// Folded lines, in the order of the drawing.
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
        let whole = self.whole(self.side);
        weight(whole, whole).min(MAX_WIDTH)
    }

    /// What the stacks in focus take of it: that is how wide the picture is.
    fn drawn_width(&self) -> u64 {
        self.width(self.drawn[self.side as usize], self.side)
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
        let width =
            |node: usize| self.width(self.nodes[node].totals[self.side as usize], self.side);
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
                    let change = self.change(ix);
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

    /// How much wider a frame is in the candidate than in the baseline, in wrapping arithmetic.
    fn change(&self, ix: usize) -> u64 {
        let node = &self.nodes[ix];
        if self.is_elided && node.is_in(Side::Candidate) {
            // A caller that is still there, of which only what is gone is drawn.
            return 0;
        }
        let width = |side: Side| self.width(node.totals[side as usize], side);
        width(Side::Candidate).wrapping_sub(width(Side::Baseline))
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
