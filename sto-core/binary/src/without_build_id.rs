//! Modules recorded without a build id: which file can be trusted to be the one that ran.

use super::elf::ElfFile;
use super::found::{Found, rebase, recorded_path};
use super::jit_files::copied_paths;
use std::path::Path;
use sto_model::{Hint, Notice};
use sto_model::{Module, SymbolOptions, VDSO};

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
    let mut in_memory = options.symbol_bytes.iter();
    let is_named = |name: &Path| {
        name.to_str()
            .is_some_and(|name| has_path_or_name(module, name))
    };
    if let Some((name, bytes)) = in_memory.find(|(name, _)| is_named(name)) {
        return Ok(Found::new(ElfFile::from_bytes(name, bytes.clone())?));
    }
    // `sto record` leaves a copy.
    let vdso = (module.path == VDSO).then(|| copied_paths(VDSO, options));
    let vdso = vdso.and_then(|copies| copies.into_iter().find(|copy| copy.exists()));
    let Some(path) = path_from_user(module, options).or(vdso.as_deref()) else {
        return find_by_inode(module, options);
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

/// Opens the file at the recorded path, below a symbol folder or the root, if it is still the one that was mapped.
///
/// Without a build id, only the inode number can show that. A file system may reuse the number of a deleted file, such
/// as for the next output of a linker, so the file must not be newer than the recording either.
fn find_by_inode(module: &Module, options: &SymbolOptions) -> Result<Found, Notice> {
    let mut has_build_id = false;
    let mut other = None;
    let path = Path::new(&module.path);
    if let Some(inode) = module.inode
        && path.is_absolute()
    {
        let dirs = options.symbol_dirs.iter();
        let paths = dirs.map(|dir| rebase(dir, path)).chain([path.to_owned()]);
        for path in paths {
            let Some(file) = ElfFile::open(&path)? else {
                continue;
            };
            let recorded = options.recording_modified;
            let is_newer = recorded.is_some_and(|recorded| file.written > Some(recorded));
            if file.inode == inode && !is_newer {
                return Ok(Found::new(file));
            }
            has_build_id = file.build_id.is_some();
            other.get_or_insert(path);
        }
    }
    let why = match (module.inode, other) {
        (None, _) => "no inode number either".to_owned(),
        (_, None) if !path.is_absolute() => "its path is not absolute".to_owned(),
        (_, None) => "the file no longer exists".to_owned(),
        (_, Some(other)) => format!("{} is another file now", other.display()),
    };
    let link = if has_build_id {
        ""
    } else {
        "link the program with -Wl,--build-id, "
    };
    let text = format!(
        "the recording has no build id of {}, and {why}, so no file can be trusted to be the one that ran; {link}have the profiler record the id (`perf record --buildid-mmap`), or give its file",
        module.path
    );
    Err(Notice::new(text, Hint::SymbolFolder))
}
