//! Rewriting a store: the rest is unchanged, removed profiles leave no trace, and the order of adding does not matter.

use super::model::{Plain, add, answer, build, forest, of_stacks, plain, profile};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Once;
use sto_core::id::ProfileId;
use sto_core::store::{Metrics, Rewritten, Store, StoreError, StoredBuild, Tag};
use sto_core::units::Bytes;

type Run<'a> = (&'a str, &'a str, Plain);

fn runs() -> Vec<Run<'static>> {
    vec![
        ("v1", "one", forest(400, 60, 1)),
        ("v1", "other", forest(400, 70, 2)),
        ("v2", "third", forest(300, 90, 3)),
        ("v2", "early", of_stacks(&[&[1, 2], &[9]])),
        ("v3", "the last", forest(50, 20, 4)),
    ]
}

/// A store of some of the runs, in this order.
fn store_of(folder: &Path, runs: &[Run<'_>], order: &[usize]) -> (Store, Vec<ProfileId>) {
    let store = Store::open_or_create(folder).unwrap();
    let ids = order
        .iter()
        .map(|&run| add(&store, runs[run].0, runs[run].1, &runs[run].2));
    let ids = ids.collect();
    (store, ids)
}

fn bytes(folder: &Path) -> Vec<u8> {
    fs::read(folder.join(Store::FILE_NAME)).unwrap()
}

/// Listing and content.
fn contents(store: &Store) -> String {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let ids: Vec<_> = builds
        .iter()
        .flat_map(|build| build.profiles.iter().map(|stored| stored.id))
        .collect();
    let mut builds = builds;
    for stored in builds.iter_mut().flat_map(|build| &mut build.profiles) {
        stored.stored = Bytes(0);
    }
    format!("{builds:?}\n{}", answer(store, &ids).unwrap())
}

#[test]
fn compaction_keeps_the_content() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = store_of(folder.path(), &runs(), &[3, 1, 4, 0, 2]);
    let before = contents(&store);
    let old = bytes(folder.path()).len() as u64;
    let Rewritten {
        before: size,
        after,
        ..
    } = store.compact().unwrap();
    assert_eq!(size.0, old);
    assert!(contents(&store) == before);
    assert_eq!(after.0, bytes(folder.path()).len() as u64);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn equal_profiles_give_equal_bytes() {
    let runs = runs();
    let orders = [[0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3]];
    let compacted = orders.map(|order| {
        let folder = tempfile::tempdir().unwrap();
        store_of(folder.path(), &runs, &order).0.compact().unwrap();
        bytes(folder.path())
    });
    assert!(compacted[0] == compacted[1] && compacted[1] == compacted[2]);
}

#[test]
fn pruned_store_equals_a_store_of_the_rest() {
    let runs = runs();
    let (pruned, kept) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, ids) = store_of(pruned.path(), &runs, &[0, 1, 2, 3, 4]);
    store
        .prune(&BTreeSet::from([ids[1], ids[2], ids[4]]))
        .unwrap();
    let (expected, _) = store_of(kept.path(), &runs, &[3, 0]);
    assert!(contents(&store) == contents(&expected));
    expected.compact().unwrap();
    assert!(bytes(pruned.path()) == bytes(kept.path()));
    // Removed profiles can be added again.
    assert_eq!(add(&store, runs[1].0, runs[1].1, &runs[1].2), ids[1]);
}

#[test]
fn pruning_dry_run_reports_the_size() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0, 1, 2, 3, 4]);
    let before = bytes(folder.path());
    let gone = BTreeSet::from([ids[0], ids[2]]);
    let tried = store.try_prune(&gone).unwrap();
    assert!(bytes(folder.path()) == before);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    assert_eq!(store.prune(&gone).unwrap(), tried);
}

#[test]
fn store_can_be_emptied_and_filled_again() {
    let folder = tempfile::tempdir().unwrap();
    let runs = runs();
    let (store, ids) = store_of(folder.path(), &runs, &[0, 1]);
    let before = contents(&store);
    store.prune(&ids.iter().copied().collect()).unwrap();
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
    store_of(folder.path(), &runs, &[0, 1]);
    assert!(contents(&store) == before);
}

#[test]
fn export_is_a_store_of_the_chosen_profiles() {
    let runs = runs();
    let files = [[0, 1, 2, 3, 4], [4, 2, 3, 0, 1]].map(|order| {
        let folder = tempfile::tempdir().unwrap();
        let (store, ids) = store_of(folder.path(), &runs, &order);
        let id_of = |run: usize| ids[order.iter().position(|&at| at == run).unwrap()];
        let path = folder.path().join("bundle");
        let size = store
            .snapshot()
            .unwrap()
            .export(&BTreeSet::from([id_of(0), id_of(3)]), &path)
            .unwrap();
        let bytes = fs::read(&path).unwrap();
        assert_eq!(size.0, bytes.len() as u64);
        bytes
    });
    assert!(files[0] == files[1]);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(Store::FILE_NAME), &files[0]).unwrap();
    let other = tempfile::tempdir().unwrap();
    let (expected, _) = store_of(other.path(), &runs, &[0, 3]);
    assert!(contents(&Store::open(folder.path()).unwrap()) == contents(&expected));
}

#[test]
fn export_replaces_no_file_and_leaves_no_incomplete_one() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0]);
    let path = folder.path().join("bundle");
    fs::write(&path, "mine").unwrap();
    let ids: BTreeSet<_> = ids.into_iter().collect();
    let error = store
        .snapshot()
        .unwrap()
        .export(&ids, &path)
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("cannot make") && error.contains("exists"),
        "{error}"
    );
    assert_eq!(fs::read(&path).unwrap(), b"mine");
    let missing = BTreeSet::from([ProfileId([7; 16])]);
    let other = folder.path().join("other");
    let error = store
        .snapshot()
        .unwrap()
        .export(&missing, &other)
        .unwrap_err();
    assert!(matches!(error, StoreError::NoProfile { .. }), "{error}");
    assert!(!other.exists());
}

#[test]
fn waiting_writer_writes_to_the_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let (store, _) = store_of(folder.path(), &runs(), &[0, 1, 2, 3]);
    let plain = of_stacks(&[&[1, 2, 3]]);
    std::thread::scope(|scope| {
        let compacting = scope.spawn(|| (0..6).try_for_each(|_| store.compact().map(drop)));
        for run in 0..20 {
            add(&store, "v9", &format!("run {run}"), &plain);
        }
        compacting.join().unwrap().unwrap();
    });
    let builds = store.snapshot().unwrap().builds().unwrap();
    let added = builds.iter().find(|build| build.build.version == "v9");
    assert_eq!(added.unwrap().profiles.len(), 20);
}

#[cfg(unix)]
#[test]
fn keeps_a_symbolic_link_to_a_store() {
    let (real, link) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, _) = store_of(real.path(), &runs(), &[0, 3]);
    let before = contents(&store);
    let linked = link.path().join(Store::FILE_NAME);
    std::os::unix::fs::symlink(real.path().join(Store::FILE_NAME), &linked).unwrap();
    Store::open(link.path()).unwrap().compact().unwrap();
    assert!(fs::symlink_metadata(&linked).unwrap().is_symlink());
    assert!(contents(&store) == before);
}

#[test]
fn prunes_a_store_in_memory() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1, 2]]);
    let gone = add(&store, "v1", "a", &plain);
    let kept = add(&store, "v2", "b", &plain);
    store.prune(&BTreeSet::from([gone])).unwrap();
    let builds = store.snapshot().unwrap().builds().unwrap();
    assert_eq!(builds.len(), 1);
    assert_eq!(builds[0].profiles[0].id, kept);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn pruning_keeps_other_profiles(
        profiles in proptest::collection::vec((0u8..3, plain(), any::<bool>()), 1..6),
    ) {
        let (store, expected) = (Store::in_memory().unwrap(), Store::in_memory().unwrap());
        let mut gone = BTreeSet::new();
        for (run, (version, plain, keep)) in profiles.iter().enumerate() {
            let build = build(&format!("v{version}"));
            let profile = profile(&build, &format!("run {run}"), plain);
            let id = store.writer().add(&build, &profile, &plain.interned()).unwrap().id();
            if *keep {
                expected.writer().add(&build, &profile, &plain.interned()).unwrap();
            } else {
                gone.insert(id);
            }
        }
        store.prune(&gone).unwrap();
        prop_assert_eq!(contents(&store), contents(&expected));
    }
}

/// The choice is repeated if the store changes before it can be written.
#[test]
fn tags_and_metrics_are_not_written_for_removed_profiles() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0, 1, 2, 3]);
    let builds = store.snapshot().unwrap().builds().unwrap();
    let gone = &builds[0];
    assert!(builds.len() > 1 && !gone.profiles.is_empty());
    let gone_ids = gone.profiles.iter().map(|stored| stored.id).collect();
    let other = Store::open(folder.path()).unwrap();
    let newest = |builds: &[StoredBuild]| builds.first().map(|found| found.build.clone());
    let prune_once = Once::new();
    let annotated = store.annotate_chosen(
        |builds| {
            prune_once.call_once(|| {
                other.prune(&gone_ids).unwrap();
            });
            let stored = builds[0].profiles.first().ok_or("no run")?;
            Ok::<_, &str>(Metrics::from([(
                stored.id,
                BTreeMap::from([("later".to_owned(), 1.5)]),
            )]))
        },
        false,
    );
    let (metrics, annotated) = annotated.unwrap().unwrap();
    assert_eq!(annotated.new, 1);
    let (&profile, _) = metrics.first_key_value().unwrap();
    assert!(ids.contains(&profile) && !gone_ids.contains(&profile));

    let left = store.snapshot().unwrap().builds().unwrap();
    let all = left.iter().flat_map(|build| &build.profiles);
    let all: BTreeSet<ProfileId> = all.map(|stored| stored.id).collect();
    let prune_once = Once::new();
    let tagged = store.tag_chosen(
        |builds| {
            prune_once.call_once(|| {
                other.prune(&all).unwrap();
            });
            let build = newest(builds).ok_or("there is no build")?;
            Ok(Tag {
                executable: build.executable,
                name: "good".to_owned(),
                version: build.version,
            })
        },
        false,
    );
    assert_eq!(tagged.unwrap(), Err("there is no build"));
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn untagging_sees_tags_removed_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0]);
    let build = store.snapshot().unwrap().builds().unwrap().remove(0).build;
    let tag = Tag {
        executable: build.executable,
        name: "good".to_owned(),
        version: build.version,
    };
    store.tag(&tag, false).unwrap();
    let other = Store::open(folder.path()).unwrap();
    let prune_once = Once::new();
    let untagged = store.untag_chosen(|builds| {
        prune_once.call_once(|| {
            other.prune(&ids.iter().copied().collect()).unwrap();
        });
        let mut tags = builds.iter().flat_map(StoredBuild::tags);
        tags.next().ok_or("there is no tag")
    });
    assert_eq!(untagged.unwrap(), Err("there is no tag"));
}

#[test]
fn snapshot_exports_profiles_pruned_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0, 1, 2]);
    let ids: BTreeSet<ProfileId> = ids.into_iter().collect();
    let question = Store::open(folder.path()).unwrap().snapshot().unwrap();
    store.prune(&ids).unwrap();
    let file = folder.path().join("exported");
    question.export(&ids, &file).unwrap();
    let exported = Store::open(&file)
        .unwrap()
        .snapshot()
        .unwrap()
        .builds()
        .unwrap();
    let exported = exported.iter().flat_map(|build| &build.profiles);
    assert_eq!(
        exported.map(|stored| stored.id).collect::<BTreeSet<_>>(),
        ids
    );
}

#[test]
fn snapshot_reads_profiles_pruned_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let (store, ids) = store_of(folder.path(), &runs(), &[0, 1, 2]);
    let question = Store::open(folder.path()).unwrap().snapshot().unwrap();
    let selected = question.builds().unwrap();
    store.prune(&ids.iter().copied().collect()).unwrap();
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
    let mut loaded = 0;
    for build in &selected {
        let executable = sto_core::id::ExecutableId::from_name(&build.build.executable);
        let profiles: Vec<ProfileId> = build.profiles.iter().map(|p| p.id).collect();
        let costs = question.load(executable, &profiles).unwrap().costs;
        loaded += costs.iter().filter(|types| !types[0].is_empty()).count();
        for &id in &profiles {
            question.load_lines(id).unwrap();
        }
    }
    assert_eq!(loaded, 3);
    drop(question);
    assert!(
        Store::open(folder.path())
            .unwrap()
            .snapshot()
            .unwrap()
            .builds()
            .unwrap()
            .is_empty()
    );
}
