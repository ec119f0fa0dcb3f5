//! Which function of one build is which of the other.

use super::keys::{KeyOptions, key_symbol};
use super::modules::Unchanged;
use super::pair::Pair;
use super::report::FunctionName;
use crate::select::main_modules;
use crate::tree::View;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{Frame, FrameIx, FrameKind};

/// Index of a function that both sides may have; the order is that of symbol and module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct FunctionIx(pub(super) u32);

impl FunctionIx {
    pub(super) fn get(self) -> usize {
        self.0 as usize
    }
}

/// A module as both sides know it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ModuleKey<'a> {
    /// The profiled executable, whose file may be `app-1.0` on one side and `app-1.1` on the other.
    MainProgram,
    /// Any other file: its name, version and all.
    Named(&'a str),
}

/// A function that at least one side has.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) symbol: String,
    /// The module's name on the candidate's side, if the function is there.
    pub(super) module: String,
    pub(super) file: Option<String>,
    /// Whether its module is one that cannot have changed.
    pub(super) unchanged: bool,
}

impl Function {
    /// Whether it cannot be a cause: its module is the same on both sides, or nobody knows what
    /// code it is.
    pub(super) fn is_bystander(&self) -> bool {
        self.unchanged || self.symbol == UNRESOLVED && self.module.is_empty()
    }
}

/// The functions of both sides, and which frames are theirs.
pub(super) struct Functions {
    pub(super) list: Vec<Function>,
    /// By frame of the side's view.
    pub(super) of_frame: Pair<Vec<FunctionIx>>,
}

impl Functions {
    /// Frames of one key are one function, whatever their kind, file and line: a function may be
    /// inlined in one build and called in the other, and lines shift with every edit. Closures that
    /// lost their numbers are one function too, with the sum of their costs.
    pub(super) fn of(baseline: &View, candidate: &View, keys: KeyOptions) -> Functions {
        let views = Pair::new(baseline, candidate);
        let mut members: BTreeMap<(Cow<str>, ModuleKey), Pair<Vec<FrameIx>>> = BTreeMap::new();
        let main = views.map(|view| main_modules(&view.selection.build, &view.selection.profiles));
        for (ix, frame) in baseline.frames.iter() {
            members
                .entry(key(frame, &main.baseline, keys))
                .or_default()
                .baseline
                .push(ix);
        }
        for (ix, frame) in candidate.frames.iter() {
            members
                .entry(key(frame, &main.candidate, keys))
                .or_default()
                .candidate
                .push(ix);
        }

        let unchanged = Unchanged::new(baseline, candidate);
        let mut list = Vec::with_capacity(members.len());
        let mut of_frame = views.map(|view| vec![FunctionIx(0); view.frames.len()]);
        for ((symbol, module), frames) in members {
            let function = FunctionIx(u32::try_from(list.len()).expect("fewer than 2^32 frames"));
            for frame in &frames.baseline {
                of_frame.baseline[frame.get()] = function;
            }
            for frame in &frames.candidate {
                of_frame.candidate[frame.get()] = function;
            }
            let (view, frames) = match frames.candidate.is_empty() {
                true => (baseline, frames.baseline),
                false => (candidate, frames.candidate),
            };
            let frames: Vec<Frame> = frames.iter().map(|&ix| view.frames.frame(ix)).collect();
            list.push(function_of(symbol, module, &frames, unchanged.as_ref()));
        }
        Functions { list, of_frame }
    }

    /// What a function is called.
    pub(super) fn name(&self, function: FunctionIx) -> FunctionName {
        let function = &self.list[function.get()];
        FunctionName {
            function: function.symbol.clone(),
            module: function.module.clone(),
        }
    }

    /// Names of the modules that cannot have changed.
    pub(super) fn unchanged_modules(&self) -> BTreeSet<&str> {
        let named = |function: &&Function| function.unchanged && !function.module.is_empty();
        let unchanged = self.list.iter().filter(named);
        unchanged.map(|function| function.module.as_str()).collect()
    }
}

/// The least of several names, so that none depends on the order in which frames were inserted.
fn function_of(
    symbol: Cow<'_, str>,
    module: ModuleKey<'_>,
    frames: &[Frame<'_>],
    unchanged: Option<&Unchanged<'_>>,
) -> Function {
    let files = frames
        .iter()
        .map(|frame| frame.file)
        .filter(|file| !file.is_empty());
    Function {
        symbol: symbol.into_owned(),
        module: frames
            .iter()
            .map(|frame| frame.module)
            .min()
            .unwrap_or_default()
            .to_owned(),
        file: files.min().map(str::to_owned),
        unchanged: unchanged
            .is_some_and(|u| frames.iter().all(|frame| u.contains(module, frame.kind))),
    }
}

/// Offsets shift from build to build: what has no symbol is one function a module.
const UNRESOLVED: &str = "[unresolved]";

/// What a frame's function is called in a comparison.
pub(super) fn key_of(frame: Frame<'_>, options: KeyOptions) -> Cow<'_, str> {
    match frame.kind {
        FrameKind::Unresolved => Cow::Borrowed(UNRESOLVED),
        _ => key_symbol(frame.symbol, options),
    }
}

fn key<'a>(
    frame: Frame<'a>,
    main: &BTreeSet<&str>,
    options: KeyOptions,
) -> (Cow<'a, str>, ModuleKey<'a>) {
    let symbol = key_of(frame, options);
    let module = match main.contains(frame.module) {
        true => ModuleKey::MainProgram,
        false => ModuleKey::Named(frame.module),
    };
    (symbol, module)
}
