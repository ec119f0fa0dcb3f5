//! The flame graph of a run in a time window that the reader of a page selects.

use super::label::Labels;
use super::palette::Palette;
use super::picture::{Color, Frame, Picture, in_tooltip};
use crate::text::names::distinct_names;
use crate::text::percent;
use crate::timeline::StacksOverTime;
use crate::tree::View;
use maud::Markup;
use std::iter::zip;

/// Labels of frames, with a colour for each.
pub(crate) struct FrameLabels {
    /// Index of each frame's label.
    pub(crate) of_frame: Vec<u32>,
    /// All labels.
    pub(crate) all: Vec<FrameLabel>,
    /// Index of the label for stacks that were left out.
    pub(crate) others: u32,
}

/// The displayed properties of a function's frames.
pub(crate) struct FrameLabel {
    /// The full name.
    pub(crate) name: String,
    /// The short form of the name.
    pub(crate) short: String,
    /// The colour in red, green and blue.
    pub(crate) color: [u8; 3],
}

/// Minimum width of a frame, as a part of the whole, before a script redraws the graph.
const MIN_WIDTH: f64 = 0.001;
/// Label and colour of stacks that were left out.
const OTHERS: &str = "(others)";
const GREY: [u8; 3] = [205; 3];

impl FrameLabels {
    pub(crate) fn new(view: &View) -> FrameLabels {
        let mut labels = Labels::default();
        let of_frame = labels.label_by_kind(view);
        let short = distinct_names(labels.all().iter().map(|label| &*label.text));
        let all = zip(labels.all(), short).map(|(label, short)| FrameLabel {
            name: in_tooltip(&label.text),
            short,
            color: label.color(Palette::default()),
        });
        let mut all: Vec<FrameLabel> = all.collect();
        all.push(FrameLabel {
            name: OTHERS.to_owned(),
            short: OTHERS.to_owned(),
            color: GREY,
        });
        FrameLabels {
            of_frame: of_frame.into_iter().map(|label| label.0).collect(),
            others: all.len() as u32 - 1,
            all,
        }
    }
}

/// Draws the whole time, for readers without scripts.
pub(crate) fn draw_frames(stacks: &StacksOverTime, labels: &FrameLabels) -> Markup {
    let mut totals = vec![0.0; stacks.parents.len()];
    for &(stack, cost) in stacks.slices.iter().flatten() {
        totals[stack as usize] += cost;
    }
    let mut whole = 0.0;
    for stack in (0..totals.len()).rev() {
        match stacks.parents[stack] {
            Some(parent) => totals[parent as usize] += totals[stack],
            None => whole += totals[stack],
        }
    }
    let frame = |level, label: &FrameLabel, part: f64| Frame {
        level,
        name: label.name.clone(),
        label: label.short.clone(),
        about: percent(part),
        color: Color::Kind(label.color),
        width: part,
        other: None,
    };
    let mut levels: Vec<usize> = Vec::with_capacity(totals.len());
    let whole_time = FrameLabel {
        name: "all".to_owned(),
        short: "all".to_owned(),
        color: [225; 3],
    };
    let mut frames = vec![frame(0, &whole_time, 1.0)];
    for (stack, total) in totals.iter().enumerate() {
        let level = stacks.parents[stack].map_or(1, |parent| levels[parent as usize] + 1);
        levels.push(level);
        if total / whole < MIN_WIDTH {
            continue;
        }
        let label = &labels.all[stacks.labels[stack] as usize];
        frames.push(frame(level, label, total / whole));
    }
    Picture { frames }.svg()
}
