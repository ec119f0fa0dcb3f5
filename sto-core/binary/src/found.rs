//! The files found for a module.

use super::elf::ElfFile;
use std::path::{Component, Path, PathBuf};
use sto_model::Module;

/// The files that describe a module.
#[derive(Debug)]
pub struct Found {
    /// The file with the most detail about the module's functions.
    pub symbols: ElfFile,
    /// The file that was mapped, if `symbols` is only its separate debug file.
    pub image: Option<ElfFile>,
    /// Why a debuginfod server could not be asked for a file with more detail.
    pub unanswered: Option<String>,
}

impl Found {
    pub(super) fn new(file: ElfFile) -> Found {
        Found {
            symbols: file,
            image: None,
            unanswered: None,
        }
    }
}

/// The recorded path, without the ` (deleted)` that the kernel appends to files deleted while mapped.
pub(super) fn recorded_path(module: &Module) -> &Path {
    let path = module.path.as_str();
    Path::new(path.strip_suffix(" (deleted)").unwrap_or(path))
}

/// Returns a recorded path below another root, without any `..`.
pub(super) fn rebase(root: &Path, path: &Path) -> PathBuf {
    let parts = path.components().filter_map(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let mut rebased = root.to_owned();
    rebased.extend(parts);
    rebased
}

/// A kind of file that debuginfod servers offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Artifact {
    DebugInfo,
    /// The file that was mapped.
    Executable,
}
