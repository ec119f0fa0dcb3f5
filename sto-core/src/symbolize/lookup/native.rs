//! Resolves locations in native programs and libraries.

use super::chunk::{Chunk, Query};
use super::debug_info::{DebugFile, DebugFiles, DebugSections};
use super::fde::Functions;
use super::split::SplitFiles;
use super::symtab::Symbol;
use super::{plt, symtab};
use crate::symbolize::part::{Part, Resolved, Task};
use object::Object;
use rayon::prelude::*;
use sto_binary::elf::{Detail, ElfFile, Segments};
use sto_binary::find::{Found, find_files, find_package, find_supplement};
use sto_binary::mini_debug_info::mini_debug_info;
use sto_formats::recording::ModuleKind;
use sto_model::{Hint, Notice, SymbolOptions, VDSO};

/// Minimum number of addresses for which another thread opens the debug info.
const MIN_CHUNK: usize = 4096;

/// Resolves the locations of a module, which are offsets in its file.
pub(super) fn resolve(task: &Task<'_>, options: &SymbolOptions) -> Resolved {
    let found = match find_files(task.module, options) {
        Ok(found) => found,
        // Part of the kernel: no file of the user's has it.
        Err(_) if task.module.path == VDSO => {
            return task.unresolved(None::<Notice>);
        }
        Err(problem) => return task.unresolved(Some(problem)),
    };
    resolve_in(found, task, options, |segments, offset| {
        match task.module.kind {
            ModuleKind::Image => segments.first_address().checked_add(offset),
            _ => segments.address_of(offset),
        }
    })
}

/// Resolves the locations of a module in the files found; `address_of` converts them to virtual addresses of the file.
pub(super) fn resolve_in(
    found: Found,
    task: &Task<'_>,
    options: &SymbolOptions,
    address_of: impl Fn(&Segments, u64) -> Option<u64>,
) -> Resolved {
    let &Task {
        module,
        granularity,
        ..
    } = task;
    let Found {
        symbols,
        image,
        unanswered,
    } = found;
    let segments = image.as_ref().unwrap_or(&symbols).segments();
    let (mut queries, outside) = to_queries(task, |offset| address_of(&segments, offset));
    let addresses: Vec<u64> = queries.iter().map(|query| query.address).collect();
    let mini = match symbols.detail {
        Detail::Stripped => mini_debug_info(&symbols),
        Detail::Names | Detail::DebugInfo => None,
    };
    let names = function_names(&symbols, mini.as_ref(), image.as_ref(), &addresses);
    if names.iter().any(Option::is_none) {
        let functions = Functions::read(image.as_ref().unwrap_or(&symbols));
        let nameless = queries.iter_mut().zip(&names);
        for (query, _) in nameless.filter(|(_, name)| name.is_none()) {
            let start = functions.start_of(query.address);
            let within = start.map_or(0, |start| query.address - start);
            query.offset = query.offset.saturating_sub(within);
        }
    }

    let files = (symbols.detail == Detail::DebugInfo).then(|| DebugFiles {
        main: &symbols,
        supplement: find_supplement(&symbols, options),
        package: find_package(&symbols, module, options),
        split: SplitFiles::find(&symbols, &addresses, options),
    });
    let sections = files.as_ref().map(DebugSections::load).transpose();
    let debug = sections
        .as_ref()
        .map_err(String::clone)
        .and_then(|sections| {
            let sections = sections.as_ref();
            sections
                .map(|sections| DebugFile::new(sections, &addresses))
                .transpose()
        });
    let (debug, unreadable) = match &debug {
        Ok(debug) => (debug.as_ref(), None),
        Err(problem) => (None, Some(problem.clone())),
    };

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
    let (mut parts, problems): (Vec<Part>, Vec<Option<String>>) =
        chunks.par_iter().map(|chunk| chunk.resolve(debug)).unzip();
    let files = parts.iter().flat_map(Part::files).collect();
    let sources = debug.map(|debug| debug.digests(&files));
    parts.push(outside);

    let any_unresolved = parts.iter().any(|part| part.unresolved() > 0);
    let mut problems = problems.into_iter().flatten();
    let unreadable = symbols.why_cut().or(unreadable);
    let problem = match unreadable.or_else(|| problems.next()) {
        Some(problem) => Some(unreadable_debug_info(&symbols, &problem)),
        None if any_unresolved && symbols.detail == Detail::Stripped => {
            Some(stripped(&symbols, unanswered))
        }
        None => unanswered.map(|why| unknown_debug_info(&symbols, &why)),
    };
    Resolved {
        parts,
        sources: sources.unwrap_or_default(),
        may_be_found: symbols.detail == Detail::Stripped && module.can_have_symbol_file(),
        file: Some(symbols.path),
        problem,
    }
}

/// Converts the locations of a module to queries in ascending order of virtual addresses. Locations without an address
/// in the file stay unresolved and are returned as a part.
fn to_queries(task: &Task<'_>, address_of: impl Fn(u64) -> Option<u64>) -> (Vec<Query>, Part) {
    let mut outside = Part::new(task.granularity);
    let mut queries = Vec::with_capacity(task.addresses.len());
    for &(offset, location) in &task.addresses {
        match address_of(offset) {
            Some(address) => queries.push(Query {
                address,
                offset,
                location,
            }),
            None => outside.finish_unresolved(location, task.module, offset),
        }
    }
    queries.sort_unstable_by_key(|query| query.address);
    (queries, outside)
}

fn unreadable_debug_info(file: &ElfFile, problem: &str) -> Notice {
    Notice::from(format!(
        "the debug info of {} cannot be read completely ({problem}), so some of its functions have no lines, and functions inlined into them are missing",
        file.path.display()
    ))
}

fn stripped(file: &ElfFile, unanswered: Option<String>) -> Notice {
    let unanswered = unanswered.map_or_else(String::new, |why| format!(" ({why})"));
    let text = format!(
        "{} is stripped: it has only the names of exported functions{unanswered}; install its debug symbols, or give a folder that has them",
        file.path.display()
    );
    Notice::new(text, Hint::SymbolFolder)
}

fn unknown_debug_info(file: &ElfFile, why: &str) -> Notice {
    Notice::from(format!(
        "there may be debug info for {}, but {why}, so its functions may have no lines, and functions inlined into them may be missing",
        file.path.display()
    ))
}

/// Returns the function of each address, from the first symbol table that has it. The virtual addresses are in
/// ascending order.
fn function_names<'a>(
    symbols: &'a ElfFile,
    mini: Option<&'a ElfFile>,
    image: Option<&'a ElfFile>,
    addresses: &[u64],
) -> Vec<Option<Symbol<'a>>> {
    let mut names = vec![None; addresses.len()];
    let mut fill = |find: &dyn Fn(&[u64]) -> Vec<Option<Symbol<'a>>>| {
        let missing: Vec<usize> = (0..names.len()).filter(|&i| names[i].is_none()).collect();
        let wanted: Vec<u64> = missing.iter().map(|&index| addresses[index]).collect();
        for (index, name) in missing.into_iter().zip(find(&wanted)) {
            names[index] = name;
        }
    };
    for file in [Some(symbols), mini].into_iter().flatten() {
        if let Ok(elf) = file.parse()
            && let Some(table) = elf.symbol_table()
        {
            fill(&|addresses| symtab::find(&elf, &table, addresses));
        }
    }
    if let Ok(elf) = image.unwrap_or(symbols).parse() {
        if let Some(table) = elf.dynamic_symbol_table() {
            fill(&|addresses| symtab::find(&elf, &table, addresses));
        }
        fill(&|addresses| plt::find(&elf, addresses));
    }
    names
}
