//! Which function of one build is which of the other.

use super::modules::Unchanged;
use super::pair::Pair;
use super::result::{Basis, FunctionName};
use crate::functions::{
    Attribution, FunctionKey, KeyOptions, LibraryCode, UNRESOLVED, function_key,
};
use crate::select::main_modules;
use crate::tree::View;
use rayon::prelude::*;
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

/// A function that at least one side has.
#[derive(Debug)]
pub(super) struct Function {
    pub(super) symbol: String,
    /// The module's name on the candidate's side, if the function is there.
    pub(super) module: String,
    pub(super) file: Option<String>,
    /// Whether it is code of the kernel.
    pub(super) kernel: bool,
    /// Whether its module is one that cannot have changed.
    pub(super) unchanged: bool,
    /// Whether it is code of a standard library or runtime, which is not known to have changed.
    pub(super) library: bool,
}

impl Function {
    /// Whether its cost is its caller's doing: its code is the same on both sides, or does what any
    /// program asks of it.
    pub(super) fn is_attributed_to_caller(&self) -> bool {
        self.unchanged || self.library
    }

    /// Whether it cannot be a cause: its module is the same on both sides, or nobody knows what
    /// code it is.
    pub(super) fn is_bystander(&self) -> bool {
        self.unchanged || self.symbol == UNRESOLVED && self.module.is_empty()
    }
}

/// A function by two names.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed {
    pub(super) old: FunctionIx,
    pub(super) new: FunctionIx,
    /// What either rested on, and explained, as a cause while they were two.
    pub(super) was_cause: Option<(Basis, f64)>,
}

/// The functions of both sides, and which frames are theirs.
pub(super) struct Functions {
    pub(super) list: Vec<Function>,
    /// By frame of the side's view.
    pub(super) of_frame: Pair<Vec<FunctionIx>>,
    /// Those that have another name in the baseline, in the order of the new ones.
    pub(super) renamed: Vec<Renamed>,
}

impl Functions {
    /// Frames of one key are one function, whatever their kind, file and line: a function may be
    /// inlined in one build and called in the other, and lines shift with every edit. Closures that
    /// lost their numbers are one function too, with the sum of their costs.
    pub(super) fn of(
        baseline: &View,
        candidate: &View,
        keys: KeyOptions,
        attribution: &Attribution,
    ) -> Functions {
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
            list.push(function_of(members, views, &unchanged, attribution));
        }
        Functions {
            list,
            of_frame,
            renamed: Vec::new(),
        }
    }

    /// Takes functions by two names for one, which is called by the new one. Nothing is left of the other.
    pub(super) fn rename(&mut self, renamed: Vec<Renamed>) {
        let mut new_of: Vec<FunctionIx> = (0..self.list.len() as u32).map(FunctionIx).collect();
        for pair in &renamed {
            new_of[pair.old.get()] = pair.new;
        }
        for function in &mut self.of_frame.baseline {
            *function = new_of[function.get()];
        }
        self.renamed.extend(renamed);
    }

    /// What a function was called in the baseline, if that is another name.
    pub(super) fn old_name(&self, function: FunctionIx) -> Option<FunctionName> {
        let renamed = self.renamed.iter().find(|pair| pair.new == function)?;
        Some(self.name(renamed.old))
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

fn members(
    view: &View,
    member: fn(FrameIx) -> Member,
    options: KeyOptions,
) -> Vec<(FunctionKey<'_>, Member)> {
    let main = main_modules(&view.selection.build, &view.selection.profiles);
    let frames = (0..view.frames.len() as u32).into_par_iter().map(FrameIx);
    let keyed = frames.map(|ix| {
        (
            function_key(view.frames.frame(ix), &main, options),
            member(ix),
        )
    });
    keyed.collect()
}

/// The least of several names, so that none depends on the order in which frames were inserted.
/// `members` are sorted.
fn function_of(
    members: &[(FunctionKey<'_>, Member)],
    views: Pair<&View>,
    unchanged: &Unchanged<'_>,
    attribution: &Attribution,
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
    let is_library = |frame: &Frame| match attribution.library_code(symbol, *frame) {
        Some(LibraryCode::ByModule) => !unchanged.has_changed(*module),
        Some(LibraryCode::ByName) => true,
        None => false,
    };
    Function {
        symbol: symbol.clone().into_owned(),
        module: modules.min().unwrap_or_default().to_owned(),
        file: files
            .filter(|file| !file.is_empty())
            .min()
            .map(str::to_owned),
        kernel: frames.iter().any(|frame| frame.kind == FrameKind::Kernel),
        unchanged: (frames.iter()).all(|frame| unchanged.contains(*module, frame.kind)),
        library: frames.iter().all(is_library),
    }
}
