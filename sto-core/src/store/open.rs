//! Finding, making and opening the store's file; every open is of one operation.

use super::error::{Fault, StoreError};
use super::guard::guarded;
use super::holder::holders;
use super::rows;
use super::tables::{CACHE_BYTES, FILE_NAME, REDB_MAGIC};
use super::unrepaired::Unrepaired;
use crate::units::Bytes;
use redb::backends::InMemoryBackend;
use redb::{Builder, Database, DatabaseError, ReadOnlyDatabase, ReadTransaction, ReadableDatabase};
use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

/// How long an operation waits for other processes to be done with the store.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long it sleeps between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// The folder and the file of a store at a path, which is that of either.
pub(super) fn place(path: &Path) -> (PathBuf, PathBuf) {
    if path.is_file() {
        (folder_of(path), path.to_owned())
    } else {
        (path.to_owned(), path.join(FILE_NAME))
    }
}

/// The folder that a file is in.
fn folder_of(file: &Path) -> PathBuf {
    match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Looks whether there is a store's file in a folder, without opening it as one.
pub(super) fn inspect(folder: &Path, path: &Path) -> Result<bool, StoreError> {
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
        Err(error) => return missing(path, error),
    }
    let mut magic = Vec::new();
    File::open(path)
        .and_then(|file| file.take(REDB_MAGIC.len() as u64).read_to_end(&mut magic))
        .map_err(|error| cannot("read", path, error))?;
    if magic == REDB_MAGIC {
        Ok(true)
    } else {
        let start = magic.escape_ascii();
        Err(not_a_store(&format!(
            "it is no redb file: it starts with \"{start}\""
        )))
    }
}

/// What an error of looking at a path means: nothing is there, a file is where one of its folders
/// should be, or the system does not say.
fn missing(path: &Path, error: io::Error) -> Result<bool, StoreError> {
    match error.kind() {
        io::ErrorKind::NotFound => Ok(false),
        io::ErrorKind::NotADirectory => Err(not_a_folder(first_file(path).unwrap_or(path))),
        _ => Err(cannot("read", path, error)),
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

pub(super) fn cannot(doing: &'static str, path: &Path, source: io::Error) -> StoreError {
    StoreError::Io {
        doing,
        path: path.to_owned(),
        source,
    }
}

/// Size of a file; zero where there is none.
pub(super) fn file_size(path: &Path) -> Result<Bytes, StoreError> {
    match fs::metadata(path) {
        Ok(found) => Ok(Bytes(found.len())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Bytes(0)),
        Err(error) => Err(cannot("read", path, error)),
    }
}

/// A store in memory.
pub(super) fn in_memory() -> Result<Database, Fault> {
    let database = builder().create_with_backend(InMemoryBackend::new())?;
    make_tables(&database)?;
    Ok(database)
}

/// Makes the folder, and in it an empty store with room for this many bytes; where another process
/// is quicker, takes its store.
///
/// The store is made under another name first, so that it is there as a whole or not at all.
pub(super) fn create(folder: &Path, bytes: u64) -> Result<(), StoreError> {
    let made = make_folders(folder)?;
    let (draft, path) = (draft(folder), folder.join(FILE_NAME));
    let result = check_room(&path, bytes).and_then(|()| create_file(&draft, &path));
    // Nothing is left behind but the store; what cannot be removed does no harm.
    let _ = fs::remove_file(&draft);
    if result.is_err() {
        for folder in made.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    } else {
        sync_folder(folder);
    }
    result
}

/// A path in the store's folder that nobody else uses.
fn draft(folder: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    folder.join(format!(".{FILE_NAME}.{}-{count}", std::process::id()))
}

/// Makes a folder and those above it, and returns those that were missing, uppermost first.
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
        _ => cannot("make", folder, error),
    })?;
    Ok(missing)
}

fn create_file(draft: &Path, path: &Path) -> Result<(), StoreError> {
    new_file(draft)
        .map(drop)
        .map_err(|fault| fault.at(path, "make"))?;
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        // Some file systems have no hard links; renaming would replace a store that was made
        // meanwhile, though only one without profiles that anybody waited for.
        Err(_) => fs::rename(draft, path).map_err(|error| cannot("make", path, error)),
    }
}

fn make_tables(database: &Database) -> Result<(), Fault> {
    let transaction = database.begin_write()?;
    rows::create(&transaction)?;
    transaction.commit()?;
    Ok(())
}

/// Checks that there is room for this many bytes more, while nothing is changed yet. redb leaves
/// its file as large as it had become where the disk is full, and the disk stays full.
pub(super) fn check_room(path: &Path, bytes: u64) -> Result<(), StoreError> {
    // An eighth more for the pages that lead to new ones; then what redb keeps for itself.
    let room = bytes + bytes / 8 + (64 << 10);
    let draft = draft(&folder_of(path));
    let written = File::create_new(&draft)
        .and_then(|mut file| io::copy(&mut io::repeat(0).take(room), &mut file));
    let _ = fs::remove_file(&draft);
    match written {
        Ok(_) => Ok(()),
        Err(error) => Err(cannot("write", path, error)),
    }
}

/// Opens the file for writing. Waits for other processes.
pub(super) fn writing(path: &Path) -> Result<Database, Fault> {
    loop {
        let (file, database) = locked(path, PATIENCE, || {
            let file = File::options().read(true).write(true).open(path)?;
            let found = file.metadata()?;
            Ok((found, builder().create_file(file)?))
        })?;
        // While this process waited, another may have put a rewritten file into its place.
        if is_same(&file, &fs::metadata(path)?) {
            return Ok(database);
        }
    }
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

/// Other systems do not let a file be replaced that another process has open.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

/// Keeps other processes from writing the store in this folder anew, until it is dropped. Waits for
/// those that do.
pub(super) fn lock_folder(folder: &Path) -> Result<File, StoreError> {
    let lock = || {
        let folder = File::open(folder)?;
        match folder.try_lock() {
            Ok(()) => Ok(folder),
            Err(TryLockError::WouldBlock) => Err(DatabaseError::DatabaseAlreadyOpen),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    };
    locked(folder, PATIENCE, lock).map_err(|fault| fault.at(folder, "lock"))
}

/// Makes a new name in a folder outlive a power cut. Not every system syncs folders.
pub(super) fn sync_folder(folder: &Path) {
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
}

/// An empty store in a file that nobody else uses.
pub(super) fn new_file(path: &Path) -> Result<Database, Fault> {
    let database = builder().create(path)?;
    make_tables(&database)?;
    Ok(database)
}

/// Lets redb roll back what a failed operation left, and cut the file to what it needs: else a
/// disk that it filled would stay full. What cannot be done now, the next writer does.
pub(super) fn recover(path: &Path) {
    let _ = guarded(|| locked(path, Duration::ZERO, || builder().open(path)).map(drop));
}

/// Gives back the free space of a small file.
///
/// redb doubles its file when it is full. In a small store that is most of the file, and moving its
/// few pages takes some milliseconds; in a large one the next profiles fill the space.
pub(super) fn compact_small(database: &mut Database, path: &Path) {
    if fs::metadata(path).is_ok_and(|found| found.len() <= SMALL) {
        // What was to be written is written; a file that stays larger is no failure.
        let _ = database.compact();
    }
}

/// Longest file that is compacted after every profile.
const SMALL: u64 = 4 << 20;

/// The file, opened for reading.
pub(super) enum Reading {
    Clean(ReadOnlyDatabase),
    Unrepaired(Database),
}

impl Reading {
    pub(super) fn begin(&self) -> Result<ReadTransaction, redb::TransactionError> {
        match self {
            Reading::Clean(database) => database.begin_read(),
            Reading::Unrepaired(database) => database.begin_read(),
        }
    }
}

/// Opens the file for reading, and never writes to it. Waits for other processes that write.
pub(super) fn reading(path: &Path) -> Result<Reading, Fault> {
    locked(path, PATIENCE, || match builder().open_read_only(path) {
        Ok(database) => Ok(Reading::Clean(database)),
        Err(DatabaseError::RepairAborted) => unrepaired(path).map(Reading::Unrepaired),
        Err(error) => Err(error),
    })
}

fn unrepaired(path: &Path) -> Result<Database, DatabaseError> {
    builder().create_with_backend(Unrepaired::new(File::open(path)?)?)
}

/// Opens the file as for writing, though nothing is written to it, and has redb check it: the
/// checksum of every page in use, and whether what it takes for free is free. Waits for other
/// processes that write.
///
/// Only what was checked can be walked through without fear of pages that refer to one another in
/// a circle.
pub(super) fn checked(path: &Path) -> Result<Database, Fault> {
    let mut database = locked(path, PATIENCE, || unrepaired(path))?;
    if database.check_integrity()? {
        return Ok(database);
    }
    Err(Fault::damaged(
        REDB_FILE,
        "its note of free pages is wrong: what is added may overwrite what is stored",
    ))
}

/// How errors name what is redb's own.
const REDB_FILE: &str = "the redb file";

fn locked<T>(
    path: &Path,
    patience: Duration,
    mut open: impl FnMut() -> Result<T, DatabaseError>,
) -> Result<T, Fault> {
    let start = Instant::now();
    loop {
        match open() {
            Err(DatabaseError::DatabaseAlreadyOpen) if start.elapsed() < patience => {
                std::thread::sleep(PAUSE);
            }
            Err(DatabaseError::DatabaseAlreadyOpen) => {
                return Err(Fault::InUse {
                    waited: start.elapsed(),
                    by: holders(path),
                });
            }
            result => return Ok(result?),
        }
    }
}

fn builder() -> Builder {
    let mut builder = Builder::new();
    builder.set_cache_size(CACHE_BYTES);
    builder
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_that_stays_in_use_is_told_after_a_while() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), 0).unwrap();
        let path = folder.path().join(FILE_NAME);
        let holder = writing(&path).unwrap();
        let patience = Duration::from_millis(30);
        let fault = locked(&path, patience, || builder().open_read_only(&path))
            .err()
            .unwrap();
        assert!(matches!(fault, Fault::InUse { waited, .. } if waited >= patience));
        drop(holder);
        reading(&path).unwrap();
    }

    #[test]
    fn a_store_in_use_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        create(folder.path(), 0).unwrap();
        let path = folder.path().join(FILE_NAME);
        let holder = reading(&path).unwrap();
        std::thread::scope(|scope| {
            let writer = scope.spawn(|| writing(&path).map(drop));
            std::thread::sleep(Duration::from_millis(30));
            drop(holder);
            writer.join().unwrap().unwrap();
        });
    }
}
