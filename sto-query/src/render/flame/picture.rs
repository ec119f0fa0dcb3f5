//! The boxes of a flame graph as SVG, which shows without any script; `flame.js` makes it one to search,
//! to zoom into, and to walk by keys.

use crate::text::display_width;
use maud::{Markup, PreEscaped, Render, html};
use unicode_width::UnicodeWidthChar;

/// Pixels that the drawing is wide until the script fits it into its page or window.
const WIDTH: f64 = 1200.0;
/// Pixels from one level to the next.
const ROW: usize = 20;
/// Pixels that a character of a name takes, and that stay free at its ends.
const CHARACTER: f64 = 6.7;
const PADDING: f64 = 6.0;
/// Most frames of a drawing, of some 200 bytes each: a browser draws so many while a reader waits.
pub(crate) const MAX_FRAMES: usize = 10_000;

/// What a frame's colour says.
#[derive(Clone, Copy)]
pub(super) enum Color {
    /// Its kind, in red, green and blue.
    Kind([u8; 3]),
    /// By how much it changed: 5 for much more, −5 for much less.
    Change(i8),
}

impl Color {
    /// The colour of a change: of 1 for as much more as there is a colour for.
    pub(super) fn of_change(part: f64) -> Color {
        Color::Change((5.0 * part).round().clamp(-5.0, 5.0) as i8)
    }

    /// The class in the style sheet.
    fn class(self) -> Option<&'static str> {
        const LESS: [&str; 5] = ["b1", "b2", "b3", "b4", "b5"];
        const MORE: [&str; 5] = ["w1", "w2", "w3", "w4", "w5"];
        match self {
            Color::Kind(_) => None,
            Color::Change(0) => Some("n"),
            Color::Change(step @ ..0) => Some(LESS[usize::from(step.unsigned_abs()) - 1]),
            Color::Change(step) => Some(MORE[usize::from(step.unsigned_abs()) - 1]),
        }
    }

    fn fill(self) -> Option<String> {
        match self {
            Color::Kind([r, g, b]) => Some(format!("#{r:02x}{g:02x}{b:02x}")),
            Color::Change(_) => None,
        }
    }
}

/// A box.
pub(super) struct Frame {
    /// Number of frames that it is in.
    pub(super) level: usize,
    pub(super) name: String,
    /// Its numbers; no bracket opens in them.
    pub(super) about: String,
    pub(super) color: Color,
    /// Its part of all, and that on the other side of a comparison whose widths can be chosen.
    pub(super) width: f64,
    pub(super) other: Option<f64>,
}

/// The boxes, each before those that hang from it; the first is all.
pub(super) struct Picture {
    pub(super) frames: Vec<Frame>,
}

impl Picture {
    /// Pixels.
    pub(super) fn height(&self) -> usize {
        let levels = self.frames.iter().map(|frame| frame.level + 1).max();
        ROW * levels.unwrap_or(0)
    }

    /// The drawing for a page.
    pub(super) fn svg(&self) -> Markup {
        html! {
            svg.boxes viewBox={ "0 0 " (WIDTH) " " (self.height()) } { (self.boxes(0)) }
        }
    }

    /// The drawing as a file of its own.
    pub(super) fn document(&self, title: &str, notes: &str, is_colorblind: bool) -> String {
        const TOP: usize = 64;
        const SCRIPT: &str = concat!(include_str!("../html/element.js"), include_str!("flame.js"));
        let style = concat!(include_str!("alone.css"), include_str!("flame.css"));
        let height = TOP + self.height() + ROW;
        let svg = html! {
            svg.flame.alone.colorblind[is_colorblind] xmlns="http://www.w3.org/2000/svg" width=(WIDTH)
                height=(height) viewBox={ "0 0 " (WIDTH) " " (height) } {
                style { (character_data(style)) }
                rect.paper width="100%" height="100%" fill="#fff" {}
                text.title x="12" y="26" { (title) }
                text.notes x="12" y="48" { (notes) }
                (self.boxes(TOP))
                script { (character_data(SCRIPT)) }
            }
        };
        // A line for each element that begins. In names, neither mark stands as it is.
        let svg = svg
            .into_string()
            .replace("><", ">\n<")
            .replace(">\n</", "></");
        format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{svg}\n")
    }

    fn boxes(&self, top: usize) -> Markup {
        html! {
            g.frames transform={ "translate(0 " (top) ")" } {
                @for (frame, [x, other_x]) in self.frames.iter().zip(self.starts()) {
                    @let y = frame.level * ROW;
                    @let other = frame.other.map(|other| html! { (Part(other_x)) " " (Part(other)) }.0);
                    g class=[frame.color.class()] fill=[frame.color.fill()] data-other=[other] {
                        title { (frame.name) " (" (frame.about) ")" }
                        rect x=(Part(x)) y=(y) width=(Part(frame.width)) height=(ROW - 1) {}
                        @if let Some(name) = fitting(&frame.name, frame.width * WIDTH) {
                            text x=(Part(x + 4.0 / WIDTH)) y=(y + 14) { (name) }
                        }
                    }
                }
            }
        }
    }

    /// Where each box begins, by its width and by the other: in its caller, after what stands before it.
    fn starts(&self) -> Vec<[f64; 2]> {
        let mut next = vec![[0.0; 2]; self.height() / ROW + 1];
        let start = |frame: &Frame| {
            let start = next[frame.level];
            next[frame.level + 1] = start;
            next[frame.level] = [
                start[0] + frame.width,
                start[1] + frame.other.unwrap_or(0.0),
            ];
            start
        };
        self.frames.iter().map(start).collect()
    }
}

/// A part of the width, in pixels: a thousandth is enough to be zoomed into.
struct Part(f64);

impl Render for Part {
    fn render_to(&self, markup: &mut String) {
        let text = format!("{:.3}", self.0 * WIDTH);
        markup.push_str(text.trim_end_matches('0').trim_end_matches('.'));
    }
}

/// What of a name fits into a box, if that says anything: of too long a name the end, which is its own.
fn fitting(name: &str, width: f64) -> Option<String> {
    let room = ((width - PADDING) / CHARACTER) as usize;
    if display_width(name) <= room {
        return Some(name.to_owned());
    }
    let mut taken = 1;
    let end = name.char_indices().rev().take_while(|(_, character)| {
        taken += character.width().unwrap_or(0);
        taken <= room
    });
    let (start, _) = end.last().filter(|_| room >= 5)?;
    Some(format!("…{}", &name[start..]))
}

/// Content of an element that has no markup, in XML.
fn character_data(content: &str) -> Markup {
    PreEscaped(format!("<![CDATA[{content}]]>"))
}
