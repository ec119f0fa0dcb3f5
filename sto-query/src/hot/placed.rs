//! Which file of a work tree each file of the profiles is.

use super::{FileNo, HotIndex, digest_of};
use crate::source::{SourceTree, read_bytes};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::model::SourceDigest;

/// Where the source files of a [`HotIndex`] are in a work tree.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Placed {
    paths: BTreeMap<FileNo, PathBuf>,
    files: HashMap<PathBuf, Vec<FileNo>>,
    doubtful: Vec<(FileNo, Vec<PathBuf>)>,
}

impl HotIndex {
    /// Looks for its source files in a work tree; `chosen` says, by paths of profiles, which of several files were
    /// meant before. Else those are meant that have the digest of what was built, where any has.
    pub fn placed(&self, tree: &SourceTree, chosen: &BTreeMap<String, PathBuf>) -> Placed {
        let mut placed = Placed::default();
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

fn has_digest(path: &Path, digest: SourceDigest) -> bool {
    read_bytes(path).is_ok_and(|text| digest_of(&text) == digest)
}

impl Placed {
    /// The files of the profiles that a file of the work tree is, in order. Its path is absolute and has no symbolic
    /// links in it.
    pub fn of(&self, path: &Path) -> &[FileNo] {
        self.files.get(path).map_or(&[], |files| files)
    }

    /// Where a file of the profiles is.
    pub fn path(&self, file: FileNo) -> Option<&Path> {
        self.paths.get(&file).map(PathBuf::as_path)
    }

    /// The files of the profiles that were found, in order.
    pub fn paths(&self) -> impl Iterator<Item = (FileNo, &Path)> {
        self.paths
            .iter()
            .map(|(&file, path)| (file, path.as_path()))
    }

    /// The files of the profiles that may be any of several, in order.
    pub fn doubtful(&self) -> &[(FileNo, Vec<PathBuf>)] {
        &self.doubtful
    }
}
