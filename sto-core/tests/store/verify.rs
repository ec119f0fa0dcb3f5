//! Verifying a store, and counting its bytes, which change nothing.

use super::model::{add, forest, of_stacks};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use sto_core::Cancelled;
use sto_core::store::{Store, StoreError, StoreStats};

fn store_of_three_profiles(folder: &Path) -> Store {
    let store = Store::open_or_create(folder).unwrap();
    add(&store, "v1", "a", &of_stacks(&[&[1, 2], &[1, 3, 4]]));
    add(&store, "v1", "b", &forest(2000, 300, 1));
    add(&store, "v2", "c", &forest(2000, 320, 2));
    store
}

#[test]
fn verifies_a_sound_store() {
    let folder = tempfile::tempdir().unwrap();
    let store = store_of_three_profiles(folder.path());
    let verification = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap();
    assert_eq!(verification.damages, []);
    assert_eq!(verification.sound_profiles, 3);
    let checked = verification.checked;
    let stats = store.stats().unwrap();
    assert_eq!((checked.builds, checked.profiles), (2, 3));
    assert_eq!((checked.frames, checked.nodes), (stats.frames, stats.nodes));
    assert_eq!(checked.bytes, store.file_size().unwrap());
}

#[test]
fn rejects_verifying_a_missing_store() {
    let folder = tempfile::tempdir().unwrap();
    let error = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, StoreError::NotFound { .. }), "{error}");
    fs::write(folder.path().join(Store::FILE_NAME), "hello").unwrap();
    let error = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap_err();
    assert!(matches!(error, StoreError::NotAStore { .. }), "{error}");
}

#[test]
fn verification_can_be_cancelled() {
    let folder = tempfile::tempdir().unwrap();
    store_of_three_profiles(folder.path());
    let mut asked = 0;
    let ended = Store::verify(folder.path(), None, &mut |_| {
        asked += 1;
        if asked < 2 { Ok(()) } else { Err(Cancelled) }
    });
    assert!(matches!(ended, Err(StoreError::Cancelled(_))), "{ended:?}");
}

#[test]
fn concurrent_verification_changes_nothing() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    store_of_three_profiles(folder.path());
    let file = folder.path().join(Store::FILE_NAME);
    // While redb has the file open for writing, it is marked as not closed.
    let writer = redb::Database::open(&file).unwrap();
    let killed = tempfile::tempdir().unwrap();
    fs::copy(&file, killed.path().join(Store::FILE_NAME)).unwrap();
    drop(writer);

    for folder in [folder, killed] {
        let file = folder.path().join(Store::FILE_NAME);
        let before = fs::read(&file).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o444)).unwrap();
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o555)).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let verification = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap();
                    assert_eq!(verification.damages, []);
                    Store::open(folder.path()).unwrap().stats().unwrap();
                });
            }
        });
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(fs::read(&file).unwrap() == before);
    }
}

fn bytes_of(stats: &StoreStats, kind: &str) -> u64 {
    let part = stats.parts.iter().find(|part| part.part == kind);
    part.map_or(0, |part| part.bytes.0)
}

#[test]
fn parts_add_up_to_the_file_size() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let empty = store.stats().unwrap();
    assert_eq!((empty.profiles, empty.nodes), (0, 0));
    for round in 0..3u64 {
        add(&store, "v1", &format!("a{round}"), &forest(300, 100, round));
        add(&store, "v2", &format!("b{round}"), &forest(300, 100, round));
        let stats = store.stats().unwrap();
        assert_eq!(stats.file, store.file_size().unwrap());
        let sum: u64 = stats.parts.iter().map(|part| part.bytes.0).sum();
        assert_eq!(sum, stats.file.0);
        assert!(stats.parts.is_sorted_by(|a, b| a.bytes >= b.bytes));
        let names: BTreeSet<&str> = stats.parts.iter().map(|part| &part.part[..]).collect();
        assert_eq!(names.len(), stats.parts.len(), "{stats:#?}");
        // The remainder is redb's own and small.
        let redb = bytes_of(&stats, "redb: its own");
        assert!((4096..64 << 10).contains(&redb), "{stats:#?}");
    }
    let stats = store.stats().unwrap();
    assert_eq!((stats.builds, stats.profiles, stats.recordings), (2, 6, 6));
    let own: u64 = store
        .snapshot()
        .unwrap()
        .builds()
        .unwrap()
        .iter()
        .flat_map(|build| &build.profiles)
        .map(|p| p.stored.0)
        .sum();
    let [executable] = &stats.executables[..] else {
        panic!("{stats:#?}")
    };
    assert_eq!((executable.builds, executable.profiles), (2, 6));
    assert_eq!(executable.node_bytes.0, bytes_of(&stats, "nodes"));
    // The bytes of a profile include the checksums of its two columns and its record; sums belong to builds.
    let sums = bytes_of(&stats, "sums");
    assert_eq!(executable.profile_bytes.0 + 6 * 3 * 8 - sums, own);
}

#[test]
fn counts_a_recording_once() {
    let store = Store::in_memory().unwrap();
    add(&store, "v1", "the same", &of_stacks(&[&[1]]));
    add(&store, "v2", "the same", &of_stacks(&[&[1]]));
    let stats = store.stats().unwrap();
    assert_eq!((stats.profiles, stats.recordings), (2, 1));
    assert_eq!(stats.source.0, "the same".len() as u64);
    let sum: u64 = stats.parts.iter().map(|part| part.bytes.0).sum();
    assert_eq!(sum, stats.file.0);
}

#[test]
fn counts_strings_once_per_pack() {
    let store = Store::in_memory().unwrap();
    add(&store, "v1", "a", &of_stacks(&[&[1], &[1, 1]]));
    let stats = store.stats().unwrap();
    // One frame with its module, symbol and file; its line costs refer to it too.
    assert_eq!(
        (stats.frames, stats.strings, stats.nodes, stats.packs),
        (1, 3, 2, 2)
    );
}
