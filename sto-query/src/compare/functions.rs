//! Matches the functions of two builds.

use super::modules::UnchangedModules;
use super::pair::Pair;
use super::result::{Basis, FunctionName};
use super::unnamed::Unnamed;
use crate::functions::{
    Attribution, BuildFunctions, FunctionKey, KeyOptions, LibraryCode, Spellings, UNRESOLVED,
    function_key,
};
use crate::select::main_modules;
use crate::tree::View;
use rayon::prelude::*;
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::{Frame, FrameIx, FrameKind};

/// Index of a function of either side, in the order of symbol and module.
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
    /// Whether the code of its module did not change.
    pub(super) unchanged: bool,
    /// Whether it is code of a standard library or runtime that is not known to have changed.
    pub(super) library: bool,
    /// Whether it is code without symbols that the other side has under its names.
    pub(super) unnamed: bool,
    /// Number of instances of a generic function that are counted as this one; 0 if there is
    /// nothing to merge.
    pub(super) instances: usize,
}

impl Function {
    /// Whether its cost is attributed to its caller: its code is the same on both sides, or is
    /// library code.
    pub(super) fn is_attributed_to_caller(&self) -> bool {
        self.unchanged || self.library
    }

    /// Whether it cannot be a cause: its module did not change, or its code is unknown.
    pub(super) fn is_bystander(&self) -> bool {
        self.unchanged || self.symbol == UNRESOLVED && self.module.is_empty()
    }
}

/// A function that was renamed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renamed {
    pub(super) old: FunctionIx,
    pub(super) new: FunctionIx,
    /// Basis and explained change of the cause that either was before the two were matched.
    pub(super) was_cause: Option<(Basis, f64)>,
}

/// Instances of one generic function.
pub(super) struct Instances {
    /// The key of the function without its arguments.
    pub(super) symbol: String,
    /// At least two instances, in the order of their names.
    pub(super) functions: Vec<FunctionIx>,
}

/// The functions of both sides, and the frames of each.
pub(super) struct Functions {
    pub(super) list: Vec<Function>,
    /// By frame of the side's view.
    pub(super) of_frame: Pair<Vec<FunctionIx>>,
    /// Functions with another name in the baseline, in the order of the new names.
    pub(super) renamed: Vec<Renamed>,
}

impl Functions {
    /// Matches the functions of two views.
    ///
    /// Frames with the same key are one function, whatever their kind, file and line: a function
    /// may be inlined in one build and called in the other, and lines shift with every edit.
    /// Closures whose numbers the key drops are one function too, with the sum of their costs.
    pub(super) fn new(
        baseline: &View,
        candidate: &View,
        keys: KeyOptions,
        attribution: &Attribution,
    ) -> Functions {
        let views = Pair::new(baseline, candidate);
        let mut members = [
            members(baseline, Member::Baseline, keys),
            members(candidate, Member::Candidate, keys),
        ];
        let unnamed = Unnamed::new(views);
        for ((symbol, module), _) in members.iter_mut().flatten() {
            if unnamed.contains(*module) {
                *symbol = Cow::Borrowed(UNRESOLVED);
            }
        }
        if !keys.exact_symbols {
            match_spellings(&mut members, views);
        }
        let mut members = members.concat();
        members.par_sort_unstable();

        let unchanged = UnchangedModules::new(baseline, candidate);
        let mut list = Vec::new();
        let mut of_frame = views.map(|view| vec![FunctionIx(0); view.frames.len()]);
        for members in members.chunk_by(|(a, _), (b, _)| a == b) {
            let function = FunctionIx(u32::try_from(list.len()).expect("fewer than 2^32 frames"));
            for (_, member) in members {
                match member {
                    Member::Baseline(frame) => of_frame.baseline[frame.get()] = function,
                    Member::Candidate(frame) => of_frame.candidate[frame.get()] = function,
                }
            }
            let mut function = new_function(members, views, &unchanged, attribution);
            let module = members[0].0.1;
            function.unnamed = function.symbol == UNRESOLVED && unnamed.is_partly_named(module);
            list.push(function);
        }
        Functions {
            list,
            of_frame,
            renamed: Vec::new(),
        }
    }

    /// Merges renamed functions into the new one, which keeps its name. The old one has no frames
    /// left.
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

    /// Merges the instances of generic functions into the first of each, which gets the name of the
    /// generic function. The others have no frames left.
    pub(super) fn merge_instances(&mut self, generic: Vec<Instances>) {
        let mut first_of: Vec<FunctionIx> = (0..self.list.len() as u32).map(FunctionIx).collect();
        for Instances { symbol, functions } in generic {
            let first = functions[0];
            for function in &functions {
                first_of[function.get()] = first;
            }
            let generic = &mut self.list[first.get()];
            generic.symbol = symbol;
            generic.instances = functions.len();
        }
        let Pair {
            baseline,
            candidate,
        } = &mut self.of_frame;
        for function in baseline.iter_mut().chain(candidate) {
            *function = first_of[function.get()];
        }
    }

    /// Returns the number of functions that are compared.
    pub(super) fn count(&self) -> usize {
        let merged = self
            .list
            .iter()
            .map(|function| function.instances.saturating_sub(1));
        self.list.len() - self.renamed.len() - merged.sum::<usize>()
    }

    /// Returns the function's name in the baseline, if it differs.
    pub(super) fn old_name(&self, function: FunctionIx) -> Option<FunctionName> {
        let renamed = self.renamed.iter().find(|pair| pair.new == function)?;
        Some(self.name(renamed.old))
    }

    /// Returns the function's name.
    pub(super) fn name(&self, function: FunctionIx) -> FunctionName {
        let function = &self.list[function.get()];
        FunctionName {
            function: function.symbol.clone(),
            module: function.module.clone(),
        }
    }

    /// Returns the names of modules whose code did not change.
    pub(super) fn unchanged_modules(&self) -> BTreeSet<&str> {
        let named = |function: &&Function| function.unchanged && !function.module.is_empty();
        let unchanged = self.list.iter().filter(named);
        unchanged.map(|function| function.module.as_str()).collect()
    }
}

/// A frame of a function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Member {
    Baseline(FrameIx),
    Candidate(FrameIx),
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

/// Replaces the keys of functions that the two sides spell differently.
fn match_spellings<'a>(
    members: &mut [Vec<(FunctionKey<'a>, Member)>; 2],
    Pair {
        baseline,
        candidate,
    }: Pair<&'a View>,
) {
    let builds: [BuildFunctions; 2] = members.each_ref().map(|members| {
        let functions = members.iter().map(|(key, member)| {
            let frame = match *member {
                Member::Baseline(ix) => baseline.frames.frame(ix),
                Member::Candidate(ix) => candidate.frames.frame(ix),
            };
            (key.clone(), frame.symbol)
        });
        functions.collect()
    });
    let spellings = Spellings::new(&builds);
    for (key, _) in members.iter_mut().flatten() {
        spellings.apply(key);
    }
}

/// Builds a function from its frames, which are sorted. Of several modules or files, the first in
/// alphabetical order is used, so the result does not depend on the order of frames.
fn new_function(
    members: &[(FunctionKey<'_>, Member)],
    views: Pair<&View>,
    unchanged: &UnchangedModules<'_>,
    attribution: &Attribution,
) -> Function {
    let ((symbol, module), last) = &members[members.len() - 1];
    let is_in_candidate = matches!(last, Member::Candidate(_));
    let frame = |(_, member): &(_, Member)| match *member {
        Member::Candidate(ix) => Some(views.candidate.frames.frame(ix)),
        Member::Baseline(_) if is_in_candidate => None,
        Member::Baseline(ix) => Some(views.baseline.frames.frame(ix)),
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
        unnamed: false,
        instances: 0,
    }
}
