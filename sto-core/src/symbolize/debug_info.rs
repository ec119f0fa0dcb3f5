//! What debug info says of addresses: lines, and functions that the compiler inlined.

use super::compilation_dirs::CompilationDirs;
use super::elf::ElfFile;
use super::source_path::normalize;
use blazesym::symbolize::source::{Elf, Source};
use blazesym::symbolize::{CodeInfo, Input, Sym, Symbolized, Symbolizer};
use std::path::PathBuf;
use std::sync::OnceLock;

/// A file with debug info (DWARF), and what all of its lookups share.
pub(super) struct DebugFile<'a> {
    file: &'a ElfFile,
    debug_dirs: &'a [PathBuf],
    compilation_dirs: OnceLock<CompilationDirs>,
}

/// One thread's view of a [`DebugFile`].
pub(super) struct DebugInfo<'a> {
    symbolizer: Symbolizer,
    source: Source<'static>,
    file: &'a DebugFile<'a>,
}

impl<'a> DebugFile<'a> {
    /// `debug_dirs` are searched for files that this one refers to.
    pub(super) fn new(file: &'a ElfFile, debug_dirs: &'a [PathBuf]) -> DebugFile<'a> {
        DebugFile {
            file,
            debug_dirs,
            compilation_dirs: OnceLock::new(),
        }
    }

    pub(super) fn open(&self) -> DebugInfo<'_> {
        let symbolizer = Symbolizer::builder()
            .enable_auto_reload(false)
            .enable_demangling(false)
            .set_debug_dirs(Some(self.debug_dirs))
            .build();
        DebugInfo {
            symbolizer,
            source: Source::Elf(Elf::new(&self.file.path)),
            file: self,
        }
    }
}

impl DebugInfo<'_> {
    /// For each virtual address the function, its line, and what was inlined into it, outermost
    /// first; each with the line that runs or calls the next.
    ///
    /// # Errors
    /// With the reason why the debug info as a whole cannot be read.
    pub(super) fn find(&self, addresses: &[u64]) -> Result<Vec<Option<Sym<'_>>>, String> {
        let input = Input::VirtOffset(addresses);
        let found = self.symbolizer.symbolize(&self.source, input);
        let found = found.map_err(|error| error.to_string())?;
        let known = found.into_iter().map(|symbolized| match symbolized {
            Symbolized::Sym(sym) => Some(sym),
            Symbolized::Unknown(_) => None,
        });
        Ok(known.collect())
    }

    /// The source file of a place, as frames carry it.
    pub(super) fn source_file(&self, code: &CodeInfo<'_>) -> String {
        normalize(&code.to_path().to_string_lossy(), |parts| {
            // Read only when needed: where debug info is compressed it costs as much as the rest.
            let DebugFile {
                file,
                compilation_dirs,
                ..
            } = self.file;
            let dirs = compilation_dirs.get_or_init(|| CompilationDirs::read(file));
            dirs.prefix_of(parts)
        })
    }
}
