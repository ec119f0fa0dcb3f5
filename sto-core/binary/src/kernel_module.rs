//! Kernel modules (`.ko`), linked as the kernel links them when it loads them.
//!
//! These files are relocatable: their sections have no addresses, and their debug info has no addresses of code, until
//! the kernel loads them. Sources: `layout_sections` in Linux' `kernel/module/main.c`; *System V ABI*, chapters 4 and 5.

use super::elf::{Detail, ElfFile, is_executable, section_data};
use super::lazy_file::LazyFile;
use object::read::elf::ElfFile64;
use object::{Object, ObjectSection, ObjectSymbol, RelocationKind, RelocationTarget, elf};
use std::io::Write;
use std::ops::Range;
use sto_model::files::MemoryFile;

type Module<'data> = ElfFile64<'data, object::Endianness, &'data LazyFile>;

/// The address given to `.text`, larger than any offset in a file.
const TEXT: u64 = 1 << 32;

/// Offsets of fields in `Elf64_Ehdr`, `Elf64_Shdr` and `Elf64_Sym`, and the sizes of the latter two.
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

/// A kernel module whose sections, symbols and debug info have addresses.
pub struct LoadedModule {
    /// A relocated copy of the module's file.
    pub file: ElfFile,
    /// The addresses of its code, beginning with `.text`.
    pub code: Range<u64>,
}

impl LoadedModule {
    /// Relocates a copy of a module. Returns `None` unless it is a kernel module of a 64-bit little-endian machine.
    pub fn new(file: &ElfFile) -> Option<LoadedModule> {
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
        image.write(layout::E_TYPE, &elf::ET_EXEC.0.to_le_bytes())?;
        image.place_sections()?;
        image.place_symbols()?;
        let is_complete = file.has_credible_sizes() && image.relocate_debug_info().is_some();
        let memory = MemoryFile::new().ok()?;
        memory.file().write_all(&image.bytes).ok()?;
        drop(image.bytes);
        let mut loaded = ElfFile::open(&memory.path()).ok()??;
        loaded.path.clone_from(&file.path);
        if !is_complete {
            loaded.detail = loaded.detail.min(Detail::Names);
        }
        Some(LoadedModule {
            file: loaded,
            code: TEXT..end,
        })
    }
}

/// Returns the address of each section by index, and the end address of the code.
///
/// The kernel puts the sections with code one after another, except for `.init*`, which it frees after initialisation.
/// perf records the address of `.text` as the address of the module.
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

/// The bytes of a module that is being relocated.
struct Image<'a> {
    bytes: Vec<u8>,
    module: &'a Module<'a>,
    addresses: Vec<u64>,
}

impl Image<'_> {
    fn write(&mut self, at: u64, value: &[u8]) -> Option<()> {
        let at = usize::try_from(at).ok()?;
        let place = self.bytes.get_mut(at..at.checked_add(value.len())?)?;
        place.copy_from_slice(value);
        Some(())
    }

    /// Returns the address of a symbol: its value is relative to the start of its section.
    fn address_of<'data>(&self, symbol: &impl ObjectSymbol<'data>) -> u64 {
        let section = symbol.section_index();
        let start = section.and_then(|section| self.addresses.get(section.0));
        symbol
            .address()
            .wrapping_add(start.copied().unwrap_or_default())
    }

    /// Returns the file offset of a field in a section's header.
    fn field_offset(&self, section: usize, field: u64) -> u64 {
        let header = self.module.elf_header();
        header.e_shoff.get(self.module.endian()) + section as u64 * layout::SECTION + field
    }

    fn place_sections(&mut self) -> Option<()> {
        for section in 0..self.addresses.len() {
            let address = self.addresses[section].to_le_bytes();
            self.write(self.field_offset(section, layout::SH_ADDR), &address)?;
        }
        Some(())
    }

    fn place_symbols(&mut self) -> Option<()> {
        let table = self.module.elf_symbol_table().section();
        let (table, _) = self.module.section_by_index(table).ok()?.file_range()?;
        for symbol in self.module.symbols() {
            let address = self.address_of(&symbol).to_le_bytes();
            let at = table + symbol.index().0 as u64 * layout::SYMBOL;
            self.write(at + layout::ST_VALUE, &address)?;
        }
        Some(())
    }

    /// Writes the addresses into the debug info. Returns `None` if a relocation cannot be applied.
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
                    let unpacked = section_data(&section).ok()?;
                    self.bytes.extend_from_slice(&unpacked);
                    for (field, value) in [
                        (layout::SH_FLAGS, 0),
                        (layout::SH_OFFSET, start),
                        (layout::SH_SIZE, unpacked.len() as u64),
                    ] {
                        let at = self.field_offset(section.index().0, field);
                        self.write(at, &value.to_le_bytes())?;
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
                self.write(at, value.get(..usize::from(relocation.size() / 8))?)?;
            }
        }
        Some(())
    }
}
