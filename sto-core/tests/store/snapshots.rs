//! Snapshots and writers of one store.

use super::model::{add, build, executable, forest, of_stacks, profile};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::channel;
use sto_core::store::{Snapshot, Store, StoreOptions, Writer};

/// The contents of a snapshot as text.
fn contents(snapshot: &Snapshot) -> String {
    let builds = snapshot.builds().unwrap();
    let profiles = builds.iter().flat_map(|build| &build.profiles);
    let ids: Vec<_> = profiles.map(|stored| stored.id).collect();
    let loaded = snapshot.load(executable(), &ids).unwrap();
    format!("{builds:?}\n{loaded:?}")
}

fn profiles(snapshot: &Snapshot) -> usize {
    let builds = snapshot.builds().unwrap();
    builds.iter().map(|build| build.profiles.len()).sum()
}

fn add_by(writer: &mut Writer, source: &str) {
    let (build, plain) = (build("v1"), forest(50, 20, source.len() as u64));
    let profile = profile(&build, source, &plain);
    let added = writer.add(&build, &profile, &plain.interned()).unwrap();
    assert!(added.is_new());
}

fn is_sound(folder: &Path) -> bool {
    Store::verify(folder, None, &mut |_| Ok(())).unwrap().sound
}

#[test]
fn several_threads_read_several_snapshots() {
    let folders: Vec<_> = (0..3).map(|_| tempfile::tempdir().unwrap()).collect();
    let snapshots: Vec<Snapshot> = (0..)
        .zip(&folders)
        .map(|(seed, folder)| {
            let store = Store::open_or_create(folder.path()).unwrap();
            add(&store, "v1", "source", &forest(500, 100, seed));
            store.snapshot().unwrap()
        })
        .collect();
    let expected: Vec<String> = snapshots.iter().map(contents).collect();
    std::thread::scope(|scope| {
        for first in 0..6 {
            let (snapshots, expected) = (snapshots.clone(), &expected);
            scope.spawn(move || {
                for at in (first..first + 6).map(|at| at % snapshots.len()) {
                    assert!(contents(&snapshots[at]) == expected[at]);
                }
            });
        }
    });
}

#[test]
fn snapshot_in_memory_does_not_change() {
    let store = Store::in_memory().unwrap();
    let empty = store.snapshot().unwrap();
    let id = add(&store, "v1", "one", &of_stacks(&[&[1]]));
    let one = store.snapshot().unwrap();
    let before = contents(&one);
    add(&store, "v1", "two", &of_stacks(&[&[2]]));
    store.prune(&[id].into()).unwrap();
    assert_eq!((profiles(&empty), profiles(&one)), (0, 1));
    assert!(contents(&one) == before);
    assert!(!store.snapshot().unwrap().has(id).unwrap());
}

#[test]
fn reads_a_store_while_a_writer_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut writer = store.writer();
    let empty = store.snapshot().unwrap();
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    for (count, source) in ["a", "ab", "abc"].into_iter().enumerate() {
        let before = store.snapshot().unwrap();
        add_by(&mut writer, source);
        let after = store.snapshot().unwrap();
        assert_eq!((profiles(&before), profiles(&after)), (count, count + 1));
        // Another writer of this process shares the file too.
        let again = (build("v1"), forest(50, 20, source.len() as u64));
        let same = profile(&again.0, source, &again.1);
        let added = store
            .writer()
            .add(&again.0, &same, &again.1.interned())
            .unwrap();
        assert!(!added.is_new());
    }
    assert_eq!(profiles(&empty), 0);
    let last = store.snapshot().unwrap();
    drop(writer);
    assert_eq!(profiles(&last), 3);
    drop(last);
    assert!(is_sound(folder.path()));
}

#[test]
fn concurrent_writers_add_all_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                let mut writer = store.writer();
                for run in 0..5 {
                    add_by(&mut writer, &format!("{thread}/{run}"));
                }
            });
        }
    });
    assert_eq!(profiles(&store.snapshot().unwrap()), 20);
    assert!(is_sound(folder.path()));
}

#[test]
fn waiting_is_reported_and_ends_when_the_writer_closes() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut writer = store.writer();
    add_by(&mut writer, "a");
    let (say, heard) = channel();
    let options = StoreOptions {
        on_wait: Some(Arc::new(move |waiting| {
            say.send(waiting.path.clone()).unwrap();
        })),
        ..StoreOptions::default()
    };
    std::thread::scope(|scope| {
        let path = folder.path();
        let other = scope.spawn(move || Store::open_with(path, options).unwrap().snapshot());
        let file = folder.path().join(Store::FILE_NAME);
        assert_eq!(heard.recv().unwrap(), file);
        writer.release();
        assert_eq!(profiles(&other.join().unwrap().unwrap()), 1);
    });
    add_by(&mut writer, "ab");
    drop(writer);
    assert!(is_sound(folder.path()));
}

#[test]
fn several_readers_read_an_unclosed_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    add(&store, "v1", "source", &forest(500, 100, 1));
    let expected = contents(&store.snapshot().unwrap());
    // While redb has the file open for writing, it is marked as not closed.
    let file = folder.path().join(Store::FILE_NAME);
    let writer = redb::Database::open(&file).unwrap();
    let killed = tempfile::tempdir().unwrap();
    fs::copy(&file, killed.path().join(Store::FILE_NAME)).unwrap();
    drop(writer);

    let stores = [(); 3].map(|()| Store::open(killed.path()).unwrap());
    let snapshots = stores.each_ref().map(|store| store.snapshot().unwrap());
    assert!(
        snapshots
            .iter()
            .all(|snapshot| contents(snapshot) == expected)
    );
}
