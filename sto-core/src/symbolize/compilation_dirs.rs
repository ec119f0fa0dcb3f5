//! The folders in which a module was compiled.

use super::debug_info::Section;
use gimli::Dwarf;
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

    /// Those that units name, as far as these can be read.
    pub(super) fn of(dwarf: &Dwarf<Section<'_>>) -> CompilationDirs {
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
        CompilationDirs::new(dirs.iter().map(Cow::as_ref))
    }
}
