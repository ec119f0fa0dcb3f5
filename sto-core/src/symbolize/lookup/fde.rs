//! Where functions without a name begin: by the call frame information, which stays when a file is stripped.
//!
//! Source: *Linux Standard Base Core Specification*, section *Exception Frames* (`.eh_frame`). Compilers write a
//! frame description entry (FDE) for each function; of one that was split, for each part.

use gimli::{BaseAddresses, CieOrFde, CommonInformationEntry, EhFrame, EndianSlice, UnwindSection};
use object::{Object, ObjectSection};
use sto_binary::elf::{Elf, ElfFile, endian_of};

/// The functions of a file, in the order of their virtual addresses.
pub(super) struct Functions(Vec<Function>);

struct Function {
    start: u64,
    end: u64,
}

impl Functions {
    /// Those that the file describes, up to the first entry that cannot be read.
    pub(super) fn of(file: &ElfFile) -> Functions {
        let mut functions = file
            .parse()
            .ok()
            .and_then(|elf| read(&elf))
            .unwrap_or_default();
        functions.sort_unstable_by_key(|function| function.start);
        Functions(functions)
    }

    /// The first address of the function that an address is in.
    pub(super) fn start_of(&self, address: u64) -> Option<u64> {
        let after = self.0.partition_point(|function| function.start <= address);
        let last = &self.0[after.checked_sub(1)?];
        (address < last.end).then_some(last.start)
    }
}

fn read(elf: &Elf<'_>) -> Option<Vec<Function>> {
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
    // Most entries have the common one (CIE) of the entry before them.
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
