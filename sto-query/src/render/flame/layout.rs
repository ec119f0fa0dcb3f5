//! The boxes of a drawing.

use super::drawing::{Drawing, MIN_SHARE, Node, Side};
use super::label::Label;
use super::picture::{Color, Frame, Picture};
use super::{FULL_COLOR_SHARE, Palette};
use crate::render::findings::words::ratio;
use crate::text::names::distinct_names;
use crate::text::{format_count, group_digits, percent, quantity};
use crate::tree::share;
use hashbrown::HashMap;
use std::iter::zip;
use sto_core::units::{Cost, Unit};

/// Colour of the box for all stacks.
const NEUTRAL: [u8; 3] = [225; 3];

impl Drawing {
    /// Returns at most `max_frames` boxes, coloured by kind if there is a palette and by change
    /// otherwise, and a note on omitted stacks.
    pub(super) fn picture(
        &self,
        labels: &[Label],
        unit: Unit,
        palette: Option<Palette>,
        max_frames: usize,
    ) -> (Picture, String) {
        let (nodes, min_width) = self.widest(labels, max_frames);
        let changes: Vec<f64> = nodes.iter().map(|&node| self.change(node)).collect();
        let largest = changes.iter().map(|change| change.abs());
        let full = largest.fold(FULL_COLOR_SHARE, f64::max);
        let about = |cost: Cost, calls: u64| {
            let whole = self.whole(self.side);
            let value = (whole.value > 0)
                .then(|| quantity(cost.value, unit))
                .flatten();
            let value = value.map_or_else(String::new, |value| value + " in ");
            let samples = match self.called_in {
                Some(_) => format_count(calls, "call"),
                None => format_count(cost.samples, "sample"),
            };
            let part = 100.0 * share(cost, self.drawn[self.side as usize]);
            format!("{value}{samples}, {part:.2}%")
        };
        let all = Frame {
            level: 0,
            name: "all".to_owned(),
            label: "all".to_owned(),
            about: {
                let drawn = self.drawn[self.side as usize];
                about(drawn, drawn.samples)
            },
            color: match palette {
                Some(_) => Color::Kind(NEUTRAL),
                None => Color::Change(0),
            },
            width: 1.0,
            other: None,
        };
        let short = self.short_labels(&nodes, labels);
        let frames = nodes
            .into_iter()
            .zip(changes)
            .zip(short)
            .map(|((ix, change), short)| {
                let node = &self.nodes[ix];
                let label = &labels[node.label.0 as usize];
                let about = about(
                    node.totals[self.side as usize],
                    node.calls[self.side as usize],
                );
                let (about, color) = match palette {
                    Some(palette) => (about, Color::Kind(label.color(palette))),
                    None => {
                        let part = change / full;
                        // Changes beyond noise have at least a pale colour, however large others are.
                        let part = if part.abs() < 0.02 {
                            0.0
                        } else {
                            part + part.signum() * 0.1
                        };
                        (
                            format!("{about}; {:+.2}%{}", 100.0 * change, self.called(node)),
                            Color::from_change(part),
                        )
                    }
                };
                Frame {
                    level: node.level + 1,
                    name: label.text.clone(),
                    label: short,
                    about,
                    color,
                    width: self.width(ix),
                    other: None,
                }
            });
        let picture = Picture {
            frames: std::iter::once(all).chain(frames).collect(),
        };
        let mut left_out = self.depth_note();
        if min_width > MIN_SHARE {
            left_out += &format!(" Narrower than {} is not drawn.", percent(min_width));
        }
        (picture, left_out)
    }

    /// Returns the short form of each node's label, which tells it apart from its siblings.
    fn short_labels(&self, nodes: &[usize], labels: &[Label]) -> Vec<String> {
        let text = |&node: &usize| &*labels[self.nodes[node].label.0 as usize].text;
        let mut short = vec![String::new(); nodes.len()];
        let mut siblings: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (ix, &node) in nodes.iter().enumerate() {
            siblings
                .entry(self.nodes[node].parent)
                .or_default()
                .push(ix);
        }
        for siblings in siblings.into_values() {
            let names = distinct_names(siblings.iter().map(|&ix| text(&nodes[ix])));
            zip(siblings, names).for_each(|(ix, name)| short[ix] = name);
        }
        short
    }

    /// Returns the frames to draw (callers before their callees, siblings by name) and their
    /// minimum width, which is raised until there are few enough.
    fn widest(&self, labels: &[Label], max_frames: usize) -> (Vec<usize>, f64) {
        let children = self.children(labels);
        let mut min_width = MIN_SHARE;
        loop {
            let is_drawn = |&node: &usize| self.width(node) > min_width;
            let mut nodes = Vec::new();
            let mut open: Vec<usize> = children[0].iter().rev().copied().filter(is_drawn).collect();
            while let Some(node) = open.pop() {
                nodes.push(node);
                open.extend(children[node + 1].iter().rev().copied().filter(is_drawn));
            }
            if nodes.len() < max_frames {
                return (nodes, min_width);
            }
            min_width *= 2.0;
        }
    }

    /// Returns the width of a node as a part of the whole drawing.
    fn width(&self, node: usize) -> f64 {
        let cost = self.nodes[node].totals[self.side as usize];
        share(cost, self.drawn[self.side as usize])
    }

    /// Returns how much more a frame costs in the candidate than in the baseline.
    fn change(&self, node: usize) -> f64 {
        let node = &self.nodes[node];
        if self.is_elided && node.is_in(Side::Candidate) {
            // A caller that still exists, of which only the elided callees are drawn.
            return 0.0;
        }
        self.growth(node)
    }

    /// Describes how often a function was called in each run of a trace of calls, and how the
    /// duration of a call changed: `; 300 → 300 calls a run, each +80.0%`.
    fn called(&self, node: &Node) -> String {
        let Some(runs) = self.called_in else {
            return String::new();
        };
        let side = |side: Side| {
            let side = side as usize;
            let calls = node.calls[side] as f64;
            let each = (calls > 0.0).then(|| node.totals[side].value as f64 / calls);
            (
                calls / runs[side].max(1) as f64,
                each.filter(|each| *each > 0.0),
            )
        };
        let ((before, old), (after, new)) = (side(Side::Baseline), side(Side::Candidate));
        let each = old.zip(new).map(|(old, new)| ratio(Some(new / old), true));
        let each = each.map_or(String::new(), |each| format!(", each {each}"));
        let calls = |calls: f64| group_digits(calls.round() as u64);
        format!("; {} → {} calls a run{each}", calls(before), calls(after))
    }

    /// Returns the roots, then the children of each node, ordered by label.
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
