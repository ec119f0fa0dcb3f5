//! Ids of a store's states, and the states that somebody reads.
//!
//! A reader only holds a lock on the byte that belongs to its state, so it never keeps a writer out. The writer looks
//! at these locks before it changes anything. If its state is being read, it makes a savepoint of it, so that redb
//! does not use its pages again. It deletes the savepoints that nobody reads any more.

use crate::error::Result;
use crate::file::overlay::LockRange;
use crate::write::digest;
use redb::backends::FileBackend;
use redb::{BackendError, Database, StorageBackend, WriteTransaction};
use std::fmt;
use std::fs::File;
use std::io;
use std::ops::{Bound, Range};
use std::path::Path;
use sto_model::system::read_exact_at;

/// The id of a store's state, such as for an HTTP `ETag`.
///
/// It changes with every change of the store, by any process. It may also change if only the layout of the file does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId([u8; 16]);

impl fmt::Display for StateId {
    /// Writes 32 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Length of redb's header (redb 4.4, `docs/design.md`).
const HEADER_LEN: usize = 320;

/// Offset of the byte whose lowest bit is the number of the current commit slot.
const GOD_BYTE: usize = 9;

/// Offset and length of the commit slots.
const SLOTS: usize = 64;
const SLOT_LEN: usize = 128;

/// The part of a commit slot that describes the root of the user's tables: its page, checksum and length.
const USER_ROOT: Range<usize> = 8..40;

impl StateId {
    /// The state of a store without a file.
    pub(crate) const NO_FILE: StateId = StateId([0; 16]);

    /// The state of a store in memory after this number of changes.
    pub(crate) fn of_memory(changes: u64) -> StateId {
        StateId(u128::from(changes).to_le_bytes())
    }

    /// Reads the id from the file's header. It takes no lock: while a commit replaces the header, the result may
    /// belong to no state.
    pub(crate) fn read(file: &File) -> io::Result<StateId> {
        let mut header = [0; HEADER_LEN];
        read_exact_at(file, &mut header, 0)?;
        let slot = SLOTS + usize::from(header[GOD_BYTE] & 1) * SLOT_LEN;
        Ok(StateId(digest(&[&header[slot..][USER_ROOT]])))
    }
}

/// The first of the bytes that readers lock. They are beyond the end of any file, in a range that redb leaves to
/// storage backends (`BACKEND_LOCK_RANGE`) and does not use on Linux, apart from its first byte.
const FIRST_BYTE: u64 = (1 << 62) + 900;

/// The number of these bytes. States that share a byte keep each other's savepoint.
const BYTES: u64 = 120;

/// The byte that readers of a state lock, by the id of the savepoint that the next writer would make of it.
pub(super) fn byte_of(savepoint: u64) -> LockRange {
    let byte = Bound::Included(FIRST_BYTE + savepoint % BYTES);
    (byte, byte)
}

/// The id of the savepoint that the next writer would make.
pub(super) fn next_savepoint(database: &Database) -> Result<u64> {
    // The transaction is dropped without a commit.
    Ok(database.begin_write()?.persistent_savepoint()?)
}

/// Keeps the pages of all states that somebody reads: makes a savepoint of the current state, and deletes the
/// savepoints that nobody needs. Must be the first operation of a transaction, and all earlier transactions on this
/// database must have been committed: others would shift the ids of savepoints.
pub(super) fn keep_read_states(path: &Path, transaction: &WriteTransaction) -> Result<()> {
    let file = FileBackend::new(File::open(path)?)?;
    transaction.persistent_savepoint()?;
    for savepoint in transaction.list_persistent_savepoints()? {
        if !is_locked(&file, byte_of(savepoint))? {
            transaction.delete_persistent_savepoint(savepoint)?;
        }
    }
    Ok(())
}

/// Whether any state of a file is being read.
pub(super) fn is_read(path: &Path) -> Result<bool> {
    let all = (
        Bound::Included(FIRST_BYTE),
        Bound::Excluded(FIRST_BYTE + BYTES),
    );
    is_locked(&FileBackend::new(File::open(path)?)?, all)
}

fn is_locked(file: &FileBackend, range: LockRange) -> Result<bool> {
    match file.query_lock_range(range.0, range.1) {
        // Then readers lock the whole file.
        Err(BackendError::Unsupported) => Ok(false),
        found => Ok(found?),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_profiles::add;
    use crate::{Snapshot, Store};

    fn contents(snapshot: &Snapshot) -> String {
        let builds = snapshot.builds().unwrap();
        let loaded = builds
            .iter()
            .map(|build| snapshot.load_build(build.id).unwrap());
        let loaded: Vec<_> = loaded.collect();
        format!("{builds:?}\n{loaded:?}")
    }

    #[test]
    fn pages_of_a_state_that_is_read_are_not_used_again() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let mut held = Vec::new();
        for run in 0..20 {
            let stacks = format!("main;parse;read {}\nmain;render{run} 5\n", run + 1);
            add(&store, &stacks, &format!("v{run}"));
            let snapshot = store.snapshot().unwrap();
            let expected = contents(&snapshot);
            held.push((snapshot, expected));
            // Readers come and go.
            if run % 3 == 0 {
                held.remove(0);
            }
        }
        for (snapshot, expected) in &held {
            assert_eq!(contents(snapshot), *expected);
        }
    }

    #[test]
    fn ids_are_written_as_hexadecimal_digits() {
        let id = StateId::of_memory(0x1a02);
        assert_eq!(id.to_string(), "021a0000000000000000000000000000");
    }
}
