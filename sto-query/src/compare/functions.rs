//! Which function of one build is which of the other.

use super::keys::{KeyOptions, key_symbol};
use super::modules::Unchanged;
use super::pair::Pair;
use super::report::FunctionName;
use crate::select::main_modules;
use crate::tree::View;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
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
        let mut members = members(baseline, Member::OfBaseline, keys);
        members.extend(self::members(candidate, Member::OfCandidate, keys));
        members.par_sort_unstable();

        let unchanged = Unchanged::new(baseline, candidate);
        let mut list = Vec::new();
        let mut of_frame = views.map(|view| vec![FunctionIx(0); view.frames.len()]);
        for members in members.chunk_by(|(a, _), (b, _)| a == b) {
            let function = FunctionIx(u32::try_from(list.len()).expect("fewer than 2^32 frames"));
            for (_, member) in members {
                match member {
                    Member::OfBaseline(frame) => of_frame.baseline[frame.get()] = function,
                    Member::OfCandidate(frame) => of_frame.candidate[frame.get()] = function,
                }
            }
            list.push(function_of(members, views, unchanged.as_ref()));
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

/// A frame that is of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    OfBaseline(FrameIx),
    OfCandidate(FrameIx),
}

type Key<'a> = (Cow<'a, str>, ModuleKey<'a>);

fn members(
    view: &View,
    member: fn(FrameIx) -> Member,
    options: KeyOptions,
) -> Vec<(Key<'_>, Member)> {
    let main = main_modules(&view.selection.build, &view.selection.profiles);
    let frames = (0..view.frames.len() as u32).into_par_iter().map(FrameIx);
    let keyed = frames.map(|ix| (key(view.frames.frame(ix), &main, options), member(ix)));
    keyed.collect()
}

/// The least of several names, so that none depends on the order in which frames were inserted.
/// `members` are sorted.
fn function_of(
    members: &[(Key<'_>, Member)],
    views: Pair<&View>,
    unchanged: Option<&Unchanged<'_>>,
) -> Function {
    let ((symbol, module), last) = &members[members.len() - 1];
    let is_in_candidate = matches!(last, Member::OfCandidate(_));
    let frame = |(_, member): &(_, Member)| match *member {
        Member::OfCandidate(ix) => Some(views.candidate.frames.frame(ix)),
        Member::OfBaseline(_) if is_in_candidate => None,
        Member::OfBaseline(ix) => Some(views.baseline.frames.frame(ix)),
    };
    let frames: Vec<Frame> = members.iter().filter_map(frame).collect();
    let modules = frames.iter().map(|frame| frame.module);
    let files = frames.iter().map(|frame| frame.file);
    Function {
        symbol: symbol.clone().into_owned(),
        module: modules.min().unwrap_or_default().to_owned(),
        file: files
            .filter(|file| !file.is_empty())
            .min()
            .map(str::to_owned),
        unchanged: unchanged
            .is_some_and(|u| frames.iter().all(|frame| u.contains(*module, frame.kind))),
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

fn key<'a>(frame: Frame<'a>, main: &BTreeSet<&str>, options: KeyOptions) -> Key<'a> {
    let symbol = key_of(frame, options);
    let module = match main.contains(frame.module) {
        true => ModuleKey::MainProgram,
        false => ModuleKey::Named(frame.module),
    };
    (symbol, module)
}
