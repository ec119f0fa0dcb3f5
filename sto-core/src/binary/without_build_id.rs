//! Files of modules that a recording has no build id of: which are believed, and why.

use super::elf::ElfFile;
use super::find::{Found, recorded_path};
use crate::hint::{Hint, Notice};
use crate::recording::{Location, Module, ModuleIx, ModuleKind, Recording};
use crate::symbol_options::SymbolOptions;
use rayon::prelude::*;
use std::path::Path;
use std::time::SystemTime;

/// The file that the user named for a module.
pub(super) fn by_hand<'o>(module: &Module, options: &'o SymbolOptions) -> Option<&'o Path> {
    let named = options.by_hand.iter();
    let mut named = named.filter(|(file, _)| is_called(module, file));
    named.next().map(|(_, path)| path.as_path())
}

fn is_called(module: &Module, file: &str) -> bool {
    recorded_path(module) == Path::new(file) || module.name() == file
}

pub(super) fn find_without_build_id(
    module: &Module,
    options: &SymbolOptions,
) -> Result<Found, Notice> {
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

/// Gives modules that the recording has no build id of that of their file, where that is believed by its inode or as the
/// user says so: then their debug files are found too, and a function has the name that it has in recordings with
/// the build id. perf writes build ids of such files alone that samples were taken in, not of those that only call.
pub(crate) fn add_build_ids(recording: &mut Recording, options: &SymbolOptions) {
    let mut is_used = vec![false; recording.modules.len()];
    for location in &recording.locations {
        if let Location::Address { module, .. } = location {
            is_used[module.get()] = true;
        }
    }
    let mains = recording
        .processes
        .iter()
        .filter_map(|process| process.main_module);
    for ModuleIx(main) in mains {
        is_used[main as usize] = true;
    }
    let parts = recording.parts_mut();
    let modules = parts.modules.par_iter_mut().zip(is_used);
    let believed = modules.filter_map(|(module, is_used)| {
        if !is_used || module.kind != ModuleKind::File || module.build_id.is_some() {
            return None;
        }
        let found = find_without_build_id(module, options).ok()?;
        module.build_id = found.symbols.build_id;
        let path = by_hand(module, options)?;
        Some(format!(
            "{} was believed to be {} because it was named for that: the recording has no build id to tell",
            path.display(),
            module.path
        ))
    });
    let mut warnings: Vec<String> = believed.collect();
    for (file, path) in &options.by_hand {
        if !parts.modules.iter().any(|module| is_called(module, file)) {
            warnings.push(format!(
                "{} was named for {file}, but the recording has no file of that name",
                path.display()
            ));
        }
    }
    parts.warnings.extend(warnings);
}
