//! The flame graph of a run in a time window that the reader of a page selects.

use super::label::Labels;
use super::palette::Palette;
use super::picture::{Color, Frame, Picture};
use crate::text::percent;
use crate::timeline::StacksOverTime;
use crate::tree::View;
use maud::Markup;

/// Labels of frames, with a colour for each.
pub(crate) struct FrameLabels {
    /// Index of each frame's label.
    pub(crate) of_frame: Vec<u32>,
    /// Text of each label, and its colour in red, green and blue.
    pub(crate) all: Vec<(String, [u8; 3])>,
    /// Index of the label for stacks that were left out.
    pub(crate) others: u32,
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
        let all = labels.all().iter();
        let all = all.map(|label| (label.text.clone(), label.color(Palette::default())));
        let mut all: Vec<_> = all.collect();
        all.push((OTHERS.to_owned(), GREY));
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
    let frame = |level, (name, color): (&str, [u8; 3]), part: f64| Frame {
        level,
        name: name.to_owned(),
        about: percent(part),
        color: Color::Kind(color),
        width: part,
        other: None,
    };
    let mut levels: Vec<usize> = Vec::with_capacity(totals.len());
    let mut frames = vec![frame(0, ("all", [225; 3]), 1.0)];
    for (stack, total) in totals.iter().enumerate() {
        let level = stacks.parents[stack].map_or(1, |parent| levels[parent as usize] + 1);
        levels.push(level);
        if total / whole < MIN_WIDTH {
            continue;
        }
        let (name, color) = &labels.all[stacks.labels[stack] as usize];
        frames.push(frame(level, (name, *color), total / whole));
    }
    Picture { frames }.svg()
}
