//! Files in a folder.

use super::error::Refusal;
use super::{FailureReason, ListedFile, ListedNames, Machine, UNFINISHED};
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use sto_model::files::{Folder, Links, RegularFile, TemporaryFiles};
use sto_model::system::read_exact_at;
use sto_model::units::Bytes;

/// A folder, which may not exist yet.
pub(super) struct Files {
    root: PathBuf,
    temporaries: TemporaryFiles,
}

impl Files {
    pub(super) fn new(root: PathBuf, machine: &Machine) -> Files {
        let temporaries = machine.temporaries.clone();
        Files { root, temporaries }
    }
}

impl super::Files for Files {
    fn is_local(&self) -> bool {
        true
    }

    fn list(&self, folder: &str) -> Result<Vec<ListedFile>, Refusal> {
        let mut listed = Vec::new();
        let mut names = ListedNames::default();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            let Some(entries) = if_there(fs::read_dir(self.root.join(&folder)))? else {
                continue;
            };
            for entry in entries {
                let entry = entry?;
                let name = entry.file_name();
                names.count(&name.to_string_lossy())?;
                // Files of sto have names in UTF-8.
                let Some(name) = name.to_str().map(|name| join_name(&folder, name)) else {
                    continue;
                };
                // The file may have been removed meanwhile.
                let Some(found) = if_there(entry.metadata())? else {
                    continue;
                };
                if found.is_dir() {
                    folders.push(name);
                } else if found.is_file() {
                    let size = Bytes(found.len());
                    listed.push(ListedFile { name, size });
                }
            }
        }
        Ok(listed)
    }

    fn is_empty(&self) -> Result<bool, Refusal> {
        for entry in if_there(fs::read_dir(&self.root))?.into_iter().flatten() {
            let name = entry?.file_name();
            if !name.as_encoded_bytes().starts_with(UNFINISHED.as_bytes()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn has(&self, name: &str) -> Result<bool, Refusal> {
        is_file(fs::metadata(self.root.join(name)))
    }

    fn read(&self, name: &str, most: Bytes) -> Result<Option<Vec<u8>>, Refusal> {
        let file = if_there(RegularFile::open(&self.root.join(name), Links::Follow))?;
        Ok(file.map(|file| file.read(most.0)).transpose()?)
    }

    fn read_end(&self, name: &str, len: usize) -> Result<Option<Vec<u8>>, Refusal> {
        let file = if_there(RegularFile::open(&self.root.join(name), Links::Follow))?;
        let Some(RegularFile { file, metadata }) = file else {
            return Ok(None);
        };
        let Some(begin) = metadata.len().checked_sub(len as u64) else {
            return Ok(None);
        };
        let mut end = vec![0; len];
        read_exact_at(&file, &mut end, begin)?;
        Ok(Some(end))
    }

    fn create(&self, name: &str, bytes: &[u8]) -> Result<bool, Refusal> {
        let path = self.root.join(name);
        // Links are not listed, so they do not count as written.
        if is_file(fs::symlink_metadata(&path))? {
            Ok(false)
        } else {
            Ok(self.write(&path, bytes)?)
        }
    }
}

impl Files {
    /// Writes a file under a temporary name, and renames it when it is complete.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<bool> {
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        fs::create_dir_all(path.parent().ok_or(io::ErrorKind::InvalidInput)?)?;
        let folder = Arc::new(Folder::open_parent(path)?);
        let new = self.temporaries.new_in(&folder, OsStr::new(UNFINISHED))?;
        new.file().write_all(bytes)?;
        new.file().sync_all()?;
        match new.persist_noclobber(name) {
            // Another process was faster.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            published => published.map(|()| true),
        }
    }
}

/// Joins a folder and a name.
pub(super) fn join_name(folder: &str, name: &str) -> String {
    match folder {
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

/// Returns `true` if a path is a file, and an error if it is something else that exists.
fn is_file(found: io::Result<Metadata>) -> Result<bool, Refusal> {
    match if_there(found)? {
        None => Ok(false),
        Some(found) if found.is_file() => Ok(true),
        Some(_) => Err(Refusal::new(FailureReason::NotAFile, "")),
    }
}

fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        result => result.map(Some),
    }
}
