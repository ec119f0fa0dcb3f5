//! Symbolizing a stored profile again gives the profile that ingestion would have given with the same symbols.

use super::compile::run;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use sto_core::CancelToken;
use sto_core::id::ProfileId;
use sto_core::ingest::{
    IngestOptions, SymbolOptions, Symbolized, ingest, prepare, symbolize_again,
};
use sto_core::model::Granularity;
use sto_core::store::{ProfileOrigin, Snapshot, Store, StoreError};
use sto_core::tree::{ProfileData, SliceCount};
use sto_test_support::missing;

/// The program of recordings in `testdata/demo`, stripped, and its separate debug file.
struct Demo {
    dir: tempfile::TempDir,
}

impl Demo {
    fn new() -> Demo {
        let dir = tempfile::tempdir().unwrap();
        let program = testdata("demo-v1").display().to_string();
        for folder in ["stripped", "debug"] {
            std::fs::create_dir(dir.path().join(folder)).unwrap();
        }
        let only_debug = ["--only-keep-debug", &program, "debug/demo-v1"];
        run(dir.path(), "objcopy", &only_debug);
        let stripped = ["--strip-all", &program, "stripped/demo-v1"];
        run(dir.path(), "objcopy", &stripped);
        Demo { dir }
    }

    fn symbols(&self, folders: &[&str]) -> SymbolOptions {
        SymbolOptions {
            symbol_dirs: folders.iter().map(|f| self.dir.path().join(f)).collect(),
            ..SymbolOptions::default()
        }
    }
}

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata/demo")
        .join(name)
}

fn options(symbols: SymbolOptions, slices: Option<u32>) -> IngestOptions {
    IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        slices: slices.map(|count| SliceCount::new(count).unwrap()),
        symbols,
        ..IngestOptions::default()
    }
}

/// A store with the recording ingested with these options, and its profile.
fn stored(recording: &str, options: &IngestOptions) -> (Store, ProfileId) {
    let store = Store::in_memory().unwrap();
    let outcome = ingest(&store, &testdata(recording), options, &mut |_| ()).unwrap();
    (store, outcome.profiles[0].id)
}

fn again(store: &Store, symbols: &SymbolOptions) -> Symbolized {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let (build, profile) = (&builds[0], &builds[0].profiles[0]);
    let cancel = CancelToken::default();
    symbolize_again(&mut store.writer(), build, profile, symbols, &cancel).unwrap()
}

/// All data of the only profile in a store.
fn all_of(store: &Store) -> (ProfileId, String) {
    let snapshot = store.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    let profile = &builds[0].profiles[0];
    let loaded = Mutex::new(ProfileData::default());
    snapshot
        .load_each(profile_executable(), &[profile.id], |_, interned| {
            *loaded.lock().unwrap() = interned;
            Ok::<(), StoreError>(())
        })
        .unwrap();
    let loaded = loaded.into_inner().unwrap();
    let shown = format!("{:?} {loaded:?}", profile.profile);
    (profile.id, shown)
}

fn profile_executable() -> sto_core::id::ExecutableId {
    sto_core::id::ExecutableId::from_name("demo")
}

#[test]
fn symbolizing_later_equals_symbolizing_at_ingestion() {
    if missing(&["objcopy"]) {
        return;
    }
    let demo = Demo::new();
    // Unwinding needs the program's rules, so the stripped program is there.
    for (recording, before) in [
        ("v1.perf.data", &[][..]),
        ("v1.perf.data", &["stripped"]),
        ("v1.dwarf.perf.data", &["stripped"]),
    ] {
        for granularity in [Granularity::Function, Granularity::Line] {
            for slices in [None, Some(40)] {
                let with = |folders: &[&str]| SymbolOptions {
                    granularity,
                    ..demo.symbols(folders)
                };
                let (store, first) = stored(recording, &options(with(before), slices));
                let after = with(&["debug", "stripped"]);
                let (fresh, id) = stored(recording, &options(after.clone(), slices));
                assert_ne!(first, id);

                let found = again(&store, &after);
                assert_eq!(found.replaced_by.map(|(id, _)| id), Some(id), "{recording}");
                assert_eq!(
                    all_of(&store),
                    all_of(&fresh),
                    "{recording} {granularity:?}"
                );
                assert!(
                    found.named > 10 && found.named < found.unresolved,
                    "{found:?}"
                );
                let snapshot = store.snapshot().unwrap();
                assert_eq!(snapshot.replaced().unwrap(), [(first, id)].into());
                drop(snapshot);
                assert!(again(&store, &after).replaced_by.is_none());
            }
        }
    }
}

#[test]
fn keeps_addresses_until_they_are_resolved() {
    if missing(&["objcopy"]) {
        return;
    }
    let demo = Demo::new();
    let (store, first) = stored("v1.perf.data", &options(demo.symbols(&[]), None));
    let nothing = again(&store, &demo.symbols(&[]));
    assert_eq!((nothing.named, nothing.replaced_by), (0, None));
    // The stripped program only has names of PLT stubs.
    let some = again(&store, &demo.symbols(&["stripped"]));
    let second = some.replaced_by.unwrap().0;
    assert!(
        some.named > 0 && some.named < some.unresolved - 10,
        "{some:?}"
    );
    let all = again(&store, &demo.symbols(&["debug", "stripped"]));
    let third = all.replaced_by.unwrap().0;
    let replaced = store.snapshot().unwrap().replaced().unwrap();
    assert_eq!(replaced, [(first, third), (second, third)].into());
    let fresh = options(demo.symbols(&["debug", "stripped"]), None);
    assert_eq!(all_of(&store), all_of(&stored("v1.perf.data", &fresh).0));
}

#[test]
fn replaced_profile_stays_replaced_after_merging() {
    if missing(&["objcopy"]) {
        return;
    }
    let demo = Demo::new();
    let merge = |to: &Store, from: &Store| {
        let from = from.snapshot().unwrap();
        to.merge(&from, &mut |_| Ok(())).unwrap()
    };
    let (here, first) = stored("v1.perf.data", &options(demo.symbols(&[]), None));
    let (there, elsewhere) = (Store::in_memory().unwrap(), Store::in_memory().unwrap());
    merge(&there, &here);
    merge(&elsewhere, &here);
    let id = again(&there, &demo.symbols(&["debug"]))
        .replaced_by
        .unwrap()
        .0;

    // Merging a replacement replaces the profile in a store that got it by merging.
    let merged = merge(&elsewhere, &there);
    assert_eq!((merged.added, merged.conflicts.len()), (vec![id], 0));
    assert_eq!(all_of(&elsewhere).0, id);
    // A store without the profile gets the replacement.
    let another = Store::in_memory().unwrap();
    merge(&another, &here);
    let snapshot = there.snapshot().unwrap();
    let builds = snapshot.builds().unwrap();
    let packed = Mutex::new(Vec::new());
    let (build, profile) = (&builds[0].build, &builds[0].profiles[0]);
    let keep = |_, bytes| {
        *packed.lock().unwrap() = bytes;
        Ok::<(), StoreError>(())
    };
    snapshot.pack_each(build, &[profile], keep).unwrap();
    drop(snapshot);
    let alone = Snapshot::unpack(&packed.into_inner().unwrap(), Path::new("alone")).unwrap();
    let merged = another.merge(&alone, &mut |_| Ok(())).unwrap();
    assert_eq!(merged.added, [id]);
    assert_eq!(all_of(&another).0, id);
    // The replaced profile is not merged again, nor are claims of other stores about recordings read here.
    for (to, from) in [(&there, &here), (&elsewhere, &here)] {
        let merged = merge(to, from);
        assert_eq!((merged.added.len(), merged.already_stored), (0, 1));
        assert_eq!(all_of(to).0, id);
    }
    let merged = merge(&here, &there);
    assert_eq!(merged.conflicts[0].here, first);
    assert!(merged.conflicts[0].read_here);
    assert_eq!(all_of(&here).0, first);
    // A copy knows which profile it replaces, and forgets that when it is removed.
    let copy = Store::in_memory().unwrap();
    merge(&copy, &there);
    let snapshot = copy.snapshot().unwrap();
    assert_eq!(snapshot.replaced().unwrap(), [(first, id)].into());
    drop(snapshot);
    copy.compact().unwrap();
    assert_eq!(
        copy.snapshot().unwrap().replaced().unwrap(),
        [(first, id)].into()
    );
    copy.prune(&[id].into()).unwrap();
    assert!(copy.snapshot().unwrap().replaced().unwrap().is_empty());
    assert_eq!(merge(&copy, &here).added, [first]);
}

#[test]
fn origin_survives_symbolizing_again() {
    if missing(&["objcopy"]) {
        return;
    }
    let demo = Demo::new();
    let (store, _) = stored("v1.perf.data", &options(demo.symbols(&[]), None));
    again(&store, &demo.symbols(&["debug"]));
    let snapshot = store.snapshot().unwrap();
    let reading = snapshot.builds().unwrap()[0].profiles[0]
        .profile
        .build_recording_id();
    let (_, from) = snapshot.profile_of_recording(reading).unwrap().unwrap();
    assert_eq!(from, ProfileOrigin::ReadHere);
}

#[test]
fn does_not_keep_addresses_with_debug_info() {
    let with = |folder: &str| SymbolOptions {
        symbol_dirs: vec![testdata(folder)],
        ..SymbolOptions::default()
    };
    let kept = |symbols| {
        let options = options(symbols, None);
        let prepared = prepare(&testdata("v1.perf.data"), &options, &mut |_| ()).unwrap();
        let addresses = prepared.profiles()[0].interned.addresses.clone();
        addresses.map_or_else(Vec::new, |addresses| {
            let modules = addresses.modules.into_iter();
            modules.map(|module| module.path).collect()
        })
    };
    let has_demo = |modules: &[String]| modules.iter().any(|path| path.ends_with("/demo-v1"));
    assert!(!has_demo(&kept(with("."))));
    assert!(has_demo(&kept(with("none"))));
}
