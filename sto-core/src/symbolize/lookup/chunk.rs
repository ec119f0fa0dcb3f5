//! Resolves a chunk of a module's addresses on one thread.

use super::debug_info::{Call, DebugFile, DebugInfo};
use super::symtab::Symbol;
use crate::symbolize::part::Part;
use hashbrown::HashMap;
use sto_formats::demangle::demangle;
use sto_formats::recording::{LocationIx, Module, ModuleKind};
use sto_model::{FrameKind, FrameRow, Granularity, StringIx};

pub(super) struct Query {
    /// Virtual address in the file.
    pub(super) address: u64,
    /// Offset in the file that identifies the function if it has no name: the offset of the function's first byte if
    /// known, otherwise of the address.
    pub(super) offset: u64,
    pub(super) location: LocationIx,
}

/// Addresses of a module in ascending order, with the functions that the symbol tables have for them.
pub(super) struct Chunk<'a> {
    pub(super) module: &'a Module,
    pub(super) granularity: Granularity,
    pub(super) queries: &'a [Query],
    pub(super) names: &'a [Option<Symbol<'a>>],
}

impl Chunk<'_> {
    /// Returns the frames, and a problem with the debug info if there is one.
    pub(super) fn resolve(&self, debug: Option<&DebugFile<'_>>) -> (Part, Option<String>) {
        let (part, problem) = match debug.map(DebugFile::open) {
            Some(Ok(info)) => self.with_debug_info(&info),
            Some(Err(problem)) => (self.without_debug_info(), Some(problem)),
            None => (self.without_debug_info(), None),
        };
        (part, problem.map(|problem| problem.to_string()))
    }

    fn without_debug_info(&self) -> Part {
        let mut frames = Frames::new(self, None);
        for (query, name) in self.queries.iter().zip(self.names) {
            frames.add(query, name.as_ref().map(|symbol| &*symbol.name), "", &[]);
        }
        frames.part
    }

    fn with_debug_info(&self, debug: &DebugInfo<'_>) -> (Part, Option<gimli::Error>) {
        let addresses: Vec<u64> = self.queries.iter().map(|query| query.address).collect();
        let found = debug.calls(&addresses);
        let mut last = None;
        // The file of a frame is the source file of the function's first address.
        let starts: Vec<Option<u64>> = self
            .names
            .iter()
            .zip(&addresses)
            .map(|(name, &address)| match name {
                Some(symbol) => Some(symbol.start),
                None => debug.start_of(address, &mut last),
            })
            .collect();
        let mut distinct: Vec<u64> = starts.iter().copied().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let firsts = debug.calls(&distinct);
        let mut frames = Frames::new(self, Some(debug.file));
        for (index, (query, name)) in self.queries.iter().zip(self.names).enumerate() {
            let calls = found.get(index);
            let in_debug_info = calls.first().map(|function| function.name);
            let symbol = match name {
                Some(symbol) => Some(&*symbol.name),
                None => in_debug_info.filter(|name| !name.is_empty()),
            };
            let first = starts[index].and_then(|start| distinct.binary_search(&start).ok());
            let first = first.and_then(|first| firsts.get(first).first());
            frames.add(query, symbol, first.map_or("", |first| first.file), calls);
        }
        (frames.part, found.problem.or(firsts.problem))
    }
}

/// A builder of the frames of a chunk that demangles each name and normalizes each path once.
struct Frames<'a, 'name> {
    chunk: &'a Chunk<'a>,
    debug: Option<&'a DebugFile<'a>>,
    module: StringIx,
    part: Part,
    names: HashMap<&'name [u8], StringIx>,
    files: HashMap<&'name str, StringIx>,
}

impl<'a, 'name> Frames<'a, 'name> {
    fn new(chunk: &'a Chunk<'a>, debug: Option<&'a DebugFile<'a>>) -> Frames<'a, 'name> {
        let mut part = Part::new(chunk.granularity);
        Frames {
            chunk,
            debug,
            module: part.intern(chunk.module.name()),
            part,
            names: HashMap::new(),
            files: HashMap::new(),
        }
    }

    /// Adds the frames of an address: its function, whose first address is in `file`, and the functions inlined into
    /// it, which follow the first of `calls`.
    fn add(
        &mut self,
        query: &Query,
        symbol: Option<&'name [u8]>,
        file: &'name str,
        calls: &'name [Call<'name>],
    ) {
        let Some(symbol) = symbol else {
            let (module, part) = (self.chunk.module, &mut self.part);
            return part.finish_unresolved(query.location, module, query.offset);
        };
        let line = calls.first().and_then(|function| function.line);
        let kind = match self.chunk.module.kind {
            ModuleKind::Kernel | ModuleKind::KernelModule => FrameKind::Kernel,
            _ => FrameKind::User,
        };
        self.push(kind, symbol, file, line);
        if self.chunk.module.kind != ModuleKind::FunctionStarts {
            for inlined in calls.iter().skip(1) {
                self.push(FrameKind::Inlined, inlined.name, inlined.file, inlined.line);
            }
        }
        self.part.finish(query.location);
    }

    fn push(&mut self, kind: FrameKind, raw: &'name [u8], file: &'name str, line: Option<u32>) {
        let part = &mut self.part;
        let symbol = *self.names.entry(raw).or_insert_with(|| match raw {
            b"" => part.intern("[unnamed]"),
            _ => part.intern(&demangle(raw)),
        });
        let file = *self.files.entry(file).or_insert_with(|| match self.debug {
            Some(debug) => part.intern(&debug.source_file(file)),
            None => part.intern(""),
        });
        part.push(FrameRow {
            kind,
            symbol,
            module: self.module,
            file,
            line: line.unwrap_or(0),
        });
    }
}
