//! Symbol tables: which function an address is in, chosen as perf chooses it.

use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolFlags, SymbolSection, elf,
};
use std::borrow::Cow;
use std::cmp::Reverse;
use sto_binary::LazyFile;
use sto_binary::elf::{Elf, is_executable};
use sto_formats::demangle::readable;

/// A function as a symbol table has it.
#[derive(Clone, Debug)]
pub(super) struct Symbol<'data> {
    /// Virtual address of its first byte.
    pub(super) start: u64,
    /// Its name, mangled.
    pub(super) name: Cow<'data, [u8]>,
}

/// What decides between several names of one address.
struct Alias<'data> {
    name: &'data [u8],
    /// A label rather than a function.
    is_label: bool,
    is_weak: bool,
    is_global: bool,
}

impl Alias<'_> {
    /// The better name has the greater rank, by the rules of `choose_best_symbol` in Linux'
    /// `tools/perf/util/symbol.c`: functions, then strong symbols, then global ones, then fewer
    /// leading underscores, then longer names.
    fn rank(&self) -> impl Ord + use<> {
        let underscores = self.name.iter().take_while(|&&byte| byte == b'_').count();
        (
            !self.is_label,
            !self.is_weak,
            self.is_global,
            Reverse(underscores),
            self.name.len(),
        )
    }
}

/// A symbol that may cover addresses that are looked up.
struct Candidate<'data> {
    start: u64,
    /// Where it ends; a symbol without a size ends with its section, or where the next begins.
    end: u64,
    has_size: bool,
    alias: Alias<'data>,
}

/// The names of the functions that `addresses` are in.
///
/// The addresses are in ascending order. The table is read once and never sorted: of the hundred
/// thousands of symbols of a large library, only the few that cover an address are kept.
pub(super) fn find<'data, 'file>(
    elf: &'file Elf<'data>,
    table: &object::read::SymbolTable<'data, 'file, &'data LazyFile>,
    addresses: &[u64],
) -> Vec<Option<Symbol<'data>>> {
    let mut code_ends = vec![
        None;
        elf.sections()
            .map(|section| section.index().0 + 1)
            .max()
            .unwrap_or(0)
    ];
    for section in elf.sections().filter(is_executable) {
        code_ends[section.index().0] = Some(section.address().saturating_add(section.size()));
    }

    let mut candidates = Vec::new();
    // For each address the last start of a symbol after the address before it and up to itself.
    let mut last_starts = vec![0; addresses.len()];
    for symbol in table.symbols() {
        let (is_label, is_global) = match symbol.flags() {
            SymbolFlags::Elf { st_info, .. } => (
                match st_info.st_type() {
                    elf::STT_FUNC | elf::STT_GNU_IFUNC => false,
                    elf::STT_NOTYPE => true,
                    _ => continue,
                },
                st_info.st_bind() == elf::STB_GLOBAL,
            ),
            _ => continue,
        };
        let SymbolSection::Section(section) = symbol.section() else {
            continue;
        };
        let Some(code_end) = code_ends.get(section.0).copied().flatten() else {
            continue;
        };
        let (start, size) = (symbol.address(), symbol.size());
        let first = addresses.partition_point(|&address| address < start);
        let Some(&address) = addresses.get(first) else {
            continue;
        };
        last_starts[first] = start.max(last_starts[first]);
        let end = if size == 0 {
            code_end
        } else {
            start.saturating_add(size)
        };
        if address >= end {
            continue;
        }
        let name = readable(symbol.name_bytes().unwrap_or_default());
        // `$x` and its like mark instruction sets (ARM, RISC-V), not functions.
        if name.is_empty() || (is_label && name.starts_with(b"$")) {
            continue;
        }
        candidates.push(Candidate {
            start,
            end,
            has_size: size != 0,
            alias: Alias {
                name,
                is_label,
                is_weak: symbol.is_weak(),
                is_global,
            },
        });
    }
    // Stable and on a reversed list: of equal names the first in the table comes last, and wins.
    candidates.reverse();
    candidates.sort_by_key(|candidate| (candidate.start, candidate.alias.rank()));
    cover(&candidates, &last_starts, addresses)
}

/// For each address the candidate with the highest start that covers it.
fn cover<'data>(
    candidates: &[Candidate<'data>],
    last_starts: &[u64],
    addresses: &[u64],
) -> Vec<Option<Symbol<'data>>> {
    let mut next = candidates.iter().peekable();
    let mut open: Vec<&Candidate<'data>> = Vec::new();
    let mut unsized_one: Option<&Candidate<'data>> = None;
    let mut last_start = 0;
    let names = addresses.iter().zip(last_starts).map(|(&address, &start)| {
        last_start = start.max(last_start);
        while let Some(candidate) = next.next_if(|candidate| candidate.start <= address) {
            if candidate.has_size {
                open.push(candidate);
            } else {
                unsized_one = Some(candidate);
            }
        }
        while open.pop_if(|candidate| candidate.end <= address).is_some() {}
        let unsized_one = unsized_one
            .filter(|candidate| candidate.start == last_start && address < candidate.end);
        let found = open.last().copied().or(unsized_one)?;
        Some(Symbol {
            start: found.start,
            name: Cow::Borrowed(found.alias.name),
        })
    });
    names.collect()
}
