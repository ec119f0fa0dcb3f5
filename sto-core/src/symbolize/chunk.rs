//! The frames of the share of addresses that one thread resolves.

use super::debug_info::{DebugFile, DebugInfo};
use super::demangle::demangle;
use super::part::{NewFrame, Part};
use super::resolve::unresolved_symbol;
use super::symtab::Symbol;
use crate::formats::{LocationIx, Module};
use crate::model::{FrameKind, Granularity, StringIx};
use blazesym::symbolize::Sym;
use hashbrown::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// An address to look up.
pub(super) struct Query {
    /// Virtual address, as the linker knows it.
    pub(super) address: u64,
    /// Offset in the file that stands for the function where it has no name: that of its first byte where that is
    /// known, else that of the address.
    pub(super) offset: u64,
    pub(super) location: LocationIx,
}

/// Addresses of a module, in ascending order, and the functions they are in, where known.
pub(super) struct Chunk<'a> {
    pub(super) module: &'a Module,
    pub(super) granularity: Granularity,
    pub(super) queries: &'a [Query],
    pub(super) names: &'a [Option<Symbol<'a>>],
}

impl Chunk<'_> {
    /// The frames, and what is wrong with the debug info.
    pub(super) fn resolve(&self, debug: Option<&DebugFile<'_>>) -> (Part, Option<String>) {
        let Some(debug) = debug else {
            return (self.without_debug_info(), None);
        };
        // The parser takes some of what it reads for granted.
        let resolved = catch_unwind(AssertUnwindSafe(|| self.with_debug_info(&debug.open())));
        match resolved {
            Ok(Ok(part)) => (part, None),
            Ok(Err(problem)) => (self.without_debug_info(), Some(problem)),
            Err(_) => (self.without_debug_info(), Some("it is damaged".to_owned())),
        }
    }

    fn without_debug_info(&self) -> Part {
        let mut frames = Frames::new(self);
        for (query, name) in self.queries.iter().zip(self.names) {
            frames.add(query, name.as_ref().map(|symbol| &*symbol.name), "", None);
        }
        frames.part
    }

    fn with_debug_info(&self, debug: &DebugInfo<'_>) -> Result<Part, String> {
        let addresses: Vec<u64> = self.queries.iter().map(|query| query.address).collect();
        let found = debug.find(&addresses)?;
        let start_of = |name: Option<&Symbol<'_>>, sym: Option<&Sym<'_>>| {
            let start = name.map(|symbol| symbol.start);
            start.or_else(|| sym.map(|sym| sym.addr))
        };
        let mut starts: Vec<u64> = self
            .names
            .iter()
            .zip(&found)
            .filter_map(|(name, sym)| start_of(name.as_ref(), sym.as_ref()))
            .collect();
        starts.sort_unstable();
        starts.dedup();
        let files: Vec<String> = debug
            .find(&starts)?
            .iter()
            .map(|sym| {
                let code = sym.as_ref().and_then(|sym| sym.code_info.as_deref());
                code.map_or_else(String::new, |code| debug.source_file(code))
            })
            .collect();

        let mut frames = Frames::new(self);
        for ((query, name), sym) in self.queries.iter().zip(self.names).zip(&found) {
            let sym = sym.as_ref();
            // Without a size it is no function of the debug info, but a guess at a label.
            let named = sym.filter(|sym| sym.size.is_some() && !sym.name.is_empty());
            let symbol = match name {
                Some(symbol) => Some(&*symbol.name),
                None => named.map(|sym| sym.name.as_bytes()),
            };
            let start = start_of(name.as_ref(), sym);
            let file = start.and_then(|start| starts.binary_search(&start).ok());
            let file = file.map_or("", |file| &files[file]);
            frames.add(query, symbol, file, sym.map(|sym| (sym, debug)));
        }
        Ok(frames.part)
    }
}

/// Makes the frames of a chunk, each name demangled once.
struct Frames<'a, 'name> {
    chunk: &'a Chunk<'a>,
    module: StringIx,
    part: Part,
    names: HashMap<&'name [u8], StringIx>,
}

impl<'a, 'name> Frames<'a, 'name> {
    fn new(chunk: &'a Chunk<'a>) -> Frames<'a, 'name> {
        let mut part = Part::new(chunk.granularity);
        Frames {
            chunk,
            module: part.intern(chunk.module.name()),
            part,
            names: HashMap::new(),
        }
    }

    fn add(
        &mut self,
        query: &Query,
        symbol: Option<&'name [u8]>,
        file: &str,
        debug: Option<(&'name Sym<'_>, &DebugInfo<'_>)>,
    ) {
        let Some(symbol) = symbol else {
            let module = self.chunk.module;
            let symbol = unresolved_symbol(module, query.offset);
            return self
                .part
                .finish_unresolved(query.location, module.name(), &symbol);
        };
        let sym = debug.map(|(sym, _)| sym);
        let line = sym.and_then(|sym| sym.code_info.as_ref()?.line);
        let file = self.part.intern(file);
        self.push(FrameKind::User, symbol, file, line);
        if let Some((sym, debug)) = debug {
            for inlined in &sym.inlined {
                let code = inlined.code_info.as_ref();
                let file = code.map_or_else(String::new, |code| debug.source_file(code));
                let file = self.part.intern(&file);
                let line = code.and_then(|code| code.line);
                self.push(FrameKind::Inlined, inlined.name.as_bytes(), file, line);
            }
        }
        self.part.finish(query.location);
    }

    fn push(&mut self, kind: FrameKind, raw: &'name [u8], file: StringIx, line: Option<u32>) {
        let part = &mut self.part;
        let symbol = *self.names.entry(raw).or_insert_with(|| match raw {
            b"" => part.intern("[unnamed]"),
            _ => part.intern(&demangle(raw)),
        });
        part.push(NewFrame {
            kind,
            symbol,
            module: self.module,
            file,
            line: line.unwrap_or(0),
        });
    }
}
