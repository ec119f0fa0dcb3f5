//! Names of frames as folded text can carry them.

use super::palette::Palette;
use crate::functions::{KeyOptions, ModuleKey, function_key};
use crate::select::main_modules;
use crate::text::{printable, shorten};
use crate::tree::View;
use hashbrown::HashMap;
use inferno::flamegraph::color::Color;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameIx, FrameKind};

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
#[derive(Default)]
pub(super) struct Labels {
    all: Vec<Label>,
    index: HashMap<String, LabelIx>,
}

impl Labels {
    /// The labels of every frame of a view, by its index: frames of different kinds have different ones.
    pub(super) fn by_kind(&mut self, view: &View) -> Vec<LabelIx> {
        let label = |(_, frame): (FrameIx, Frame)| {
            let text = text(frame.symbol, frame.kind, frame.module) + annotation(frame.kind);
            self.insert(text, frame.kind)
        };
        view.frames.iter().map(label).collect()
    }

    /// The labels of every frame of two views, by its index: a function has one on both sides, inlined or
    /// not, for graphs in which colour says something else. That is its key, and behind it the module's
    /// name where the program or other modules have a function of that name too.
    pub(super) fn by_function(
        &mut self,
        views: [&View; 2],
        options: KeyOptions,
    ) -> [Vec<LabelIx>; 2] {
        let program = &views[1].selection.build.executable;
        let functions = views.map(|view| {
            let build = &view.selection.build;
            let main = main_modules(build, &view.selection.profiles);
            let functions = view.frames.iter().map(|(_, frame)| {
                let (symbol, module) = function_key(frame, &main, options);
                let name = match module {
                    ModuleKey::MainProgram => program,
                    ModuleKey::Named(name) => name,
                };
                (text(&symbol, frame.kind, name), frame.kind, module)
            });
            functions.collect::<Vec<_>>()
        });
        let mut modules: HashMap<String, BTreeSet<ModuleKey>> = HashMap::new();
        for (text, _, module) in functions.iter().flatten() {
            modules.entry_ref(text).or_default().insert(*module);
        }
        functions.map(|functions| {
            let label = |(mut text, kind, module): (String, FrameKind, ModuleKey)| {
                if let ModuleKey::Named(name) = module
                    && modules[&text].len() > 1
                {
                    text += "\u{a0}";
                    text += &in_brackets(name);
                }
                self.insert(text, kind)
            };
            functions.into_iter().map(label).collect()
        })
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

    fn insert(&mut self, text: String, kind: FrameKind) -> LabelIx {
        let next = LabelIx(self.all.len() as u32);
        let ix = *self.index.entry_ref(&text).or_insert(next);
        if ix == next {
            self.all.push(Label { text, kind });
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

/// What stands on a frame of this symbol. Addresses without symbols become their module, or each would
/// have a frame of its own, and none would match between two builds.
fn text(symbol: &str, kind: FrameKind, module: &str) -> String {
    match kind {
        FrameKind::Unresolved if !module.is_empty() => in_brackets(module),
        _ => foldable(symbol),
    }
}

fn in_brackets(module: &str) -> String {
    foldable(&format!("[{}]", module.trim_matches(['[', ']'])))
}

/// A name in a form that comes back out of folded text as it went in.
///
/// Folded text separates frames by `;`, ends in a space and numbers, has comments that begin with
/// `# `, and its reader trims lines: so `;` becomes `:`, and a space before a digit, or after `#`,
/// one that does not break.
fn foldable(name: &str) -> String {
    let shown = shorten(&printable(name), MAX_LABEL_WIDTH).replace(';', ":");
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
