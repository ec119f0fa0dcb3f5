//! Finding, creating and opening the store's file.

use crate::error::{InternalError, StoreError, system_error};
use crate::file::lock::{LOCK_TIMEOUT, LockedFolder, Turn, let_writers_pass, lock_folder, locked};
use crate::file::names::name_of;
use crate::file::reading::{OpenForReading, ReadState, builder};
use crate::file::shared::{Session, SharedFile};
use crate::file::temporary::{check_room, remove_leftovers, temporary_next_to};
use crate::read::rows;
use crate::tables::{FILE_NAME, REDB_MAGIC};
use redb::Database;
use redb::backends::InMemoryBackend;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard};
use sto_model::files::Folder;
use sto_model::units::Bytes;

/// Splits the path of a store, which is its folder or its file, into both.
pub(crate) fn folder_and_file(path: &Path) -> Result<(PathBuf, PathBuf), StoreError> {
    let is_file = match fs::metadata(path) {
        Ok(found) => found.is_file(),
        Err(error) => missing(path, error)?,
    };
    Ok(if is_file {
        (Folder::parent_path(path), path.to_owned())
    } else {
        (path.to_owned(), path.join(FILE_NAME))
    })
}

/// Checks whether a folder contains a store's file, without opening the file in redb.
pub(crate) fn inspect(folder: &Path, path: &Path) -> Result<bool, StoreError> {
    match fs::metadata(folder) {
        Ok(found) if found.is_dir() => {}
        Ok(_) => return Err(not_a_folder(folder)),
        Err(error) => return missing(folder, error),
    }
    let not_a_store = |found: &str| StoreError::NotAStore {
        path: path.to_owned(),
        found: found.to_owned(),
    };
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => return Err(not_a_store("it is a folder")),
        Ok(found) if !found.is_file() => return Err(not_a_store("it is not a regular file")),
        Ok(found) if found.len() == 0 => return Err(not_a_store("it is empty")),
        Ok(_) => {}
        // A new store could not be linked under the name of this symbolic link.
        Err(error) if error.kind() == io::ErrorKind::NotFound && path.is_symlink() => {
            return Err(not_a_store("it is a symbolic link to nothing"));
        }
        Err(error) => return missing(path, error),
    }
    let mut magic = Vec::new();
    File::open(path)
        .and_then(|file| file.take(REDB_MAGIC.len() as u64).read_to_end(&mut magic))
        .map_err(|error| system_error("read", path, error))?;
    if magic == REDB_MAGIC {
        Ok(true)
    } else {
        let start = magic.escape_ascii();
        Err(not_a_store(&format!(
            "it is not a redb file: it starts with \"{start}\""
        )))
    }
}

/// Interprets an error of reading a path's metadata: returns `false` if nothing is there, and an error if a
/// file is in the place of a folder or the system failed.
fn missing(path: &Path, error: io::Error) -> Result<bool, StoreError> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(false),
        io::ErrorKind::NotADirectory => Err(not_a_folder(first_file(path).unwrap_or(path))),
        _ => Err(system_error("read", path, error)),
    }
}

fn first_file(path: &Path) -> Option<&Path> {
    path.ancestors().find(|path| path.is_file())
}

fn not_a_folder(path: &Path) -> StoreError {
    StoreError::NotAFolder {
        path: path.to_owned(),
    }
}

/// Resolves symbolic links, so that a link to a store stays one and temporary files are next to its target.
pub(crate) fn real_path(file: &Path) -> Result<PathBuf, StoreError> {
    fs::canonicalize(file).map_err(|error| system_error("read", file, error))
}

/// The size of a file; zero if it does not exist.
pub(crate) fn file_size(path: &Path) -> Result<Bytes, StoreError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Bytes(found.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Bytes(0)),
        Err(error) => Err(system_error("read", path, error)),
    }
}

/// Creates an empty store in memory.
pub(crate) fn in_memory() -> Result<Database, InternalError> {
    let database = builder().create_with_backend(InMemoryBackend::new())?;
    make_tables(&database)?;
    Ok(database)
}

/// Creates the folder and in it an empty store with room for this many bytes. Does nothing if another
/// process is faster.
pub(crate) fn create(folder: &Path, bytes: u64, turn: &Turn) -> Result<(), StoreError> {
    let made = make_folders(folder)?;
    let path = folder.join(FILE_NAME);
    // With the folder locked, no other process takes this temporary file for a leftover.
    let next = lock_if_possible(&path, turn);
    let result = next.and_then(|locked| match locked {
        Some(_) if path.exists() => Ok(()),
        locked => {
            if let Some(locked) = &locked {
                remove_leftovers(&path, locked);
            }
            check_room(&path, bytes, turn)?;
            create_file(&path, turn)
        }
    });
    if result.is_err() {
        remove_folders(&made);
    } else {
        sync_folder(folder);
        made.iter()
            .for_each(|made| sync_folder(&Folder::parent_path(made)));
    }
    result
}

/// Checks that a store's file could be changed.
pub(crate) fn check_writable(file: &Path, turn: &Turn) -> Result<(), StoreError> {
    let file = real_path(file)?;
    let opened = File::options().append(true).open(&file);
    opened.map_err(|error| system_error("write", &file, error))?;
    check_folder(&file, turn)
}

/// Checks that [`create`] could create a store.
pub(crate) fn check_creatable(folder: &Path, path: &Path, turn: &Turn) -> Result<(), StoreError> {
    let made = make_folders(folder)?;
    let checked = check_folder(path, turn);
    remove_folders(&made);
    checked
}

/// Checks that a temporary file can be created next to a file.
fn check_folder(path: &Path, turn: &Turn) -> Result<(), StoreError> {
    temporary_next_to(path, turn).map(drop)
}

/// Creates a folder and its missing parents; returns those that were missing, uppermost first.
fn make_folders(folder: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let exists = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
    let mut missing: Vec<PathBuf> = folder
        .ancestors()
        .take_while(exists)
        .map(Path::to_owned)
        .collect();
    missing.reverse();
    fs::create_dir_all(folder).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
            not_a_folder(first_file(folder).unwrap_or(folder))
        }
        _ => system_error("make", folder, error),
    })?;
    Ok(missing)
}

/// Removes the folders that [`make_folders`] created, unless they contain something now.
fn remove_folders(made: &[PathBuf]) {
    for folder in made.iter().rev() {
        let _ = fs::remove_dir(folder);
    }
}

fn create_file(path: &Path, turn: &Turn) -> Result<(), StoreError> {
    let new = temporary_next_to(path, turn)?;
    let file = new.file().try_clone();
    let made = file.map_err(InternalError::from).and_then(create_in_file);
    drop(made.map_err(|error| error.at(path, "make"))?);
    match new.persist_noclobber(name_of(path)) {
        // Another process was faster, and may have removed this file as a leftover.
        Err(_) if path.exists() => Ok(()),
        published => published.map_err(|error| system_error("make", path, error)),
    }
}

fn make_tables(database: &Database) -> Result<(), InternalError> {
    let transaction = database.begin_write()?;
    rows::create(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Opens the file for writing, after a check that the disk has room for this many bytes more (if any), unless this
/// process has it open. Waits for other processes; new readers [give way to this writer](let_writers_pass).
pub(crate) fn open_for_writing<'f>(
    path: &Path,
    file: &'f SharedFile,
    bytes: Option<u64>,
    turn: &Turn,
) -> Result<(MutexGuard<'f, Option<Session>>, Session), StoreError> {
    if let Some(bytes) = bytes {
        check_room(path, bytes, turn)?;
    }
    let open = || {
        let mut session = match bytes {
            Some(_) => file.session(),
            None => file.close_session(),
        };
        let open = session
            .take()
            .map_or_else(|| Session::open(path, bytes.is_none()), Ok)?;
        Ok((session, open))
    };
    locked(path, path, (LOCK_TIMEOUT, turn), open).map_err(|error| error.at(path, "write"))
}

/// Locks the folder of a store before its file is opened for writing, and removes the temporary files of killed
/// processes.
///
/// While the folder is locked, no process replaces the file with a rewritten one. `None` if the file system cannot
/// lock folders; then no process can replace it at all.
pub(crate) fn lock_to_write(path: &Path, turn: &Turn) -> Result<Option<LockedFolder>, StoreError> {
    let next = lock_if_possible(path, turn)?;
    if let Some(locked) = &next {
        remove_leftovers(path, locked);
    }
    Ok(next)
}

/// Locks the folder of a store; `None` if the file system cannot lock folders.
fn lock_if_possible(path: &Path, turn: &Turn) -> Result<Option<LockedFolder>, StoreError> {
    match lock_folder(path, turn) {
        Err(error @ StoreError::InUse { .. }) => Err(error),
        lock => Ok(lock.ok()),
    }
}

/// Syncs a folder, so that a new name in it survives a power cut. Some systems cannot sync folders.
pub(crate) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// Creates an empty store in an empty file.
pub(crate) fn create_in_file(file: File) -> Result<Database, InternalError> {
    let database = builder().create_file(file)?;
    make_tables(&database)?;
    Ok(database)
}

/// The current state of the file, for snapshots. Waits for writers.
pub(crate) fn current_state(path: &Path, turn: &Turn) -> Result<Arc<ReadState>, InternalError> {
    if let Some(state) = SharedFile::at(path)?.newest() {
        return Ok(state);
    }
    let_writers_pass(path);
    locked(path, path, (LOCK_TIMEOUT, turn), || {
        let file = SharedFile::at(path)?;
        let _closed = file.close_session();
        match file.newest() {
            Some(state) => Ok(Ok(state)),
            None => Ok(file.share(OpenForReading::open(path)?)),
        }
    })?
}

/// Opens the file for reading, which keeps writers out until it is dropped. Waits for writers.
pub(crate) fn open_for_reading(path: &Path, turn: &Turn) -> Result<OpenForReading, InternalError> {
    let_writers_pass(path);
    open_for_reading_locked(path, turn)
}

/// Like [`open_for_reading`], for a caller that has locked the folder.
pub(crate) fn open_for_reading_locked(
    path: &Path,
    turn: &Turn,
) -> Result<OpenForReading, InternalError> {
    locked(path, path, (LOCK_TIMEOUT, turn), || {
        let file = SharedFile::at(path)?;
        let _closed = file.close_session();
        OpenForReading::open(path)
    })
}

/// Opens the file for reading and lets redb check it: the checksums of all pages in use, and that pages marked as
/// free are free.
///
/// Only a checked file can be traversed safely: damaged pages may refer to one another in a circle.
pub(crate) fn open_and_check(path: &Path, turn: &Turn) -> Result<OpenForReading, InternalError> {
    let mut file = open_for_reading(path, turn)?;
    if file.database.check_integrity()? {
        return Ok(file);
    }
    Err(InternalError::damaged(
        REDB_FILE,
        "its list of free pages is wrong: additions may overwrite stored data",
    ))
}

/// The location of damage in redb's own data.
const REDB_FILE: &str = "the redb file";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::lock::RETRY_INTERVAL;
    use std::time::Duration;

    #[test]
    fn reports_a_store_that_stays_in_use() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), 0, &Turn::default()).unwrap();
        let path = folder.path().join(FILE_NAME);
        let holder = builder().open(&path).unwrap();
        let patience = Duration::from_millis(30);
        let error = locked(&path, &path, (patience, &Turn::default()), || {
            builder().open_read_only(&path)
        })
        .err()
        .unwrap();
        assert!(matches!(error, InternalError::InUse { waited, .. } if waited >= patience));
        drop(holder);
        open_for_reading(&path, &Turn::default()).unwrap();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn names_the_process_that_holds_the_store() {
        use std::process::Command;
        if Command::new("flock").arg("--version").output().is_err() {
            assert_ne!(
                std::env::var("STO_TEST_ALL").as_deref(),
                Ok("1"),
                "there is no flock"
            );
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), 0, &Turn::default()).unwrap();
        let path = folder.path().join(FILE_NAME);
        // flock(1) of util-linux; with --no-fork, the started process itself holds the lock.
        let mut holder = Command::new("flock")
            .arg("--no-fork")
            .arg(&path)
            .args(["sleep", "3600"])
            .spawn()
            .unwrap();
        let file = File::open(&path).unwrap();
        while file.try_lock_shared().is_ok() {
            file.unlock().unwrap();
            std::thread::sleep(RETRY_INTERVAL);
        }
        let open = || builder().open_read_only(&path);
        let error = locked(
            &path,
            &path,
            (Duration::from_millis(30), &Turn::default()),
            open,
        )
        .err();
        let error = error.unwrap().at(&path, "read").to_string();
        let pid = holder.id();
        holder.kill().unwrap();
        holder.wait().unwrap();
        let expected = format!("in use: process {pid} (sleep) has held it for ");
        assert!(error.contains(&expected), "{error}");
    }

    #[test]
    fn writers_wait_for_readers_that_keep_them_out() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), 0, &Turn::default()).unwrap();
        let path = folder.path().join(FILE_NAME);
        let holder = open_for_reading(&path, &Turn::default()).unwrap();
        let file = SharedFile::at(&path).unwrap();
        let write = || open_for_writing(&path, &file, Some(0), &Turn::default()).map(drop);
        std::thread::scope(|scope| {
            let writer = scope.spawn(write);
            std::thread::sleep(Duration::from_millis(30));
            assert!(!writer.is_finished());
            drop(holder);
            writer.join().unwrap().unwrap();
        });
    }
}
