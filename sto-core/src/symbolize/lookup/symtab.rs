//! Finds the functions of addresses in symbol tables, choosing among aliases as perf does.

use object::{
    Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, SymbolFlags, SymbolSection, elf,
};
use std::borrow::Cow;
use std::cmp::Reverse;
use sto_binary::LazyFile;
use sto_binary::elf::{Elf, is_executable};
use sto_formats::demangle::name_prefix;

/// A function in a symbol table.
#[derive(Clone, Debug)]
pub(super) struct Symbol<'data> {
    /// Virtual address of the first byte.
    pub(super) start: u64,
    /// Mangled name.
    pub(super) name: Cow<'data, [u8]>,
}

/// One of the names of an address.
struct Alias<'data> {
    name: &'data [u8],
    /// Whether the symbol is a label rather than a function.
    is_label: bool,
    is_weak: bool,
    is_global: bool,
}

impl Alias<'_> {
    /// Returns the rank of a name; the alias with the highest rank is chosen, by the rules of `choose_best_symbol` in
    /// Linux' `tools/perf/util/symbol.c`: functions, then strong symbols, then global ones, then fewer leading
    /// underscores, then longer names.
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

/// A symbol that may cover one of the addresses.
struct Candidate<'data> {
    start: u64,
    /// End address; for a symbol without a size the end of its section, though the next symbol may end it earlier.
    end: u64,
    has_size: bool,
    alias: Alias<'data>,
}

/// Finds the functions of addresses, which are in ascending order.
///
/// The table is read once and not sorted: of the hundreds of thousands of symbols of a large library, only the few that
/// cover an address are kept.
pub(super) fn find<'data, 'file>(
    elf: &'file Elf<'data>,
    table: &object::read::SymbolTable<'data, 'file, &'data LazyFile>,
    addresses: &[u64],
) -> Vec<Option<Symbol<'data>>> {
    let code_ends = code_ends(elf);
    let mut candidates = Vec::new();
    // For each address the last start of a symbol that is not after it but after the previous address.
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
        let name = name_prefix(symbol.name_bytes().unwrap_or_default());
        // Labels such as `$x` mark instruction sets (ARM, RISC-V), not functions.
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
    // Reverse before the stable sort: of equally ranked names the first in the table then comes last, and is chosen.
    candidates.reverse();
    candidates.sort_by_key(|candidate| (candidate.start, candidate.alias.rank()));
    cover(&candidates, &last_starts, addresses)
}

/// Returns the end addresses of executable sections by section index; `None` for other sections.
fn code_ends(elf: &Elf<'_>) -> Vec<Option<u64>> {
    let count = elf.sections().map(|section| section.index().0 + 1).max();
    let mut ends = vec![None; count.unwrap_or(0)];
    for section in elf.sections().filter(is_executable) {
        ends[section.index().0] = Some(section.address().saturating_add(section.size()));
    }
    ends
}

/// Returns for each address the candidate with the highest start that covers the address.
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
