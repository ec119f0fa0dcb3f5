//! Functions, identified across all builds of a program.

use crate::functions::{KeyOptions, ModuleKey, Spellings, UNRESOLVED, key_symbol};
use hashbrown::{HashMap, HashSet};
use rayon::prelude::*;
use serde::Serialize;
use std::borrow::Cow;
use std::collections::BTreeSet;
use sto_core::model::{FrameIx, FrameKind, FrameTable};
use sto_core::tree::{SelfCosts, StackTree};

/// Index of a function in a [`History`](super::History).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionIx(u32);

impl FunctionIx {
    pub(crate) fn new(index: usize) -> Self {
        FunctionIx(u32::try_from(index).expect("fewer functions than 2^32 frames"))
    }

    /// Returns the index as a position in a column.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A function, identified across builds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct HistoryFunction {
    /// The function's symbol, as returned by [`key_symbol`].
    pub function: String,
    /// The file that its code was loaded from; the program's name for the program itself.
    pub module: String,
}

/// How the functions of a program are named.
pub(super) struct Naming<'a> {
    pub(super) executable: &'a str,
    /// The files of the program itself.
    pub(super) main_modules: &'a BTreeSet<String>,
    pub(super) options: KeyOptions,
}

/// Returns the frames of a build's runs, in order.
pub(super) fn frames_of_build<'a>(
    tree: &StackTree,
    runs: impl Iterator<Item = &'a SelfCosts>,
) -> Vec<FrameIx> {
    let mut is_seen = vec![false; tree.len()];
    let mut frames = BTreeSet::new();
    for (node, _) in runs.flatten() {
        for node in tree.ancestors(*node) {
            if std::mem::replace(&mut is_seen[node.get()], true) {
                break;
            }
            frames.insert(tree.frame(node));
        }
    }
    frames.into_iter().collect()
}

/// Returns the functions in order, and the function of each frame. `builds` has the frames of each
/// build.
pub(super) fn number_functions(
    frames: &FrameTable,
    builds: &[Vec<FrameIx>],
    naming: &Naming<'_>,
) -> (Vec<HistoryFunction>, Vec<FunctionIx>) {
    let Naming {
        executable,
        main_modules,
        options,
    } = *naming;
    let symbols: HashSet<&str> = frames.iter().map(|(_, frame)| frame.symbol).collect();
    let symbols: Vec<&str> = symbols.into_iter().collect();
    let keys = symbols.par_iter();
    let keys = keys.map(|symbol| key_symbol(symbol, options));
    let keys: Vec<Cow<str>> = keys.collect();
    let keys: HashMap<&str, &str> = symbols
        .into_iter()
        .zip(keys.iter().map(|key| &**key))
        .collect();
    let key = |ix| {
        let frame = frames.frame(ix);
        let module = if main_modules.contains(frame.module) {
            executable
        } else {
            frame.module
        };
        match frame.kind {
            FrameKind::Unresolved => (UNRESOLVED, module),
            _ => (keys[frame.symbol], module),
        }
    };
    let keyed = |ix| {
        let (key, module) = key(ix);
        (Cow::Borrowed(key), ModuleKey::Named(module))
    };
    let of_build = |ixs: &Vec<FrameIx>| {
        let symbols = ixs.iter().map(|&ix| (keyed(ix), frames.frame(ix).symbol));
        symbols.collect()
    };
    let spellings = match options.exact_symbols {
        true => Spellings::default(),
        false => Spellings::new(&builds.iter().map(of_build).collect::<Vec<_>>()),
    };
    let name = |(ix, _)| {
        let (key, module) = key(ix);
        let spelled = spellings.find(&keyed(ix));
        (spelled.map_or(key, |(_, name)| name), module)
    };
    let of_frame: Vec<(&str, &str)> = frames.iter().map(name).collect();
    let mut order: Vec<usize> = (0..of_frame.len()).collect();
    order.par_sort_unstable_by_key(|&frame| of_frame[frame]);
    let mut functions = Vec::new();
    let mut numbers = vec![FunctionIx(0); of_frame.len()];
    for same in order.chunk_by(|&a, &b| of_frame[a] == of_frame[b]) {
        let (symbol, module) = of_frame[same[0]];
        for &frame in same {
            numbers[frame] = FunctionIx::new(functions.len());
        }
        functions.push(HistoryFunction {
            function: symbol.to_owned(),
            module: module.to_owned(),
        });
    }
    (functions, numbers)
}

/// Returns, for each node, whether no caller is the same function. `ends` has the first node after
/// each subtree.
pub(super) fn outermost(ends: &[u32], function_of: &[FunctionIx], functions: usize) -> Vec<bool> {
    // The subtree of an outermost node is contiguous in preorder, and no node inside is outermost.
    let mut within_until = vec![0u32; functions];
    let nodes = (0..).zip(function_of.iter().zip(ends));
    let is_outermost = |(node, (function, &end)): (u32, (&FunctionIx, &u32))| {
        let until = &mut within_until[function.get()];
        let outermost = node >= *until;
        if outermost {
            *until = end;
        }
        outermost
    };
    nodes.map(is_outermost).collect()
}
