//! Functions as all builds of a program know them.

use crate::compare::{KeyOptions, key_symbol};
use hashbrown::HashMap;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::model::{FrameKind, FrameTable};

/// Index of a function in a [`History`](super::History).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionIx(u32);

impl FunctionIx {
    pub(crate) fn new(place: usize) -> Self {
        FunctionIx(u32::try_from(place).expect("fewer functions than 2^32 frames"))
    }

    /// The index as a position in a column.
    pub fn get(self) -> usize {
        self.0 as usize
    }
}

/// A function as all builds know it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HistoryFunction {
    /// Its symbol as [`key_symbol`] leaves it.
    pub symbol: String,
    /// The file that its code was loaded from; the program's name for the program itself.
    pub module: String,
}

/// The functions in order, and by frame which it is of.
pub(super) fn number_functions(
    frames: &FrameTable,
    main_modules: &BTreeSet<String>,
    executable: &str,
) -> (Vec<HistoryFunction>, Vec<FunctionIx>) {
    let mut keys: HashMap<&str, Cow<str>> = HashMap::new();
    for (_, frame) in frames.iter() {
        keys.entry(frame.symbol)
            .or_insert_with(|| key_symbol(frame.symbol, KeyOptions::default()));
    }
    let key = |ix| {
        let frame = frames.frame(ix);
        let module = match main_modules.contains(frame.module) {
            true => executable,
            false => frame.module,
        };
        match frame.kind {
            // Offsets shift from build to build: what has no symbol is one function a module.
            FrameKind::Unresolved => ("[unresolved]", module),
            _ => (&*keys[frame.symbol], module),
        }
    };
    let mut numbers: BTreeMap<(&str, &str), FunctionIx> = frames
        .iter()
        .map(|(ix, _)| (key(ix), FunctionIx(0)))
        .collect();
    for (place, number) in (0..).zip(numbers.values_mut()) {
        *number = FunctionIx(place);
    }
    let of_frame = frames.iter().map(|(ix, _)| numbers[&key(ix)]).collect();
    let functions = numbers.keys().map(|&(symbol, module)| HistoryFunction {
        symbol: symbol.to_owned(),
        module: module.to_owned(),
    });
    (functions.collect(), of_frame)
}

/// By node, whether no caller is of the same function; `ends` are the first nodes behind their
/// subtrees.
pub(super) fn outermost(ends: &[u32], function_of: &[FunctionIx], functions: usize) -> Vec<bool> {
    // The outermost node's subtree is one piece of the preorder: within it none is outermost.
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
