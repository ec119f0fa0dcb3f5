//! Stubs in the procedure linkage table (PLT), which have no symbols of their own.

use super::symtab::Symbol;
use hashbrown::HashMap;
use object::{
    Architecture, Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget,
};
use std::borrow::Cow;
use sto_binary::elf::{Elf, is_executable};

/// Returns for each address in a PLT stub the function that the stub jumps to, as `name@plt`.
///
/// Only x86-64 stubs that jump through a slot of the global offset table (GOT) are recognised.
pub(super) fn find<'data>(elf: &Elf<'data>, addresses: &[u64]) -> Vec<Option<Symbol<'data>>> {
    let mut found = vec![None; addresses.len()];
    if elf.architecture() != Architecture::X86_64 {
        return found;
    }
    let mut targets = None;
    // Linkers write each of these sections at most once.
    for name in [".plt", ".plt.sec", ".plt.got"] {
        let Some(section) = elf.section_by_name(name).filter(is_executable) else {
            continue;
        };
        let size = match name {
            ".plt.got" => section.align().clamp(8, 16),
            _ => 16,
        };
        let (start, Ok(code)) = (section.address(), section.data()) else {
            continue;
        };
        let first = addresses.partition_point(|&address| address < start);
        for (index, &address) in addresses.iter().enumerate().skip(first) {
            let stub = (address - start) / size * size;
            let Some(code) = code.get(stub as usize..) else {
                break;
            };
            let Some(slot) = jump_slot(code, start + stub) else {
                continue;
            };
            let targets = targets.get_or_insert_with(|| slot_names(elf));
            if let Some(&name) = targets.get(&slot) {
                found[index] = Some(Symbol {
                    start: start + stub,
                    name: Cow::Owned([name, b"@plt"].concat()),
                });
            }
        }
    }
    found
}

/// Returns the address of the GOT slot that the stub at `address` jumps through: `jmp *slot(%rip)`, optionally after
/// `endbr64` and with a `bnd` prefix.
fn jump_slot(code: &[u8], address: u64) -> Option<u64> {
    const ENDBR64: &[u8] = &[0xf3, 0x0f, 0x1e, 0xfa];
    const BND: &[u8] = &[0xf2];
    const JMP: &[u8] = &[0xff, 0x25];
    let rest = code.strip_prefix(ENDBR64).unwrap_or(code);
    let rest = rest.strip_prefix(BND).unwrap_or(rest);
    let (displacement, rest) = rest.strip_prefix(JMP)?.split_first_chunk()?;
    let next = address.wrapping_add((code.len() - rest.len()) as u64);
    Some(next.wrapping_add_signed(i32::from_le_bytes(*displacement).into()))
}

/// Returns the symbols whose addresses the loader writes into the slots of the GOT, by slot.
fn slot_names<'data>(elf: &Elf<'data>) -> HashMap<u64, &'data [u8]> {
    let mut names = HashMap::new();
    let (Some(relocations), Some(symbols)) =
        (elf.dynamic_relocations(), elf.dynamic_symbol_table())
    else {
        return names;
    };
    for (slot, relocation) in relocations {
        if let RelocationTarget::Symbol(index) = relocation.target()
            && let Ok(symbol) = symbols.symbol_by_index(index)
            && let Ok(name) = symbol.name_bytes()
            && !name.is_empty()
        {
            names.insert(slot, name);
        }
    }
    names
}
