//! Damaged files: an error or the right answer, never a panic, never a wrong answer.

use crate::model::{add, answer, build, forest, of_stacks, profile};
use std::fs;
use std::path::Path;
use sto_core::id::ProfileId;
use sto_core::store::{Store, StoreError};

/// The bytes of a store of three profiles, their ids, and what it says of them.
fn small_store() -> (Vec<u8>, Vec<ProfileId>, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let ids = vec![
        add(&store, "v1", "a", &of_stacks(&[&[1, 2], &[1, 3, 4]])),
        add(&store, "v1", "b", &forest(2000, 300, 1)),
        add(&store, "v2", "c", &forest(2000, 320, 2)),
    ];
    let said = everything(folder.path(), &ids).unwrap();
    (
        fs::read(folder.path().join(Store::FILE_NAME)).unwrap(),
        ids,
        said,
    )
}

fn everything(folder: &Path, ids: &[ProfileId]) -> Result<String, StoreError> {
    let store = Store::open(folder)?;
    Ok(format!("{:?}\n{}", store.builds()?, answer(&store, ids)?))
}

/// A folder with a store's file of these bytes.
fn folder_with(bytes: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(Store::FILE_NAME), bytes).unwrap();
    folder
}

/// What a store says of profiles after one more was added.
fn after_adding(folder: &Path, ids: &[ProfileId]) -> Result<String, StoreError> {
    let store = Store::open_or_create(folder)?;
    let plain = of_stacks(&[&[1, 2], &[9]]);
    let build = build("v3");
    store.add(&build, &profile(&build, "more", &plain), &plain.interned())?;
    answer(&store, ids)
}

#[test]
fn flipped_bits_are_found_or_harmless() {
    let (bytes, ids, said) = small_store();
    let mut random = 1u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % below
    };
    let (mut found, mut harmless) = (0, 0);
    for flip in 0..400 {
        let (at, bit) = (next(bytes.len()), next(8));
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << bit;
        let folder = folder_with(&bytes);
        match everything(folder.path(), &ids) {
            Err(_) => found += 1,
            Ok(answer) => {
                assert_eq!(answer, said, "bit {bit} of byte {at}");
                harmless += 1;
            }
        }
        if flip % 4 == 0
            && let Ok(answer) = after_adding(folder.path(), &ids)
        {
            assert!(
                said.ends_with(&answer),
                "bit {bit} of byte {at}, after adding"
            );
        }
    }
    println!("{found} found, {harmless} harmless");
    assert!(found > 0 && harmless > 0);
}

#[test]
fn a_truncated_file_is_told_at_every_length() {
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
