//! The folders in which a module was compiled.

use super::elf::ElfFile;
use gimli::{EndianSlice, RunTimeEndian};
use object::{Object, ObjectSection};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The outermost of a module's compilation directories, as parts of their paths.
///
/// Relative ones are left out: a build that has them is already independent of its folder.
#[derive(Debug, Default)]
pub(super) struct CompilationDirs(Vec<Vec<String>>);

impl CompilationDirs {
    /// The directories among these that no other holds.
    pub(super) fn new<'a>(dirs: impl IntoIterator<Item = &'a str>) -> CompilationDirs {
        let dirs: BTreeSet<Vec<String>> = dirs
            .into_iter()
            .filter(|dir| dir.starts_with('/'))
            .map(|dir| {
                let parts = dir.split('/').filter(|part| !matches!(*part, "" | "."));
                parts.map(str::to_owned).collect()
            })
            .filter(|parts: &Vec<String>| !parts.is_empty() && !parts.iter().any(|p| p == ".."))
            .collect();
        let mut outermost: Vec<Vec<String>> = Vec::new();
        for dir in dirs {
            // A directory sorts right before those it holds.
            if outermost.last().is_none_or(|outer| !dir.starts_with(outer)) {
                outermost.push(dir);
            }
        }
        CompilationDirs(outermost)
    }

    /// How many parts of the path are a compilation directory.
    pub(super) fn prefix_of(&self, path: &[&str]) -> Option<usize> {
        let dir = self.0.iter().find(|dir| {
            path.len() >= dir.len() && dir.iter().zip(path).all(|(a, b)| a.as_str() == *b)
        })?;
        Some(dir.len())
    }

    /// The compilation directories that a file's units name; none where they cannot be read.
    pub(super) fn read(file: &ElfFile) -> CompilationDirs {
        Self::try_read(file).unwrap_or_default()
    }

    fn try_read(file: &ElfFile) -> Option<CompilationDirs> {
        let elf = file.parse().ok()?;
        let endian = match elf.is_little_endian() {
            true => RunTimeEndian::Little,
            false => RunTimeEndian::Big,
        };
        let load = |id: gimli::SectionId| -> Result<Cow<'_, [u8]>, gimli::Error> {
            use gimli::SectionId as Id;
            let needed = matches!(
                id,
                Id::DebugAbbrev
                    | Id::DebugInfo
                    | Id::DebugLine
                    | Id::DebugLineStr
                    | Id::DebugStr
                    | Id::DebugStrOffsets
            );
            let section = needed.then(|| elf.section_by_name(id.name())).flatten();
            let data = section.and_then(|section| section.uncompressed_data().ok());
            Ok(data.unwrap_or_default())
        };
        let sections = gimli::DwarfSections::load(load).ok()?;
        let mut dwarf = sections.borrow(|section| EndianSlice::new(section, endian));
        dwarf.populate_abbreviations_cache(gimli::AbbreviationsCacheStrategy::Duplicates);

        let mut dirs = BTreeSet::new();
        let mut units = dwarf.units();
        while let Ok(Some(header)) = units.next() {
            if let Ok(unit) = dwarf.unit(header)
                && let Some(dir) = unit.comp_dir
            {
                dirs.insert(dir.slice());
            }
        }
        let dirs: Vec<Cow<'_, str>> = dirs.into_iter().map(String::from_utf8_lossy).collect();
        Some(CompilationDirs::new(dirs.iter().map(Cow::as_ref)))
    }
}
