//! Free space in a store's file, and disk space reserved after its end.

use redb::Database;
use std::fs::{self, File};
use std::path::Path;
use sto_model::system::{Reserve, open_existing_for_writing, reserve_after_end};

/// Gives back the free space of a small file.
///
/// redb doubles a full file. In a small store, most of the file is then free, and moving its few pages
/// takes some milliseconds. In a large store, that would take too long for every profile, and the next
/// profile would double the file again.
pub(super) fn compact_small(database: &mut Database, path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() <= SMALL_FILE_LEN) {
        compact(database);
    }
}

/// Gives back free space as far as possible. Errors are ignored: the data is already written.
pub(super) fn compact(database: &mut Database) {
    let _ = database.compact();
}

/// Reserves disk space after the end of the file or releases it, so that profiles can be removed when the
/// disk is full. Errors are ignored. Release it only while no other process can write to the file.
pub(crate) fn reserve(file: &File, what: Reserve) {
    let _ = reserve_after_end(file, RESERVED_BYTES, what);
}

/// Like [`reserve`], for the file at this path.
pub(crate) fn reserve_after_file(path: &Path, what: Reserve) {
    let _ = open_existing_for_writing(path).map(|file| reserve(&file, what));
}

/// Bytes that removing a profile takes before it frees any.
const RESERVED_BYTES: u64 = 96 << 10;

/// Maximum length of a file that is compacted after every profile.
const SMALL_FILE_LEN: u64 = 4 << 20;
