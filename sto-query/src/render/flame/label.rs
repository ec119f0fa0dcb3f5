//! Names of frames as folded text can carry them.

use super::palette::Palette;
use crate::render::{printable, shorten};
use hashbrown::HashMap;
use inferno::flamegraph::color::Color;
use sto_core::model::{Frame, FrameKind, FrameTable};

/// Longest label, in columns; the largest of C++ templates would multiply the picture's size.
const MAX_LABEL_WIDTH: usize = 200;

/// What the graph writes on a frame.
pub(super) struct Label {
    /// The text, with `_[k]` and the like behind it where kinds are told apart.
    pub(super) text: String,
    kind: FrameKind,
}

/// Index of a label in [`Labels::all`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct LabelIx(pub(super) u32);

/// Distinct labels.
pub(super) struct Labels {
    all: Vec<Label>,
    index: HashMap<String, LabelIx>,
    by_kind: bool,
}

impl Labels {
    /// Frames of different kinds have different labels.
    pub(super) fn by_kind() -> Self {
        Labels {
            all: Vec::new(),
            index: HashMap::new(),
            by_kind: true,
        }
    }

    /// A function has one label, inlined or not: for graphs in which colour says something else.
    pub(super) fn by_symbol() -> Self {
        Labels {
            by_kind: false,
            ..Self::by_kind()
        }
    }

    /// The labels of every frame of a table, by its index.
    pub(super) fn of(&mut self, frames: &FrameTable) -> Vec<LabelIx> {
        frames.iter().map(|(_, frame)| self.insert(frame)).collect()
    }

    /// Every label, in the order of its index.
    pub(super) fn all(&self) -> &[Label] {
        &self.all
    }

    /// What the colours mean, where frames are of several kinds.
    pub(super) fn legend(&self, palette: Palette) -> String {
        let has = |kind| self.all.iter().any(|label| label.kind == kind);
        let kinds: Vec<String> = FrameKind::ALL
            .into_iter()
            .filter(|&kind| has(kind))
            .map(|kind| format!("{}: {}", kind.name(), palette.shade(kind).name))
            .collect();
        if kinds.len() > 1 {
            kinds.join(", ") + "."
        } else {
            String::new()
        }
    }

    fn insert(&mut self, frame: Frame<'_>) -> LabelIx {
        let mut text = text(frame);
        if self.by_kind {
            text.push_str(annotation(frame.kind));
        }
        let next = LabelIx(self.all.len() as u32);
        let ix = *self.index.entry_ref(&text).or_insert(next);
        if ix == next {
            self.all.push(Label {
                text,
                kind: frame.kind,
            });
        }
        ix
    }
}

impl Label {
    /// A colour for the kind, and a shade of it for the name: the same in every graph.
    pub(super) fn color(&self, palette: Palette) -> Color {
        // FNV-1a: small, and the same everywhere.
        let hash = self.text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        palette.shade(self.kind).at((hash >> 24) as u8)
    }
}

/// A frame's symbol in a form that comes back out of folded text as it went in.
///
/// Folded text separates frames by `;`, ends in a space and numbers, has comments that begin with
/// `# `, and its reader trims lines: so `;` becomes `:`, and a space before a digit, or after `#`,
/// one that does not break. Addresses without symbols become their module, or each would have a
/// frame of its own, and none would match between two builds.
fn text(frame: Frame<'_>) -> String {
    let symbol = match frame.kind {
        FrameKind::Unresolved if !frame.module.is_empty() => {
            &*format!("[{}]", frame.module.trim_matches(['[', ']']))
        }
        _ => frame.symbol,
    };
    let shown = shorten(&printable(symbol), MAX_LABEL_WIDTH).replace(';', ":");
    let mut text = String::with_capacity(shown.len());
    let mut characters = shown.trim().chars().peekable();
    while let Some(character) = characters.next() {
        let before_digit = characters
            .peek()
            .is_some_and(|next| next.is_ascii_digit() || *next == '.');
        let no_break = character == ' ' && (before_digit || text.ends_with('#'));
        text.push(if no_break { '\u{a0}' } else { character });
    }
    if text.is_empty() {
        "[unknown]".to_owned()
    } else {
        text
    }
}

/// What inferno takes for a mark of the kind, and does not show. It has none for interpreted code,
/// which shares that of wakers; the legend names both.
fn annotation(kind: FrameKind) -> &'static str {
    match kind {
        FrameKind::User | FrameKind::Unresolved => "",
        FrameKind::Kernel => "_[k]",
        FrameKind::Inlined => "_[i]",
        FrameKind::Jit | FrameKind::JitBaseline => "_[j]",
        FrameKind::Interpreted | FrameKind::Waker => "_[w]",
    }
}
