//! The names of functions that a stripped file carries with it, compressed (`.gnu_debugdata`, *MiniDebugInfo*).
//!
//! Fedora and others put a file of its own there, with the `.symtab` of functions that `.dynsym` does not have.
//! Source: *Debugging with GDB*, section *MiniDebugInfo*.

use super::elf::ElfFile;
use crate::files::MemoryFile;
use lzma_rust2::XzReader;
use object::{Object, ObjectSection};
use std::io::{Read, copy};

/// Most bytes of such a file: a list of names and addresses.
const MAX_SIZE: u64 = 256 << 20;
/// Most memory that unpacking it may ask for, in KiB: what `xz -9` asks for.
const MAX_MEMORY: u32 = 65 << 10;

/// That file, where this one has it and it can be read.
pub(crate) fn mini_debug_info(file: &ElfFile) -> Option<ElfFile> {
    let elf = file.parse().ok()?;
    let packed = elf.section_by_name(".gnu_debugdata")?.data().ok()?;
    let memory = MemoryFile::new().ok()?;
    let unpacked = XzReader::new_mem_limit(packed, false, MAX_MEMORY);
    let size = copy(&mut unpacked.take(MAX_SIZE + 1), &mut memory.file()).ok()?;
    if size > MAX_SIZE {
        return None;
    }
    ElfFile::open(&memory.path()).ok()?
}
