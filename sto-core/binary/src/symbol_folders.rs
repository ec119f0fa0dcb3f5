//! The files in the user's symbol folders, by build id.

use super::elf::ElfFile;
use hashbrown::HashMap;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use sto_model::system::file_id;
use sto_model::{GnuBuildId, SymbolOptions};

/// Depth of folders up to which files are searched.
const MAX_DEPTH: usize = 32;

/// Returns the files with this build id in the symbol folders and the folders below them, whatever their names.
///
/// The folders are listed once. Folders on other file systems, such as `/proc` below the root of a container, and
/// symbolic links to folders are left out.
pub(super) fn files_with_build_id<'o>(
    build_id: &GnuBuildId,
    options: &'o SymbolOptions,
) -> &'o [PathBuf] {
    let list = || {
        let mut files = HashMap::new();
        for dir in &options.symbol_dirs {
            let device = dir
                .metadata()
                .map_or(0, |metadata| file_id(&metadata).device);
            list(dir, device, MAX_DEPTH, &mut files);
        }
        files
    };
    let files = options.files_in_symbol_dirs.get_or_init(list);
    files.get(build_id).map_or(&[], Vec::as_slice)
}

/// Adds the files below a folder, in the order of their names.
fn list(dir: &Path, device: u64, depth: usize, files: &mut HashMap<GnuBuildId, Vec<PathBuf>>) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().is_ok_and(|file_type| file_type.is_dir()) {
            let is_on_device = entry
                .metadata()
                .is_ok_and(|metadata| file_id(&metadata).device == device);
            if depth > 0 && is_on_device {
                list(&path, device, depth - 1, files);
            }
        } else if let Some(build_id) = build_id_of(&path) {
            files.entry(build_id).or_default().push(path);
        }
    }
}

fn build_id_of(path: &Path) -> Option<GnuBuildId> {
    // Opening a pipe would wait for its writer.
    if !path.metadata().ok()?.is_file() {
        return None;
    }
    let mut magic = [0; 4];
    File::open(path).ok()?.read_exact(&mut magic).ok()?;
    (magic == *b"\x7fELF").then(|| ElfFile::open(path).ok()??.build_id)?
}
