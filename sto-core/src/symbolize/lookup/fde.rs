//! The start addresses of functions, from the call frame information, which stays when a file is stripped.
//!
//! Compilers write one frame description entry (FDE) for each function, or for each part of a function that was split.
//! Source: *Linux Standard Base Core Specification*, section *Exception Frames* (`.eh_frame`).

use gimli::{BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EndianSlice, UnwindSection};
use object::{Object, ObjectSection};
use sto_binary::elf::{Elf, ElfFile, endian_of};

/// The functions of a file, in ascending order of virtual addresses.
pub(super) struct Functions(Vec<Function>);

struct Function {
    start: u64,
    end: u64,
}

impl Functions {
    /// Reads the functions of a file, up to the first entry that cannot be read.
    pub(super) fn read(file: &ElfFile) -> Functions {
        let mut functions = file
            .parse()
            .ok()
            .and_then(|elf| read_entries(&elf))
            .unwrap_or_default();
        functions.sort_unstable_by_key(|function| function.start);
        Functions(functions)
    }

    /// Returns the first address of the function that has an address.
    pub(super) fn start_of(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|function| function.start <= address);
        let last = &self.0[after.checked_sub(1)?];
        (address < last.end).then_some(last.start)
    }
}

fn read_entries(elf: &Elf<'_>) -> Option<Vec<Function>> {
    let section = elf.section_by_name(".eh_frame")?;
    let address_of = |name| elf.section_by_name(name).map(|section| section.address());
    let mut bases = BaseAddresses::default().set_eh_frame(section.address());
    if let Some(text) = address_of(".text") {
        bases = bases.set_text(text);
    }
    if let Some(got) = address_of(".got") {
        bases = bases.set_got(got);
    }
    let mut eh_frame = EhFrame::from(EndianSlice::new(section.data().ok()?, endian_of(elf)));
    eh_frame.set_address_size(if elf.is_64() { 8 } else { 4 });
    // Most entries share the common information entry (CIE) of the previous one.
    let mut last = None;
    let mut functions = Vec::new();
    let mut entries = eh_frame.entries(&bases);
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else {
            continue;
        };
        let fde = partial.parse(|section, bases, offset| match &last {
            Some((known, cie)) if *known == offset => Ok(CommonInformationEntry::clone(cie)),
            _ => {
                let cie = section.cie_from_offset(bases, offset)?;
                Ok(last.insert((offset, cie)).1.clone())
            }
        });
        let Ok(fde) = fde else {
            continue;
        };
        functions.push(Function {
            start: fde.initial_address(),
            end: fde.initial_address().saturating_add(fde.len()),
        });
    }
    Some(functions)
}
