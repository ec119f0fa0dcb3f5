//! The boxes of a flame graph as SVG that can be read without scripts. `flame.js` adds search, zoom
//! and keyboard navigation.

use crate::text::names::cut_path;
use crate::text::shorten;
use maud::{Markup, PreEscaped, Render, html};

/// Width of the drawing in pixels, until the script fits it into its page or window.
const WIDTH: f64 = 1200.0;
/// Height of a level in pixels.
const ROW: usize = 20;
/// Width of a character of a name in pixels, and the padding around a name.
const CHARACTER: f64 = 6.7;
const PADDING: f64 = 6.0;
/// Maximum width of a name in a tooltip. The largest names of C++ templates would multiply the size
/// of the picture.
const MAX_NAME_WIDTH: usize = 400;
/// Minimum number of characters of a cut name.
const MIN_CHARACTERS: usize = 5;
/// Maximum number of frames of a drawing, of about 200 bytes each. More would take a browser too
/// long to draw.
pub(crate) const MAX_FRAMES: usize = 10_000;

/// The colour of a frame.
#[derive(Clone, Copy)]
pub(super) enum Color {
    /// Colour of the frame's kind, in red, green and blue.
    Kind([u8; 3]),
    /// Change in steps from −5, much less, to 5, much more.
    Change(i8),
}

impl Color {
    /// Returns the colour of a change, where ±1 is the full colour.
    pub(super) fn from_change(part: f64) -> Color {
        Color::Change((5.0 * part).round().clamp(-5.0, 5.0) as i8)
    }

    /// Returns the class in the style sheet.
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

/// A box of the picture.
pub(super) struct Frame {
    /// Number of boxes above it.
    pub(super) level: usize,
    pub(super) name: String,
    /// The short form of the name, which is written into the box.
    pub(super) label: String,
    /// The numbers in its tooltip. Must not contain an opening parenthesis, as the script splits
    /// the tooltip there.
    pub(super) about: String,
    pub(super) color: Color,
    /// Width as a part of the whole, and width on the other side of a comparison whose widths can
    /// be switched.
    pub(super) width: f64,
    pub(super) other: Option<f64>,
}

/// The boxes, parents before their children. The first is the whole.
pub(super) struct Picture {
    pub(super) frames: Vec<Frame>,
}

impl Picture {
    /// Returns the height in pixels.
    pub(super) fn height(&self) -> usize {
        let levels = self.frames.iter().map(|frame| frame.level + 1).max();
        ROW * levels.unwrap_or(0)
    }

    /// Returns the drawing for a page.
    pub(super) fn svg(&self) -> Markup {
        html! {
            svg.boxes viewBox={ "0 0 " (WIDTH) " " (self.height()) } { (self.boxes(0)) }
        }
    }

    /// Returns the drawing as a standalone file.
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
        // One line per element. Neither character occurs unescaped in names.
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
                    g class=[frame.color.class()] fill=[frame.color.fill()] data-other=[other]
                        data-label=[(frame.label != frame.name).then_some(&frame.label)] {
                        title { (in_tooltip(&frame.name)) " (" (frame.about) ")" }
                        rect x=(Part(x)) y=(y) width=(Part(frame.width)) height=(ROW - 1) {}
                        @if let Some(name) = fitting(&frame.label, frame.width * WIDTH) {
                            text x=(Part(x + 4.0 / WIDTH)) y=(y + 14) { (name) }
                        }
                    }
                }
            }
        }
    }

    /// Returns where each box begins, by its width and by its other width: within its parent, after
    /// its previous siblings.
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

/// A part of the width, written in pixels with at most three decimals, which is enough for zooming.
struct Part(f64);

impl Render for Part {
    fn render_to(&self, markup: &mut String) {
        let text = format!("{:.3}", self.0 * WIDTH);
        markup.push_str(text.trim_end_matches('0').trim_end_matches('.'));
    }
}

/// Returns the part of a label that fits into a box, as `fitting` of the script does: the end of the
/// path, or the start of the function's own name. `None` if too little fits.
fn fitting(label: &str, width: f64) -> Option<String> {
    let room = ((width - PADDING) / CHARACTER) as usize;
    (room >= MIN_CHARACTERS || label.len() <= room).then(|| cut_path(label, room))
}

/// Returns a name as tooltips show it.
pub(super) fn in_tooltip(name: &str) -> String {
    shorten(name, MAX_NAME_WIDTH)
}

/// Returns the content of an XML element as CDATA.
fn character_data(content: &str) -> Markup {
    PreEscaped(format!("<![CDATA[{content}]]>"))
}
