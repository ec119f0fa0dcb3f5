//! Sections of ELF files that have DWARF.

use gimli::{EndianSlice, RunTimeEndian};
use object::Object;
use std::borrow::Cow;
use sto_binary::elf::{ElfFile, section_data};

pub(super) type Section<'a> = EndianSlice<'a, RunTimeEndian>;

/// Why a section cannot be read.
pub(super) struct Unreadable(pub(super) String);

impl<E: std::error::Error> From<E> for Unreadable {
    fn from(error: E) -> Unreadable {
        Unreadable(error.to_string())
    }
}

/// Returns the decompressed contents of a section; empty if the file has no section of that name.
pub(super) fn section<'a>(
    file: &'a ElfFile,
    name: Option<&str>,
) -> Result<Cow<'a, [u8]>, Unreadable> {
    let elf = file.parse()?;
    match name.and_then(|name| elf.section_by_name(name)) {
        Some(section) => Ok(section_data(&section)?),
        None => Ok(Cow::Borrowed(&[])),
    }
}
