//! Split debug info (`-gsplit-dwarf`) in one file for each unit (`.dwo`).

use super::section::{Section, section};
use gimli::{Dwarf, DwarfFileType, DwarfSections, DwoId, EndianSlice, Reader, Section as _};
use object::Object;
use std::borrow::Cow;
use std::path::PathBuf;
use sto_binary::elf::{ElfFile, endian_of};
use sto_binary::find::dwo_paths;
use sto_model::SymbolOptions;
use sto_model::system::os_string_from_bytes;

/// The `.dwo` files of a module, with the ids of their units.
#[derive(Default)]
pub(super) struct SplitFiles(Vec<(DwoId, ElfFile)>);

/// The sections of [`SplitFiles`].
#[derive(Default)]
pub(super) struct SplitSections<'a>(Vec<(DwoId, DwarfSections<Cow<'a, [u8]>>)>);

impl SplitFiles {
    /// Finds the `.dwo` files of the units that have any of these addresses, which are in ascending order. A file is
    /// only used if it has the unit's id.
    pub(super) fn find(file: &ElfFile, addresses: &[u64], options: &SymbolOptions) -> SplitFiles {
        SplitFiles::try_find(file, addresses, options).unwrap_or_default()
    }

    fn try_find(file: &ElfFile, addresses: &[u64], options: &SymbolOptions) -> Option<SplitFiles> {
        let elf = file.parse().ok()?;
        // Split debug info keeps its addresses in this section of the main file.
        elf.section_by_name(".debug_addr")?;
        if !file.has_credible_sizes() {
            return None;
        }
        let endian = endian_of(&elf);
        let sections = DwarfSections::load(|id| section(file, Some(id.name()))).ok()?;
        let dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
        let mut split = Vec::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            let Ok(unit) = dwarf.unit(header) else {
                continue;
            };
            let (Some(id), Ok(Some(name))) = (unit.dwo_id, unit.dwo_name()) else {
                continue;
            };
            let Ok(name) = dwarf.attr_string(&unit, name) else {
                continue;
            };
            let Ok(mut ranges) = dwarf.unit_ranges(&unit) else {
                continue;
            };
            let mut is_used = false;
            while let (false, Ok(Some(range))) = (is_used, ranges.next()) {
                let from = addresses.partition_point(|&address| address < range.begin);
                is_used = addresses
                    .get(from)
                    .is_some_and(|&address| address < range.end);
            }
            if is_used {
                let path = |text: &Section<'_>| PathBuf::from(os_string_from_bytes(text.slice()));
                let folder = unit.comp_dir.as_ref().map(path);
                let paths = dwo_paths(file, &path(&name), folder.as_deref(), options);
                let mut files = paths.iter().filter_map(|path| ElfFile::open(path).ok()?);
                split.extend(files.find(|file| has_unit(file, id)).map(|file| (id, file)));
            }
        }
        Some(SplitFiles(split))
    }

    pub(super) fn sections(&self) -> SplitSections<'_> {
        let sections = self.0.iter();
        SplitSections(
            sections
                .filter_map(|(id, file)| Some((*id, load(file)?)))
                .collect(),
        )
    }
}

impl<'a> SplitSections<'a> {
    /// Returns the split debug info of the unit with an id; `parent` is the debug info that refers to it.
    pub(super) fn unit(
        &'a self,
        id: DwoId,
        parent: &Dwarf<Section<'a>>,
    ) -> Option<Dwarf<Section<'a>>> {
        let (_, sections) = self.0.iter().find(|(known, _)| *known == id)?;
        let endian = parent.debug_info.reader().endian();
        let mut dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
        dwarf.make_dwo(parent);
        Some(dwarf)
    }
}

fn load(file: &ElfFile) -> Option<DwarfSections<Cow<'_, [u8]>>> {
    let has_credible_sizes = file.has_credible_sizes();
    has_credible_sizes.then(|| DwarfSections::load(|id| section(file, id.dwo_name())).ok())?
}

fn has_unit(file: &ElfFile, id: DwoId) -> bool {
    let Some((sections, elf)) = load(file).zip(file.parse().ok()) else {
        return false;
    };
    let endian = endian_of(&elf);
    let mut dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
    dwarf.file_type = DwarfFileType::Dwo;
    let mut units = dwarf.units();
    while let Ok(Some(header)) = units.next() {
        if dwarf.unit(header).is_ok_and(|unit| unit.dwo_id == Some(id)) {
            return true;
        }
    }
    false
}
