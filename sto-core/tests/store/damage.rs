//! Damaged files give an error or the right answer, never a panic or a wrong answer.

use super::model::{add, answer, build, forest, of_stacks, profile};
use crate::common::panics::{note_panics, panicked};
use redb::{ReadableDatabase, ReadableTable, TableDefinition};
use std::fs;
use std::path::Path;
use sto_core::id::ProfileId;
use sto_core::store::{Corruption, Store, StoreError};

/// The bytes of a store of three profiles, their ids, and the store's contents.
fn small_store() -> (Vec<u8>, Vec<ProfileId>, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let ids = vec![
        add(&store, "v1", "a", &of_stacks(&[&[1, 2], &[1, 3, 4]])),
        add(&store, "v1", "b", &forest(500, 300, 1)),
        add(&store, "v2", "c", &forest(500, 320, 2)),
    ];
    let content = everything(folder.path(), &ids).unwrap();
    (
        fs::read(folder.path().join(Store::FILE_NAME)).unwrap(),
        ids,
        content,
    )
}

fn everything(folder: &Path, ids: &[ProfileId]) -> Result<String, StoreError> {
    let store = Store::open(folder)?;
    Ok(format!(
        "{:?}\n{}",
        store.snapshot()?.builds()?,
        answer(&store, ids)?
    ))
}

/// A folder with a store's file of these bytes.
fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(Store::FILE_NAME), bytes).unwrap();
    folder
}

/// The contents of a store after another profile was added.
fn after_adding(folder: &Path, ids: &[ProfileId]) -> Result<String, StoreError> {
    let store = Store::open_or_create(folder)?;
    let plain = of_stacks(&[&[1, 2], &[9]]);
    let build = build("v3");
    store
        .writer()
        .add(&build, &profile(&build, "more", &plain), &plain.interned())?;
    answer(&store, ids)
}

/// Every entry of every table, read with redb.
fn entries(folder: &Path) -> Vec<(Vec<u8>, Vec<u8>)> {
    let file = folder.join(Store::FILE_NAME);
    let copy = tempfile::NamedTempFile::new().unwrap();
    fs::copy(file, copy.path()).unwrap();
    // Read-only access avoids waiting for the disk, but redb opens an unclosed file only for writing.
    match redb::ReadOnlyDatabase::open(copy.path()) {
        Ok(database) => entries_of(&database),
        Err(_) => entries_of(&redb::Database::open(copy.path()).unwrap()),
    }
}

fn entries_of(database: &impl ReadableDatabase) -> Vec<(Vec<u8>, Vec<u8>)> {
    let transaction = database.begin_read().unwrap();
    let meta: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
    let records: TableDefinition<(u8, [u8; 16]), &[u8]> = TableDefinition::new("records");
    let columns: TableDefinition<(u8, u32, u32, u32), &[u8]> = TableDefinition::new("columns");
    let mut entries = Vec::new();
    for entry in transaction.open_table(meta).unwrap().iter().unwrap() {
        let (key, value) = entry.unwrap();
        entries.push((key.value().as_bytes().to_vec(), value.value().to_vec()));
    }
    for entry in transaction.open_table(records).unwrap().iter().unwrap() {
        let (key, value) = entry.unwrap();
        entries.push((format!("{:?}", key.value()).into(), value.value().to_vec()));
    }
    for entry in transaction.open_table(columns).unwrap().iter().unwrap() {
        let (key, value) = entry.unwrap();
        entries.push((format!("{:?}", key.value()).into(), value.value().to_vec()));
    }
    entries
}

/// How a damage was handled.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Found,
    Harmless,
}

/// Checks that readers give the right answer or an error, and that verification finds the damage. If it finds
/// none, the damaged bytes belong to no entry of any table, and readers must not notice.
#[track_caller]
fn outcome(bytes: &[u8], sound: &Sound, what: &str) -> Outcome {
    let folder = folder_with(bytes);
    let answer = everything(folder.path(), &sound.ids);
    if let Ok(answer) = &answer {
        assert!(*answer == sound.content, "{what}: a wrong answer");
    }
    let verified = Store::verify(folder.path(), None, &mut |_| Ok(()));
    let file = folder.path().join(Store::FILE_NAME);
    assert!(fs::read(file).unwrap() == bytes, "{what}: it is left alone");
    match verified {
        Ok(verified) if verified.damages.is_empty() => {
            assert!(answer.is_ok(), "{what}: not found, but {answer:?}");
            assert_eq!(verified.sound_profiles, 3, "{what}");
            assert!(entries(folder.path()) == sound.entries, "{what}: not found");
            Outcome::Harmless
        }
        Ok(_) | Err(StoreError::NotAStore { .. } | StoreError::Newer { .. }) => Outcome::Found,
        Err(error) => panic!("{what}: {error}"),
    }
}

/// A store before it is damaged.
struct Sound {
    bytes: Vec<u8>,
    ids: Vec<ProfileId>,
    content: String,
    entries: Vec<(Vec<u8>, Vec<u8>)>,
}

fn sound() -> Sound {
    let (bytes, ids, content) = small_store();
    let entries = entries(folder_with(&bytes).path());
    Sound {
        bytes,
        ids,
        content,
        entries,
    }
}

/// `STO_FLIPS` sets the number of flipped bits, which are spread evenly over the file.
#[test]
fn flipped_bit_anywhere_is_detected() {
    let sound = sound();
    let flips = std::env::var("STO_FLIPS").map_or(300, |flips| flips.parse().unwrap());
    let bits = sound.bytes.len() as u64 * 8;
    let (mut found, mut harmless) = (0, 0);
    for flip in 0..flips {
        // An odd stride, so that every bit of a byte is tested.
        let position = (flip * bits / flips + flip * 5 % 8) % bits;
        let (at, bit) = ((position / 8) as usize, position % 8);
        let mut bytes = sound.bytes.clone();
        bytes[at] ^= 1 << bit;
        match outcome(&bytes, &sound, &format!("bit {bit} of byte {at}")) {
            Outcome::Found => found += 1,
            Outcome::Harmless => harmless += 1,
        }
    }
    println!("of {flips} flipped bits, {found} were found, {harmless} are harmless");
    assert!(found > 0 && harmless > 0);
}

/// redb's header selects the last of two states, and has its position.
#[test]
fn flipped_bit_in_the_header_is_detected_or_harmless() {
    let sound = sound();
    // Every bit outside of checksums; then some bits of the two states.
    let flags = (0..32).flat_map(|at| (0..8).map(move |bit| (at, bit)));
    let states = (64..320).step_by(3).map(|at| (at, at % 8));
    for (at, bit) in flags.chain(states) {
        let mut bytes = sound.bytes.clone();
        bytes[at] ^= 1 << bit;
        outcome(&bytes, &sound, &format!("bit {bit} of byte {at}"));
    }
}

#[test]
fn flipped_bit_does_not_spoil_additions() {
    let sound = sound();
    for flip in 0..100 {
        let at = flip * sound.bytes.len() / 100;
        let mut bytes = sound.bytes.clone();
        bytes[at] ^= 1 << (flip % 8);
        let folder = folder_with(&bytes);
        if let Ok(answer) = after_adding(folder.path(), &sound.ids) {
            assert!(sound.content.ends_with(&answer), "byte {at}, after adding");
        }
    }
}

#[test]
fn zeroed_and_swapped_pages_are_detected() {
    let sound = sound();
    let page = 4096;
    let pages = sound.bytes.len() / page;
    let mut found = 0;
    for at in 0..pages {
        let mut zeroed = sound.bytes.clone();
        zeroed[at * page..][..page].fill(0);
        let mut swapped = sound.bytes.clone();
        let other = (at * 7 + 3) % pages;
        if at != other {
            let (low, high) = (at.min(other), at.max(other));
            let (head, tail) = swapped.split_at_mut(high * page);
            head[low * page..][..page].swap_with_slice(&mut tail[..page]);
        }
        for (bytes, what) in [(zeroed, "zeroed"), (swapped, "swapped")] {
            let is_found = outcome(&bytes, &sound, &format!("page {at} {what}")) == Outcome::Found;
            found += usize::from(is_found);
        }
    }
    assert!(found >= pages, "{found} of {pages}");
}

/// redb panics on such pages, which becomes an error, but must not print through the program's panic hook.
#[test]
fn panic_hook_stays_unchanged() {
    note_panics();
    let (bytes, ids, _) = small_store();
    for at in (0..bytes.len()).step_by(4096) {
        let mut zeroed = bytes.clone();
        zeroed[at..][..4096].fill(0);
        let _ = everything(folder_with(&zeroed).path(), &ids);
    }
    assert_ne!(panicked(&["/redb-"]), [""; 0]);
}

/// The first damage, as an error.
fn verified(folder: &Path) -> Result<String, StoreError> {
    let verified = Store::verify(folder, None, &mut |_| Ok(()))?;
    match verified.damages.into_iter().next() {
        None => Ok("sound".to_owned()),
        Some(Corruption { location, what, .. }) => Err(StoreError::Damaged {
            path: folder.to_owned(),
            location,
            what,
        }),
    }
}

#[test]
fn rejects_truncated_stores() {
    let (bytes, ids, _) = small_store();
    let step = bytes.len() / 64;
    let lengths = (0..20)
        .chain((20..bytes.len()).step_by(step))
        .chain([bytes.len() - 1]);
    for len in lengths {
        let folder = folder_with(&bytes[..len]);
        for result in [
            everything(folder.path(), &ids),
            after_adding(folder.path(), &ids),
            verified(folder.path()),
        ] {
            match result {
                Err(StoreError::NotAStore { .. } | StoreError::Damaged { .. }) => {}
                other => panic!("{len} bytes: {other:?}"),
            }
        }
        let file = folder.path().join(Store::FILE_NAME);
        assert!(fs::read(file).unwrap() == bytes[..len], "it is left alone");
    }
}
