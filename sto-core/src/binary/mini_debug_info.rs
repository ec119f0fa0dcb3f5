//! The names of functions that a stripped file carries with it, compressed (`.gnu_debugdata`, *MiniDebugInfo*).
//!
//! Fedora and others put a file of its own there, with the `.symtab` of functions that `.dynsym` does not have.
//! Source: *Debugging with GDB*, section *MiniDebugInfo*.

use super::elf::ElfFile;
use crate::files::MemoryFile;
use lzma_rust2::XzReader;
use object::{Object, ObjectSection};
use std::io::{Read, copy};

/// How many times larger than packed such a file may be, beside what any may have: names and addresses are packed to a
/// fifth or so.
const MAX_RATIO: u64 = 64;
const FREE: u64 = 1 << 20;
/// Most memory that unpacking it may ask for, in KiB: what `xz -9` asks for.
const MAX_MEMORY: u32 = 65 << 10;

/// That file, where this one has it and it can be read.
pub(crate) fn mini_debug_info(file: &ElfFile) -> Option<ElfFile> {
    let elf = file.parse().ok()?;
    let packed = elf.section_by_name(".gnu_debugdata")?.data().ok()?;
    let memory = MemoryFile::new().ok()?;
    let unpacked = XzReader::new_mem_limit(packed, false, MAX_MEMORY);
    let most = FREE + MAX_RATIO * packed.len() as u64;
    let size = copy(&mut unpacked.take(most + 1), &mut memory.file()).ok()?;
    if size > most {
        return None;
    }
    ElfFile::open(&memory.path()).ok()?
}
