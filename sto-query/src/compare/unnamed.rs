//! Detects modules whose symbols only one side has: the kernel, if only one recording could read its addresses, or a
//! library whose debug file was only found once.
//!
//! Their functions cannot be matched: on one side there are only addresses. So the whole module counts as one function,
//! like all code without symbols, and no function of it is new or gone.

use super::pair::Pair;
use crate::functions::{KeyOptions, ModuleKey, key_of, module_key};
use crate::select::main_modules;
use crate::text::format_count;
use crate::tree::View;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::FrameKind;

/// The modules whose symbols only one side has.
pub(super) struct Unnamed<'a> {
    /// Modules of which the side has no symbols, and the other one has.
    modules: Pair<BTreeSet<ModuleKey<'a>>>,
    /// Modules of which the side has some symbols, and the other one all.
    partly: Pair<BTreeSet<ModuleKey<'a>>>,
}

/// Whether the frames of a module have symbols.
#[derive(Clone, Copy, Default)]
struct Symbols {
    named: bool,
    unresolved: bool,
}

impl<'a> Unnamed<'a> {
    pub(super) fn new(views: Pair<&'a View>) -> Unnamed<'a> {
        let symbols = views.map(symbols_of_modules);
        let lacking = |side: &BTreeMap<ModuleKey<'a>, Symbols>,
                       other: &BTreeMap<ModuleKey<'a>, Symbols>,
                       has_some: bool| {
            let lacks = side.iter().filter(|(module, symbols)| {
                let other = other.get(*module).copied().unwrap_or_default();
                let has_more = other.named && !(has_some && other.unresolved);
                symbols.unresolved && symbols.named == has_some && has_more
            });
            lacks.map(|(&module, _)| module).collect()
        };
        let both = |has_some| {
            let Pair {
                baseline,
                candidate,
            } = &symbols;
            Pair::new(
                lacking(baseline, candidate, has_some),
                lacking(candidate, baseline, has_some),
            )
        };
        Unnamed {
            modules: both(false),
            partly: both(true),
        }
    }

    /// Whether all code of a module counts as one function.
    pub(super) fn contains(&self, module: ModuleKey<'a>) -> bool {
        self.modules.baseline.contains(&module) || self.modules.candidate.contains(&module)
    }

    /// Whether only one side has code of a module without symbols, which the other side has under its names.
    pub(super) fn is_partly_named(&self, module: ModuleKey<'a>) -> bool {
        self.partly.baseline.contains(&module) || self.partly.candidate.contains(&module)
    }
}

fn symbols_of_modules(view: &View) -> BTreeMap<ModuleKey<'_>, Symbols> {
    let main = main_modules(&view.selection.build, &view.selection.profiles);
    let mut modules: BTreeMap<ModuleKey<'_>, Symbols> = BTreeMap::new();
    for (_, frame) in view
        .frames
        .iter()
        .filter(|(_, frame)| !frame.module.is_empty())
    {
        let symbols = modules.entry(module_key(frame, &main)).or_default();
        if frame.kind == FrameKind::Unresolved {
            symbols.unresolved = true;
        } else {
            symbols.named = true;
        }
    }
    modules
}

/// Returns a sentence for each side that lacks symbols of modules, with the number of functions that the other side has
/// there.
pub(super) fn not_comparable(views: Pair<&View>, keys: KeyOptions) -> Vec<String> {
    let unnamed = Unnamed::new(views);
    let sides = [
        ("baseline", &unnamed.modules.baseline, views.candidate),
        ("candidate", &unnamed.modules.candidate, views.baseline),
    ];
    let sides = sides
        .into_iter()
        .filter(|(_, modules, _)| !modules.is_empty());
    sides
        .map(|(side, modules, other)| {
            let main = main_modules(&other.selection.build, &other.selection.profiles);
            let frames = other.frames.iter().map(|(_, frame)| frame);
            let named = frames.filter(|frame| {
                frame.kind != FrameKind::Unresolved && modules.contains(&module_key(*frame, &main))
            });
            let functions: BTreeSet<_> = named
                .map(|frame| (module_key(frame, &main), frame.module, key_of(frame, keys)))
                .collect();
            let names: BTreeSet<&str> = functions.iter().map(|&(_, name, _)| name).collect();
            let names: Vec<&str> = names.into_iter().collect();
            format!(
                "{} of {} cannot be compared, as the {side} has no symbols of that code; it counts as one function \
                 of each module.",
                format_count(functions.len() as u64, "function"),
                names.join(", "),
            )
        })
        .collect()
}
