//! Symbols: from locations to frames, inlined callers included.
//!
//! Data goes one way through this module:
//!
//! ```text
//! Module                    binary::find    the file that was mapped, known by its build id
//!    |  ElfFile             binary::elf     program headers: offset in the file -> virtual address
//!    v
//! virtual addresses         symtab, plt, debug_info    outer function, inlined ones, lines
//!    |                      fde                        else the function's first address
//!    |  raw names, paths    demangle, binary::source_path    the names that frames carry
//!    v
//! Part                      chunk, part     the answers of all threads, joined
//! ```
//!
//! The kernel takes another way: `kernel` finds its list of symbols, which `kallsyms` reads. So does
//! code that was made at run time: `jit` finds what its maker wrote of it. What reads files for names is in
//! `lookup`, which the feature `symbols` adds.
//! The rules are these:
//!
#![doc = include_str!("symbols.md")]

#[cfg(feature = "symbols")]
mod lookup;
#[cfg(not(feature = "symbols"))]
#[path = "no_lookup.rs"]
mod lookup;
// Only lookups use all of it.
#[cfg_attr(not(feature = "symbols"), allow(dead_code))]
mod part;
mod resolve;

pub(crate) use lookup::add_build_ids;
pub use resolve::symbolize;
pub(crate) use resolve::symbolize_unless;
use sto_model::Notice;

use std::ops::Range;
use std::path::PathBuf;
use sto_formats::recording::{LocationIx, ModuleIx};
use sto_model::numbers;
use sto_model::{FrameIx, FrameTable, SourceDigests};

/// A frame at a line of its source file: what a location resolves to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeLine {
    /// The frame.
    pub frame: FrameIx,
    /// The line that ran or made the call, counted from 1; 0 if unknown.
    pub line: u32,
}

numbers! {
    /// Index of a [`CodeLine`] in [`Symbols::lines`].
    pub CodeLineIx;
}

/// What the locations of a recording resolve to.
#[derive(Debug, Default)]
pub struct Symbols {
    /// Every frame, in the order in which locations first need it.
    pub frames: FrameTable,
    /// Every distinct frame at a line, in the same order.
    pub lines: Vec<CodeLine>,
    /// Ends of the locations' parts of `expansion`.
    pub ends: Vec<u32>,
    /// For each location its frames: the function first, then what was inlined into it, innermost
    /// last. At least one a location.
    pub expansion: Vec<CodeLineIx>,
    /// What was found of each module that has locations, in the order of its index.
    pub modules: Vec<ModuleSymbols>,
    /// Digests of source files, where debug info has them. Of a file that was compiled with several texts there is none.
    pub sources: SourceDigests,
}

impl Symbols {
    /// The frames of a location, outermost first.
    pub fn of(&self, location: LocationIx) -> &[CodeLineIx] {
        &self.expansion[self.range_of(location)]
    }

    /// Where in [`Symbols::expansion`] the frames of a location are.
    pub(crate) fn range_of(&self, location: LocationIx) -> Range<usize> {
        let ix = location.0 as usize;
        let start = if ix == 0 {
            0
        } else {
            self.ends[ix - 1] as usize
        };
        start..self.ends[ix] as usize
    }
}

/// What was found of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSymbols {
    /// The module.
    pub module: ModuleIx,
    /// The file its symbols came from.
    pub file: Option<PathBuf>,
    /// Number of distinct locations.
    pub locations: usize,
    /// How many of them have no symbol.
    pub unresolved: usize,
    /// Samples of all sample types with one of these on their stack.
    pub unresolved_samples: u64,
    /// Whether there may be a file that says more: none was found, or only a stripped one.
    pub may_be_found: bool,
    /// Why something was not found, and what to do about it: a whole sentence.
    pub problem: Option<Notice>,
}
