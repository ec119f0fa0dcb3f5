//! Snapshots and writers of one store.

use super::model::{add, build, executable, forest, of_stacks, profile};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
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
    add(&store, "v1", "a", &of_stacks(&[&[1]]));
    let file = folder.path().join(Store::FILE_NAME);
    // Locks the file like another process.
    let holder = redb::Database::open(&file).unwrap();
    let (say, heard) = channel();
    let options = StoreOptions {
        on_wait: Some(Arc::new(move |waiting| say.send(waiting.clone()).unwrap())),
        ..StoreOptions::default()
    };
    std::thread::scope(|scope| {
        let path = folder.path();
        let other = scope.spawn(move || Store::open_with(path, options).unwrap().snapshot());
        let waiting = heard.recv().unwrap();
        assert_eq!(waiting.path, file);
        assert_eq!(waiting.holders.as_deref(), Some("this process"));
        drop(holder);
        assert_eq!(profiles(&other.join().unwrap().unwrap()), 1);
    });
}

/// The number of redb's savepoints in a store's file.
fn savepoints(folder: &Path) -> usize {
    let database = redb::Database::open(folder.join(Store::FILE_NAME)).unwrap();
    let transaction = database.begin_write().unwrap();
    transaction.list_persistent_savepoints().unwrap().count()
}

#[test]
fn writes_do_not_wait_for_snapshots_and_do_not_change_them() {
    let folder = tempfile::tempdir().unwrap();
    let stores = [(); 2].map(|()| Store::open_or_create(folder.path()).unwrap());
    let mut kept: Vec<(Snapshot, String)> = Vec::new();
    for run in 0..24 {
        // Another store of this process may be the one that writes.
        let [store, other] = [run % 2, (run + run / 4) % 2].map(|which| &stores[which]);
        let snapshot = store.snapshot().unwrap();
        assert_eq!(profiles(&snapshot), run);
        assert!(!other.changed_since(snapshot.state()).unwrap());
        let before = contents(&snapshot);
        kept.push((snapshot, before));
        add(
            other,
            &format!("v{}", run % 3),
            &format!("{run}"),
            &forest(300, 60, run as u64),
        );
        for (snapshot, before) in &kept {
            assert!(contents(snapshot) == *before);
            assert!(store.changed_since(snapshot.state()).unwrap());
        }
        // Some states are kept for long, and some only until the next write.
        match run % 6 {
            0 | 4 => drop(kept.pop()),
            5 => drop(kept.remove(0)),
            _ => {}
        }
    }
    assert_eq!(
        savepoints(folder.path()),
        kept.len() + 1,
        "and one that was just dropped"
    );
    assert!(is_sound(folder.path()));
    kept.clear();
    add(&stores[0], "v9", "last", &of_stacks(&[&[1]]));
    assert_eq!(savepoints(folder.path()), 0);
    assert!(is_sound(folder.path()));
}

#[test]
fn an_unchanged_store_has_one_state() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let none = store.state().unwrap();
    add(&store, "v1", "a", &of_stacks(&[&[1]]));
    let first = store.state().unwrap();
    assert_ne!(none, first);
    let snapshots = [(); 2].map(|()| Store::open(folder.path()).unwrap().snapshot().unwrap());
    assert_eq!(snapshots.map(|snapshot| snapshot.state()), [first; 2]);
    add(&store, "v1", "a", &of_stacks(&[&[1]]));
    assert_eq!(store.state().unwrap(), first);
    store
        .prune(
            &store.snapshot().unwrap().builds().unwrap()[0]
                .profiles
                .iter()
                .map(|run| run.id)
                .collect(),
        )
        .unwrap();
    assert!(store.changed_since(first).unwrap());
}

#[test]
fn a_writer_that_stays_open_lets_this_process_read() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut writer = store.writer();
    for run in 0..4 {
        add_by(&mut writer, &"a".repeat(run + 1));
        assert_eq!(profiles(&writer.snapshot().unwrap()), run + 1);
        // Another thread's snapshot closes the file, and the writer opens it again.
        let other = Store::open(folder.path()).unwrap();
        let snapshot = std::thread::spawn(move || other.snapshot().unwrap());
        assert_eq!(profiles(&snapshot.join().unwrap()), run + 1);
    }
}

#[test]
fn pruning_and_compacting_do_not_change_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let first = add(&store, "v1", "a", &forest(300, 60, 1));
    add(&store, "v2", "b", &forest(300, 60, 2));
    let snapshot = store.snapshot().unwrap();
    let before = contents(&snapshot);
    store.prune(&[first].into()).unwrap();
    add(&store, "v3", "c", &forest(300, 60, 3));
    store.compact().unwrap();
    add(&store, "v4", "d", &forest(300, 60, 4));
    assert!(contents(&snapshot) == before);
    assert_eq!(profiles(&store.snapshot().unwrap()), 3);
}

#[test]
fn killed_writers_do_not_change_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let mut kept = Vec::new();
    for round in 1..6 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "store::folder::add_many_in_child_process",
                "--nocapture",
            ])
            .env("STO_TEST_STORE", folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(writer.stdout.take().unwrap()).lines();
        let added = lines
            .map(Result::unwrap)
            .filter(|line| line.contains("added "));
        for line in added.take(2 * round) {
            if line.ends_with('1') {
                let snapshot = store.snapshot().unwrap();
                let before = contents(&snapshot);
                kept.push((snapshot, before));
            }
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        let snapshot = store.snapshot().unwrap();
        let before = contents(&snapshot);
        kept.push((snapshot, before));
        // This writer repairs the file first.
        add(
            &store,
            "v2",
            &format!("{round}"),
            &forest(100, 50, round as u64),
        );
        assert!(
            kept.iter()
                .all(|(snapshot, before)| contents(snapshot) == *before)
        );
    }
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
