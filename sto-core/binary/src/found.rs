//! What is found of a module.

use super::elf::ElfFile;
use std::path::Path;
use sto_model::Module;

/// The files that describe a module.
#[derive(Debug)]
pub struct Found {
    /// The one that says most of its functions.
    pub symbols: ElfFile,
    /// The one that was mapped, where `symbols` is only its separate debug file.
    pub image: Option<ElfFile>,
    /// Why a server did not say whether it has one that says more.
    pub unanswered: Option<String>,
}

impl Found {
    pub(super) fn of(file: ElfFile) -> Found {
        Found {
            symbols: file,
            image: None,
            unanswered: None,
        }
    }
}

/// The recorded path, without the mark of a file that was deleted while it was mapped.
pub(super) fn recorded_path(module: &Module) -> &Path {
    let path = module.path.as_str();
    Path::new(path.strip_suffix(" (deleted)").unwrap_or(path))
}

/// What servers are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    /// A file with debug info.
    DebugInfo,
    /// The file that was mapped.
    Executable,
}
