//! Symbolization: resolves the locations of a recording to frames, with inlined functions and lines.
//!
//! The steps for a module that is a file:
//!
//! ```text
//! Module                    binary::find    the file that was mapped, found by its build id
//!    |  ElfFile             binary::elf     program headers: offset in the file -> virtual address
//!    v
//! virtual addresses         symtab, plt, debug_info    outer function, inlined ones, lines
//!    |                      fde                        otherwise the function's first address
//!    |  raw names, paths    demangle, source_path      the names of frames
//!    v
//! Part                      chunk, part     the results of each thread, then joined
//! ```
//!
//! For kernel addresses, `kernel` finds the kernel's symbol list, which `kallsyms` parses. For code generated at run
//! time, `jit` finds perf maps and jitdumps. The code that reads files is in `lookup` and needs the feature `symbols`.
//!
//! The rules:
//!
//! See [the manual](crate::manual::symbols).

#[cfg(feature = "symbols")]
mod lookup;
#[cfg(not(feature = "symbols"))]
#[path = "no_lookup.rs"]
mod lookup;
// Without lookups, some of it is unused.
#[cfg_attr(not(feature = "symbols"), allow(dead_code))]
mod part;
mod resolve;

pub(crate) use lookup::add_build_ids;
pub use resolve::symbolize;
pub(crate) use resolve::{symbolize_cancellable, symbolize_uncounted, unresolved_samples};
use sto_model::Notice;

use std::ops::Range;
use std::path::PathBuf;
use sto_formats::recording::{LocationIx, ModuleIx};
use sto_model::index_types;
use sto_model::{FrameIx, FrameTable, SourceFileDigests};

/// A frame and the line of its source file that was running; a location resolves to one or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CodeLine {
    /// The frame.
    pub frame: FrameIx,
    /// The line that ran or made the call, counted from 1; 0 if unknown.
    pub line: u32,
}

index_types! {
    /// Index of a [`CodeLine`] in [`Symbols::lines`].
    pub CodeLineIx;
}

/// The frames that the locations of a recording resolve to.
#[derive(Debug, Default)]
pub struct Symbols {
    /// All frames, in the order in which locations first use them.
    pub frames: FrameTable,
    /// All distinct pairs of a frame and a line, in the order in which locations first use them.
    pub lines: Vec<CodeLine>,
    /// For each location, the end of its range in `expansion`.
    pub ends: Vec<u32>,
    /// The frames of all locations: for each at least one, the function first, then the functions inlined into it,
    /// innermost last.
    pub expansion: Vec<CodeLineIx>,
    /// The outcome for each module that has locations, in ascending order of modules.
    pub modules: Vec<ModuleSymbols>,
    /// Digests of source files, from the debug info. Files that were compiled with different contents are left out.
    pub sources: SourceFileDigests,
}

impl Symbols {
    pub(crate) fn set_unresolved_samples(&mut self, counts: Vec<u64>) {
        for (module, count) in self.modules.iter_mut().zip(counts) {
            module.unresolved_samples = count;
        }
    }

    /// Returns the frames of a location, outermost first.
    pub fn code_lines(&self, location: LocationIx) -> &[CodeLineIx] {
        &self.expansion[self.range_of(location)]
    }

    /// Returns the range of a location's frames in [`Symbols::expansion`].
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

/// The outcome of symbolizing the locations of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleSymbols {
    /// The module.
    pub module: ModuleIx,
    /// The file that the symbols came from.
    pub file: Option<PathBuf>,
    /// Number of distinct locations in the module.
    pub locations: usize,
    /// Number of these locations without a symbol.
    pub unresolved: usize,
    /// Number of samples, of all sample types, with such a location on their stack.
    pub unresolved_samples: u64,
    /// Whether a file with more symbols may turn up later: none was found, or only a stripped one.
    pub may_be_found: bool,
    /// The reason why something was not found, with a remedy.
    pub problem: Option<Notice>,
}
