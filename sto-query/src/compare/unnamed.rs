//! Detects modules whose symbols only one side has: the kernel, if only one recording could read its addresses, or a
//! library whose debug file was only found once.
//!
//! Their functions cannot be matched: on one side there are only addresses. So the whole module counts as one function,
//! like all code without symbols, and no function of it is new or gone.

use super::pair::Pair;
use super::result::CompareOptions;
use crate::functions::{ModuleKey, key_of, module_key};
use crate::select::main_modules;
use crate::text::format_count;
use crate::tree::View;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::FrameKind;

/// The modules whose symbols only one side has.
pub(super) struct Unnamed<'a> {
    /// Modules without symbols on this side, and with symbols on the other one.
    modules: Pair<BTreeSet<ModuleKey<'a>>>,
    /// Modules with some symbols on this side, and with all symbols on the other one.
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
/// there. Modules with less than `min_share` of that side's samples are not worth a warning.
pub(super) fn not_comparable(views: Pair<&View>, options: &CompareOptions) -> Vec<String> {
    let unnamed = Unnamed::new(views);
    let sides = [
        ("baseline", &unnamed.modules.baseline, views.candidate),
        ("candidate", &unnamed.modules.candidate, views.baseline),
    ];
    let sentence = |(side, modules, other): (&str, &BTreeSet<ModuleKey<'_>>, &View)| {
        let main = main_modules(&other.selection.build, &other.selection.profiles);
        let modules = with_share(other, modules, options.min_share);
        let frames = other.frames.iter().map(|(_, frame)| frame);
        let functions: BTreeSet<(&str, Cow<'_, str>)> = frames
            .filter(|frame| frame.kind != FrameKind::Unresolved)
            .filter(|frame| modules.contains(&module_key(*frame, &main)))
            .map(|frame| (frame.module, key_of(frame, options.matching)))
            .collect();
        let names: BTreeSet<&str> = functions.iter().map(|(module, _)| *module).collect();
        let names: Vec<&str> = names.into_iter().collect();
        (!functions.is_empty()).then(|| {
            format!(
                "{} of {} cannot be compared, as the {side} has no symbols of that code; it counts as one function \
                 of each module.",
                format_count(functions.len() as u64, "function"),
                names.join(", "),
            )
        })
    };
    let lacking = sides
        .into_iter()
        .filter(|(_, modules, _)| !modules.is_empty());
    lacking.filter_map(sentence).collect()
}

/// Returns the modules in which at least this share of the samples of a side ended.
fn with_share<'a>(
    view: &'a View,
    modules: &BTreeSet<ModuleKey<'_>>,
    min_share: f64,
) -> BTreeSet<ModuleKey<'a>> {
    let main = main_modules(&view.selection.build, &view.selection.profiles);
    let mut samples: BTreeMap<ModuleKey<'a>, f64> = BTreeMap::new();
    for (node, cost) in view.tree.nodes().zip(view.self_costs(0)) {
        let module = module_key(view.frames.frame(view.tree.frame(node)), &main);
        *samples.entry(module).or_default() += cost.samples as f64;
    }
    let least = min_share * samples.values().sum::<f64>();
    samples.retain(|module, samples| modules.contains(module) && *samples >= least);
    samples.into_keys().collect()
}
