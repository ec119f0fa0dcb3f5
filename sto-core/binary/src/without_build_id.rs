//! Modules recorded without a build id: which file can be trusted to be the one that ran.

use super::elf::ElfFile;
use super::found::{Found, recorded_path};
use std::path::Path;
use std::time::SystemTime;
use sto_model::{Hint, Notice};
use sto_model::{Module, SymbolOptions};

/// Returns the path of the file that the user gave for a module.
pub fn path_from_user<'o>(module: &Module, options: &'o SymbolOptions) -> Option<&'o Path> {
    let mut given = options.symbol_files.iter();
    let (_, path) = given.find(|(file, _)| has_path_or_name(module, file))?;
    Some(path)
}

/// Returns `true` if a module has this path or base name.
pub fn has_path_or_name(module: &Module, file: &str) -> bool {
    recorded_path(module) == Path::new(file) || module.name() == file
}

/// Finds the file of a module that was recorded without a build id.
///
/// # Errors
/// Returns a notice with the reason and a remedy if no file can be trusted.
pub fn find_without_build_id(module: &Module, options: &SymbolOptions) -> Result<Found, Notice> {
    let Some(path) = path_from_user(module, options) else {
        return find_by_inode(module, options.recording_modified);
    };
    match ElfFile::open(path)? {
        Some(file) => Ok(Found::new(file)),
        None => Err(Notice::from(format!(
            "the file {}, which was given for {}, does not exist",
            path.display(),
            module.path
        ))),
    }
}

/// Opens the file at the recorded path if it is still the one that was mapped.
///
/// Without a build id, only the inode number can show that. A file system may reuse the number of a deleted file, such
/// as for the next output of a linker, so the file must not be newer than the recording either.
fn find_by_inode(module: &Module, recorded: Option<SystemTime>) -> Result<Found, Notice> {
    let refuse = |why: &str| {
        let text = format!(
            "the recording has no build id of {}, and {why}, so no file can be trusted to be the one that ran; link the program with -Wl,--build-id and have the profiler record the id (`perf record --buildid-all`), or give its file",
            module.path
        );
        Err(Notice::new(text, Hint::SymbolFolder))
    };
    let path = Path::new(&module.path);
    let Some(inode) = module.inode else {
        return refuse("no inode number either");
    };
    if !path.is_absolute() {
        return refuse("its path is not absolute");
    }
    let is_newer = |file: &ElfFile| recorded.is_some_and(|recorded| file.written > Some(recorded));
    match ElfFile::open(path) {
        Ok(Some(file)) if file.inode == inode && !is_newer(&file) => Ok(Found::new(file)),
        Ok(Some(_)) => refuse("the path has another file now"),
        Ok(None) => refuse("the file no longer exists"),
        Err(problem) => Err(problem.into()),
    }
}
