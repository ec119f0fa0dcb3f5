//! The user's machine and work tree.

use super::environment::Environment;
use super::work_tree::WorkTree;
use std::path::{Path, PathBuf};
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, SymbolOptions, ingest};
use sto_core::store::Store;

/// The surroundings that the command `sto` sees: the symbols of this machine, and a git work tree.
///
/// The front page of this crate has an example.
#[derive(Clone, Debug)]
pub struct Surroundings {
    work_tree: WorkTree,
    temporary_folder: PathBuf,
}

impl Surroundings {
    /// The surroundings of a program in a folder, whose git work tree knows revisions and source files.
    ///
    /// Asks the system for the user's home and the folder for temporary files.
    pub fn from_git(folder: &Path) -> Surroundings {
        Surroundings {
            work_tree: WorkTree::containing(folder),
            temporary_folder: std::env::temp_dir(),
        }
    }
}

impl Environment for Surroundings {
    fn work_tree(&self) -> Option<&WorkTree> {
        Some(&self.work_tree)
    }

    fn read(
        &self,
        memory: &Store,
        file: &Path,
        options: IngestOptions,
    ) -> Result<IngestOutcome, IngestError> {
        let options = IngestOptions {
            symbols: SymbolOptions::system().for_recording(file),
            call_folder: Some(self.temporary_folder.clone()),
            ..options
        };
        ingest(memory, file, &options, &mut |_| {})
    }
}
