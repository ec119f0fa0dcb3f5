//! Matching of source files in the profiles to files in a work tree.

use super::{FileNo, HotIndex, digest_of};
use crate::source::{SourceTree, read_bytes};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::model::SourceFileDigest;

/// Locations of the source files of a [`HotIndex`] in a work tree.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct PlacedFiles {
    paths: BTreeMap<FileNo, PathBuf>,
    files: HashMap<PathBuf, Vec<FileNo>>,
    doubtful: Vec<(FileNo, Vec<PathBuf>)>,
}

impl HotIndex {
    /// Finds the index's source files in a work tree. `chosen` resolves ambiguous paths of the profiles; otherwise,
    /// files with the same digest as the text at build time are preferred.
    pub fn place_files(
        &self,
        tree: &SourceTree,
        chosen: &BTreeMap<String, PathBuf>,
    ) -> PlacedFiles {
        let mut placed = PlacedFiles::default();
        for file in self.files() {
            let mut found = tree.find(file.path);
            if let Some(chosen) = chosen.get(file.path).filter(|path| found.contains(path)) {
                found = vec![chosen.clone()];
            }
            if let Some(digest) = self.digest(file.number).filter(|_| found.len() > 1) {
                let built = found.iter().filter(|path| has_digest(path, digest));
                let built: Vec<PathBuf> = built.cloned().collect();
                if !built.is_empty() {
                    found = built;
                }
            }
            match <[PathBuf; 1]>::try_from(found) {
                Ok([path]) => {
                    placed
                        .files
                        .entry(path.clone())
                        .or_default()
                        .push(file.number);
                    placed.paths.insert(file.number, path);
                }
                Err(none) if none.is_empty() => {}
                Err(several) => placed.doubtful.push((file.number, several)),
            }
        }
        placed
    }
}

fn has_digest(path: &Path, digest: SourceFileDigest) -> bool {
    read_bytes(path).is_ok_and(|text| digest_of(&text) == digest)
}

impl PlacedFiles {
    /// Returns the files of the profiles that match a file in the work tree, in order. The path must be absolute and
    /// without symbolic links.
    pub fn files_at(&self, path: &Path) -> &[FileNo] {
        self.files.get(path).map_or(&[], |files| files)
    }

    /// Returns the location of a file of the profiles.
    pub fn path(&self, file: FileNo) -> Option<&Path> {
        self.paths.get(&file).map(PathBuf::as_path)
    }

    /// Returns the located files of the profiles, in order.
    pub fn paths(&self) -> impl Iterator<Item = (FileNo, &Path)> {
        self.paths
            .iter()
            .map(|(&file, path)| (file, path.as_path()))
    }

    /// Returns the files of the profiles with several possible locations, in order.
    pub fn ambiguous_files(&self) -> &[(FileNo, Vec<PathBuf>)] {
        &self.doubtful
    }
}
