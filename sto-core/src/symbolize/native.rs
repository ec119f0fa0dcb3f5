//! Locations in files that were mapped into user space.

use super::debug_info::{DebugFile, DebugInfo};
use super::demangle::demangle;
use super::elf::{Detail, ElfFile};
use super::find::{Found, find};
use super::part::{NewFrame, Part};
use super::resolve::{Resolved, unresolved_symbol};
use super::symtab::Symbol;
use super::{SymbolOptions, plt, symtab};
use crate::formats::{LocationIx, Module};
use crate::model::{FrameKind, Granularity, StringIx};
use blazesym::symbolize::Sym;
use hashbrown::HashMap;
use object::Object;
use rayon::prelude::*;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Fewest addresses that are worth opening the debug info once more for another thread.
const MIN_CHUNK: usize = 4096;

/// An address to look up.
#[derive(Clone, Copy)]
struct Query {
    /// Virtual address, as the linker knows it; `None` where the file has no such place.
    address: Option<u64>,
    offset: u64,
    location: LocationIx,
}

/// Resolves offsets in a file.
pub(super) fn resolve(
    module: &Module,
    offsets: &[(u64, LocationIx)],
    options: &SymbolOptions,
    granularity: Granularity,
) -> Resolved {
    let Found { symbols, image } = match find(module, options) {
        Ok(found) => found,
        Err(problem) => return Resolved::unresolved(module, offsets, granularity, Some(problem)),
    };
    let segments = image.as_ref().unwrap_or(&symbols).segments();
    let mut queries: Vec<Query> = offsets
        .iter()
        .map(|&(offset, location)| Query {
            address: segments.address_of(offset),
            offset,
            location,
        })
        .collect();
    queries.sort_unstable_by_key(|query| (query.address, query.offset));
    let unmapped = queries.partition_point(|query| query.address.is_none());
    let addresses: Vec<u64> = queries.iter().filter_map(|query| query.address).collect();

    let (names, debug) = rayon::join(
        || {
            let mut names = vec![None; unmapped];
            names.extend(function_names(&symbols, image.as_ref(), &addresses));
            names
        },
        || {
            let usable = symbols.detail == Detail::DebugInfo || symbols.debug_link.is_some();
            (usable && symbols.is_credible()).then(|| DebugFile::new(&symbols, &options.debug_dirs))
        },
    );

    let chunk_len = queries.len().div_ceil(rayon::current_num_threads());
    let chunk_len = chunk_len.max(MIN_CHUNK);
    let chunks: Vec<Chunk<'_>> = queries
        .chunks(chunk_len)
        .zip(names.chunks(chunk_len))
        .map(|(queries, names)| Chunk {
            module,
            granularity,
            queries,
            names,
        })
        .collect();
    let resolved: Vec<(Part, Option<String>)> = chunks
        .par_iter()
        .map(|chunk| chunk.resolve(debug.as_ref()))
        .collect();

    let (parts, problems): (Vec<Part>, Vec<Option<String>>) = resolved.into_iter().unzip();
    let any_unresolved = parts.iter().any(|part| part.unresolved() > 0);
    let problem = match problems.into_iter().flatten().next() {
        Some(problem) => Some(format!(
            "the debug info of {} cannot be read ({problem}), so its functions have no lines and no inlined callers",
            symbols.path.display()
        )),
        None if any_unresolved && symbols.detail == Detail::Stripped => Some(format!(
            "{} is stripped: it names only the functions that other files link to; install its debug symbols, or name a folder that has them with --symbol-dir",
            symbols.path.display()
        )),
        None => None,
    };
    Resolved {
        parts,
        file: Some(symbols.path),
        problem,
    }
}

/// The functions that ascending virtual addresses are in, from the first table that has them.
fn function_names<'a>(
    symbols: &'a ElfFile,
    image: Option<&'a ElfFile>,
    addresses: &[u64],
) -> Vec<Option<Symbol<'a>>> {
    let mut names = vec![None; addresses.len()];
    let mut fill = |find: &dyn Fn(&[u64]) -> Vec<Option<Symbol<'a>>>| {
        let missing: Vec<usize> = (0..names.len()).filter(|&i| names[i].is_none()).collect();
        let asked: Vec<u64> = missing.iter().map(|&place| addresses[place]).collect();
        for (place, name) in missing.into_iter().zip(find(&asked)) {
            names[place] = name;
        }
    };
    if let Ok(elf) = symbols.parse()
        && let Some(table) = elf.symbol_table()
    {
        fill(&|addresses| symtab::find(&elf, &table, addresses));
    }
    if let Ok(elf) = image.unwrap_or(symbols).parse() {
        if let Some(table) = elf.dynamic_symbol_table() {
            fill(&|addresses| symtab::find(&elf, &table, addresses));
        }
        fill(&|addresses| plt::find(&elf, addresses));
    }
    names
}

/// The share of one thread.
struct Chunk<'a> {
    module: &'a Module,
    granularity: Granularity,
    queries: &'a [Query],
    names: &'a [Option<Symbol<'a>>],
}

impl Chunk<'_> {
    /// The frames, and what is wrong with the debug info.
    fn resolve(&self, debug: Option<&DebugFile<'_>>) -> (Part, Option<String>) {
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
        // An offset outside of the file asks for address 0, and its answer is not used.
        let addresses: Vec<u64> = self
            .queries
            .iter()
            .map(|q| q.address.unwrap_or(0))
            .collect();
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
            let sym = sym.as_ref().filter(|_| query.address.is_some());
            let symbol = match (name, sym) {
                (Some(symbol), _) => Some(&*symbol.name),
                (None, Some(sym)) => Some(sym.name.as_bytes()).filter(|name| !name.is_empty()),
                (None, None) => None,
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
