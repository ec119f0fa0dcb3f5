//! Files beside a store that are to become one, or only show that there is room.
//!
//! A draft gets the store's name when it is complete, so a store is there as a whole or not at all.
//! What killed processes leave is taken away by the next one that writes.

use super::Store;
use super::error::StoreError;
use super::open::cannot;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The folder that a file is in.
pub(super) fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// The draft of who has the folder locked.
pub(super) fn locked_draft(path: &Path) -> PathBuf {
    folder_of(path).join(named_after(path, "new"))
}

/// A file that is removed when this is dropped, unless it was given another name.
pub(super) struct Draft {
    pub(super) path: PathBuf,
}

/// The drafts of this process.
static DRAFTS: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn drafts() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Draft {
    /// A new, empty file.
    pub(super) fn create(path: PathBuf) -> io::Result<(Draft, File)> {
        let mut drafts = drafts();
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)?;
        drafts.insert(path.clone());
        Ok((Draft { path }, file))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let mut drafts = drafts();
        // One that cannot be removed does no harm.
        let _ = fs::remove_file(&self.path);
        drafts.remove(&self.path);
    }
}

impl Store {
    /// Removes the half-written files of operations that go on in other threads, for who is about to
    /// end the process (say, on Ctrl-C). Those operations may wait for ever then.
    ///
    /// Without it the next process that writes removes them.
    pub fn abandon_drafts() {
        let drafts = drafts();
        for draft in drafts.iter() {
            let _ = fs::remove_file(draft);
        }
        // No operation is to begin another one.
        mem::forget(drafts);
    }
}

/// A draft that nobody else uses.
pub(super) fn own_draft(path: &Path) -> Result<(Draft, File), StoreError> {
    let folder = folder_of(path);
    let mut count = 0;
    loop {
        // Processes of other machines and containers may have the same number.
        let name = named_after(path, &format!("{}-{count}", std::process::id()));
        match Draft::create(folder.join(name)) {
            Ok(draft) => return Ok(draft),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(cannot("make a file in", &folder, error)),
        }
    }
}

fn named_after(path: &Path, suffix: &str) -> OsString {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".");
    name.push(suffix);
    name
}

/// Gives a draft its name, unless something has it already.
pub(super) fn publish(draft: &Draft, path: &Path) -> io::Result<()> {
    match fs::hard_link(&draft.path, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Some file systems have no hard links; renaming would replace what was made meanwhile.
        Err(_) => fs::rename(&draft.path, path),
    }
}

/// Removes the drafts that killed processes left beside a store. Only for who has the folder locked.
///
/// Another process may just be making the store as well. It finds that this one was quicker.
pub(super) fn remove_leftovers(path: &Path) {
    let folder = folder_of(path);
    let start = named_after(path, "");
    for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let suffix = name
            .as_encoded_bytes()
            .strip_prefix(start.as_encoded_bytes());
        if suffix.is_some_and(is_of_draft) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// `new`, or a process and a count.
fn is_of_draft(suffix: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_digit);
    let parts: Vec<&[u8]> = suffix.split(|&byte| byte == b'-').collect();
    suffix == b"new" || parts.len() == 2 && parts.into_iter().all(is_number)
}

/// Checks that there is room for this many bytes more, while nothing is changed yet. redb leaves
/// its file as large as it had become where the disk is full, and the disk stays full.
pub(super) fn check_room(path: &Path, bytes: u64) -> Result<(), StoreError> {
    // An eighth more for the pages that lead to new ones; then what redb keeps for itself.
    let room = bytes + bytes / 8 + (64 << 10);
    let (draft, mut file) = own_draft(path)?;
    // Without a name, it goes with the process, however that ends. Another process that writes may
    // have taken it for one that was left over, and the name away.
    let removed = match fs::remove_file(&draft.path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed
        .and_then(|()| io::copy(&mut io::repeat(0).take(room), &mut file))
        .map_err(|error| cannot("write", path, error))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_drafts_are_left_over() {
        let folder = tempfile::tempdir().unwrap();
        let names = [
            ".store.redb.new",
            ".store.redb.123-0",
            ".store.redb.bak",
            ".store.redb.",
            ".store.redb.12-",
            ".store.redb.2026-11-21",
            "store.redb",
            "store.redb.new",
        ];
        for name in names {
            fs::write(folder.path().join(name), "").unwrap();
        }
        remove_leftovers(&folder.path().join("store.redb"));
        let mut left: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = names[2..].to_vec();
        expected.sort_unstable();
        assert_eq!(left, expected);
    }

    #[test]
    fn a_draft_of_the_same_name_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.redb");
        let (first, _) = own_draft(&path).unwrap();
        let (second, _) = own_draft(&path).unwrap();
        assert_ne!(first.path, second.path);
    }
}
