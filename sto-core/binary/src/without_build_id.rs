//! Files of modules that a recording has no build id of: which are believed, and why.

use super::elf::ElfFile;
use super::found::{Found, recorded_path};
use std::path::Path;
use std::time::SystemTime;
use sto_model::{Hint, Notice};
use sto_model::{Module, SymbolOptions};

/// The file that the user named for a module.
pub fn by_hand<'o>(module: &Module, options: &'o SymbolOptions) -> Option<&'o Path> {
    let named = options.by_hand.iter();
    let mut named = named.filter(|(file, _)| is_called(module, file));
    named.next().map(|(_, path)| path.as_path())
}

/// Whether a module has this path or base name.
pub fn is_called(module: &Module, file: &str) -> bool {
    recorded_path(module) == Path::new(file) || module.name() == file
}

/// Finds the file of a module that was recorded without a build id.
///
/// # Errors
/// Returns a notice that says why no file can be trusted.
pub fn find_without_build_id(module: &Module, options: &SymbolOptions) -> Result<Found, Notice> {
    let Some(path) = by_hand(module, options) else {
        return find_by_inode(module, options.recorded);
    };
    match ElfFile::open(path)? {
        Some(file) => Ok(Found::of(file)),
        None => Err(Notice::from(format!(
            "there is no file {}, which was named for {}",
            path.display(),
            module.path
        ))),
    }
}

/// Without a build id only the inode shows whether the file is still the one that was mapped; file systems
/// give its number to the next file when it is gone, as to what a linker writes instead.
fn find_by_inode(module: &Module, recorded: Option<SystemTime>) -> Result<Found, Notice> {
    let refuse = |why: &str| {
        let text = format!(
            "the recording has no build id of {}, and {why}, so no file can be trusted to be the one that ran; link it with -Wl,--build-id, and have the profiler record that, as `perf record --buildid-all` does, or name its file",
            module.path
        );
        Err(Notice::new(text, Hint::SymbolFolder))
    };
    let path = Path::new(&module.path);
    let Some(inode) = module.inode else {
        return refuse("not which file it was (its inode)");
    };
    if !path.is_absolute() {
        return refuse("its path is not a whole one");
    }
    let is_newer = |file: &ElfFile| recorded.is_some_and(|recorded| file.written > Some(recorded));
    match ElfFile::open(path) {
        Ok(Some(file)) if file.inode == inode && !is_newer(&file) => Ok(Found::of(file)),
        Ok(Some(_)) => refuse("another file is there now"),
        Ok(None) => refuse("there is no such file any more"),
        Err(problem) => Err(problem.into()),
    }
}
