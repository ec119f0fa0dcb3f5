//! Kernel modules (`.ko`) as they are in memory.
//!
//! Such a file is relocatable: its sections have no addresses, and its debug info none of its code, until the kernel
//! loads it. Source: `layout_sections` in Linux' `kernel/module/main.c`; *System V ABI*, chapters 4 and 5.

use super::elf::{Detail, ElfFile, is_executable};
use super::lazy_file::LazyFile;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget, elf};
use std::io::Write;
use std::ops::Range;
use sto_model::files::MemoryFile;

type Module<'data> = ElfFile64<'data, object::Endianness, &'data LazyFile>;

/// Where `.text` is put, beyond all that a file has.
const TEXT: u64 = 1 << 32;

/// Parts of the structures of a file (`Elf64_Ehdr`, `Elf64_Shdr`, `Elf64_Sym`): where they are, or how long they are.
mod layout {
    pub(super) const E_TYPE: u64 = 16;
    pub(super) const SECTION: u64 = 64;
    pub(super) const SH_FLAGS: u64 = 8;
    pub(super) const SH_ADDR: u64 = 16;
    pub(super) const SH_OFFSET: u64 = 24;
    pub(super) const SH_SIZE: u64 = 32;
    pub(super) const SYMBOL: u64 = 24;
    pub(super) const ST_VALUE: u64 = 8;
}

/// A module with addresses.
pub struct Loaded {
    /// The module's file.
    pub file: ElfFile,
    /// Those of its code; they begin with `.text`.
    pub code: Range<u64>,
}

impl Loaded {
    /// Gives a module addresses; `None` where it is none of a 64-bit little-endian machine.
    pub fn of(file: &ElfFile) -> Option<Loaded> {
        let object::File::Elf64(module) = file.parse().ok()? else {
            return None;
        };
        let header = module.elf_header();
        if !module.is_little_endian() || header.e_type.get(module.endian()) != elf::ET_REL {
            return None;
        }
        let (addresses, end) = lay_out(&module)?;
        let mut image = Image {
            bytes: file.bytes()?.to_owned(),
            module: &module,
            addresses,
        };
        image.put(layout::E_TYPE, &elf::ET_EXEC.0.to_le_bytes())?;
        image.place_sections()?;
        image.place_symbols()?;
        let is_complete = file.is_credible() && image.relocate_debug_info().is_some();
        let memory = MemoryFile::new().ok()?;
        memory.file().write_all(&image.bytes).ok()?;
        drop(image.bytes);
        let mut loaded = ElfFile::open(&memory.path()).ok()??;
        loaded.path.clone_from(&file.path);
        if !is_complete {
            loaded.detail = loaded.detail.min(Detail::Names);
        }
        Some(Loaded {
            file: loaded,
            code: TEXT..end,
        })
    }
}

/// The addresses of sections, by index, and where the code ends: the kernel puts the sections with code one after
/// another, but those that it drops once they ran elsewhere. perf takes where it put `.text` for where the module is.
fn lay_out(module: &Module<'_>) -> Option<(Vec<u64>, u64)> {
    let mut addresses = vec![0; module.elf_section_table().len()];
    let mut end = None;
    for section in module.sections().filter(is_executable) {
        let name = section.name().ok()?;
        let start = match end {
            None if name == ".text" => TEXT,
            Some(end) if !name.starts_with(".init") => {
                u64::checked_next_multiple_of(end, section.align().max(1))?
            }
            _ => continue,
        };
        addresses[section.index().0] = start;
        end = Some(start.checked_add(section.size())?);
    }
    Some((addresses, end?))
}

/// The bytes of a module that is given addresses.
struct Image<'a> {
    bytes: Vec<u8>,
    module: &'a Module<'a>,
    addresses: Vec<u64>,
}

impl Image<'_> {
    fn put(&mut self, at: u64, value: &[u8]) -> Option<()> {
        let at = usize::try_from(at).ok()?;
        let place = self.bytes.get_mut(at..at.checked_add(value.len())?)?;
        place.copy_from_slice(value);
        Some(())
    }

    /// The address of a symbol, whose value counts from its section's start.
    fn address_of<'data>(&self, symbol: &impl ObjectSymbol<'data>) -> u64 {
        let section = symbol.section_index();
        let start = section.and_then(|section| self.addresses.get(section.0));
        symbol
            .address()
            .wrapping_add(start.copied().unwrap_or_default())
    }

    /// Where a field of a section's header is.
    fn field_of(&self, section: usize, field: u64) -> u64 {
        let header = self.module.elf_header();
        header.e_shoff.get(self.module.endian()) + section as u64 * layout::SECTION + field
    }

    fn place_sections(&mut self) -> Option<()> {
        for section in 0..self.addresses.len() {
            let address = self.addresses[section].to_le_bytes();
            self.put(self.field_of(section, layout::SH_ADDR), &address)?;
        }
        Some(())
    }

    fn place_symbols(&mut self) -> Option<()> {
        let table = self.module.elf_symbol_table().section();
        let (table, _) = self.module.section_by_index(table).ok()?.file_range()?;
        for symbol in self.module.symbols() {
            let address = self.address_of(&symbol).to_le_bytes();
            let at = table + symbol.index().0 as u64 * layout::SYMBOL;
            self.put(at + layout::ST_VALUE, &address)?;
        }
        Some(())
    }

    /// Puts the addresses into the debug info; `None` where that is not possible, or not everywhere.
    fn relocate_debug_info(&mut self) -> Option<()> {
        for section in self.module.sections() {
            if !section.name().is_ok_and(|name| name.starts_with(".debug_")) {
                continue;
            }
            let packed = section.compressed_file_range().ok()?;
            let start = match packed.format {
                object::CompressionFormat::None => packed.offset,
                _ => {
                    let start = self.bytes.len() as u64;
                    let unpacked = section.uncompressed_data().ok()?;
                    self.bytes.extend_from_slice(&unpacked);
                    for (field, value) in [
                        (layout::SH_FLAGS, 0),
                        (layout::SH_OFFSET, start),
                        (layout::SH_SIZE, unpacked.len() as u64),
                    ] {
                        let at = self.field_of(section.index().0, field);
                        self.put(at, &value.to_le_bytes())?;
                    }
                    start
                }
            };
            for (offset, relocation) in section.relocations() {
                let RelocationTarget::Symbol(symbol) = relocation.target() else {
                    return None;
                };
                if relocation.kind() != RelocationKind::Absolute || relocation.has_implicit_addend()
                {
                    return None;
                }
                let symbol = self.module.symbol_by_index(symbol).ok()?;
                let address = self.address_of(&symbol);
                let value = address
                    .wrapping_add_signed(relocation.addend())
                    .to_le_bytes();
                let at = start.checked_add(offset)?;
                self.put(at, value.get(..usize::from(relocation.size() / 8))?)?;
            }
        }
        Some(())
    }
}
