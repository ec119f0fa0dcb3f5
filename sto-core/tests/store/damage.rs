//! Damaged files: an error or the right answer, never a panic, never a wrong answer.

use crate::model::{add, answer, build, forest, of_stacks, profile};
use std::fs;
use std::panic::catch_unwind;
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

/// What a store of these bytes says, or that it panics; and the same after adding a profile.
fn outcome(bytes: &[u8], ids: &[ProfileId]) -> [Result<Result<String, StoreError>, ()>; 2] {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(Store::FILE_NAME), bytes).unwrap();
    let read = catch_unwind(|| everything(folder.path(), ids)).map_err(|_| ());
    let added = catch_unwind(|| {
        let store = Store::open_or_create(folder.path())?;
        let plain = of_stacks(&[&[1, 2], &[9]]);
        let build = build("v3");
        let profile = profile(&build, "more", &plain);
        store.add(&build, &profile, &plain.interned())?;
        answer(&store, ids)
    });
    [read, added.map_err(|_| ())]
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
    let flips: usize = std::env::var("STO_TEST_FLIPS").map_or(300, |n| n.parse().unwrap());
    let mut bad = Vec::new();
    for _ in 0..flips {
        let (at, bit) = (next(bytes.len()), next(8));
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << bit;
        let [read, added] = outcome(&bytes, &ids);
        match read {
            Err(()) => bad.push(format!("panic at {at}.{bit}")),
            Ok(Err(_)) => found += 1,
            Ok(Ok(answer)) if answer == said => harmless += 1,
            Ok(Ok(_)) => bad.push(format!("wrong at {at}.{bit}")),
        }
        match added {
            Err(()) => bad.push(format!("panic adding at {at}.{bit}")),
            Ok(Ok(answer)) if !said.ends_with(&answer) => {
                bad.push(format!("wrong adding at {at}.{bit}"))
            }
            _ => {}
        }
    }
    println!("{flips} flips: {found} found, {harmless} harmless");
    assert!(bad.is_empty(), "{bad:?}");
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
        for outcome in outcome(&bytes[..len], &ids) {
            match outcome {
                Ok(Err(StoreError::NotAStore { .. } | StoreError::Damaged { .. })) => {}
                other => panic!("{len} bytes: {other:?}"),
            }
        }
    }
}
