//! The names of functions that a stripped file carries with it, compressed (`.gnu_debugdata`, *MiniDebugInfo*).
//!
//! Fedora and others put a file of its own there, with the `.symtab` of functions that `.dynsym` does not have.
//! Source: *Debugging with GDB*, section *MiniDebugInfo*.

use super::elf::ElfFile;
use super::unpack::unpack_xz;
use object::{Object, ObjectSection};

/// That file, where this one has it and it can be read.
pub fn mini_debug_info(file: &ElfFile) -> Option<ElfFile> {
    let elf = file.parse().ok()?;
    let packed = elf.section_by_name(".gnu_debugdata")?.data().ok()?;
    let memory = unpack_xz(packed, packed.len() as u64).ok()?;
    ElfFile::open(&memory.path()).ok()?
}
