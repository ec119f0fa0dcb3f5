//! Labels of frames.

use super::palette::Palette;
use crate::functions::{KeyOptions, ModuleKey, Spellings, function_key};
use crate::select::main_modules;
use crate::text::printable;
use crate::tree::View;
use hashbrown::HashMap;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameIx, FrameKind};

/// The name of a frame, and its kind.
pub(super) struct Label {
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
    index: HashMap<(String, Option<FrameKind>), LabelIx>,
}

impl Labels {
    /// Returns the label of each frame of a view. Frames of different kinds have different labels.
    pub(super) fn label_by_kind(&mut self, view: &View) -> Vec<LabelIx> {
        let label = |(_, frame): (FrameIx, Frame)| {
            let text = text(frame.symbol, frame.kind, frame.module);
            // Kinds with the same colour share their labels.
            let kind = match frame.kind {
                FrameKind::JitBaseline => FrameKind::Jit,
                FrameKind::Waker => FrameKind::Interpreted,
                kind => kind,
            };
            self.insert((text, Some(kind)), frame.kind)
        };
        view.frames.iter().map(label).collect()
    }

    /// Returns the label of each frame of two views, for graphs whose colours show changes.
    ///
    /// A function has the same label on both sides, inlined or not: its key, followed by its
    /// module's name if the program or another module has a function with the same key.
    pub(super) fn label_by_function(
        &mut self,
        views: [&View; 2],
        options: KeyOptions,
    ) -> [Vec<LabelIx>; 2] {
        let program = &views[1].selection.build.executable;
        let keyed = views.map(|view| {
            let build = &view.selection.build;
            let main = main_modules(build, &view.selection.profiles);
            let frames = view.frames.iter();
            let keyed = frames.map(|(_, frame)| {
                let key = function_key(frame, &main, options);
                (key, frame.symbol)
            });
            keyed.collect::<Vec<_>>()
        });
        let spellings = match options.exact_symbols {
            true => Spellings::default(),
            false => Spellings::new(&keyed),
        };
        let mut keyed = keyed.into_iter();
        let functions = views.map(|view| {
            let keyed = keyed.next().into_iter().flatten();
            let functions = view
                .frames
                .iter()
                .zip(keyed)
                .map(|((_, frame), (mut key, _))| {
                    spellings.apply(&mut key);
                    let (symbol, module) = key;
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
                self.insert((text, None), kind)
            };
            functions.into_iter().map(label).collect()
        })
    }

    /// Returns all labels, ordered by index.
    pub(super) fn all(&self) -> &[Label] {
        &self.all
    }

    /// Explains the colours if there are several kinds of frames.
    pub(super) fn legend(&self, palette: Palette) -> String {
        let has = |kind| self.all.iter().any(|label| label.kind == kind);
        let kinds: Vec<String> = FrameKind::ALL
            .into_iter()
            .filter(|&kind| has(kind))
            // Has the colour of other generated code.
            .filter(|&kind| kind != FrameKind::JitBaseline || !has(FrameKind::Jit))
            .map(|kind| format!("{}: {}", kind.name(), palette.shade(kind).name))
            .collect();
        if kinds.len() > 1 {
            kinds.join(", ") + "."
        } else {
            String::new()
        }
    }

    fn insert(&mut self, key: (String, Option<FrameKind>), kind: FrameKind) -> LabelIx {
        let next = LabelIx(self.all.len() as u32);
        if let Some(&ix) = self.index.get(&key) {
            return ix;
        }
        let text = key.0.clone();
        self.index.insert(key, next);
        self.all.push(Label { text, kind });
        next
    }
}

impl Label {
    /// Returns a shade that depends only on the name, in the colour of the kind. It is the same in
    /// every graph.
    pub(super) fn color(&self, palette: Palette) -> [u8; 3] {
        // FNV-1a: small, and the same on all platforms.
        let hash = self.text.bytes().fold(0x811c_9dc5_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        palette.shade(self.kind).at((hash >> 24) as u8)
    }
}

/// Returns the text on a frame. Addresses without symbols become their module, as each would
/// otherwise be a frame of its own without a counterpart in other builds.
pub(in crate::render) fn text(symbol: &str, kind: FrameKind, module: &str) -> String {
    match kind {
        FrameKind::Unresolved if !module.is_empty() => in_brackets(module),
        _ => full_label(symbol),
    }
}

fn in_brackets(module: &str) -> String {
    full_label(&format!("[{}]", module.trim_matches(['[', ']'])))
}

/// Returns the full name of a function.
pub(super) fn full_label(name: &str) -> String {
    match printable(name).trim() {
        "" => "[unknown]".to_owned(),
        name => name.to_owned(),
    }
}
