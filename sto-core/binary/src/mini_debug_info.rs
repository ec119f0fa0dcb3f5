//! MiniDebugInfo: a compressed symbol table inside a stripped file.
//!
//! Fedora and other distributions embed an ELF file in the section `.gnu_debugdata`, compressed by xz; its `.symtab`
//! has the functions that `.dynsym` lacks. Source: *Debugging with GDB*, section *MiniDebugInfo*.

use super::elf::ElfFile;
use super::unpack::unpack_xz;
use object::{Object, ObjectSection};

/// Returns the embedded file, if there is one and it can be read.
pub fn mini_debug_info(file: &ElfFile) -> Option<ElfFile> {
    let elf = file.parse().ok()?;
    let packed = elf.section_by_name(".gnu_debugdata")?.data().ok()?;
    let memory = unpack_xz(packed, packed.len() as u64).ok()?;
    ElfFile::open(&memory.path()).ok()?
}
