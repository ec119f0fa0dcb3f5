//! Merging stores: a union in any order, any number of times, even if one is damaged.

use super::model::{self, Plain, forest, of_stacks};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use sto_core::CancelToken;
use sto_core::id::{ExecutableId, ProfileId};
use sto_core::model::{Build, GnuBuildId, Profile};
use sto_core::store::{Merged, Store, StoreError, StoredBuild};
use sto_core::units::Bytes;

/// A profile and its build.
#[derive(Clone)]
struct Run {
    build: Build,
    profile: Profile,
    plain: Plain,
}

/// `name` is the contents of its file; the longer, the later it was recorded.
fn run(executable: &str, version: &str, name: &str, plain: Plain) -> Run {
    let commit = name
        .len()
        .is_multiple_of(2)
        .then(|| model::commit(name.as_bytes()[0]));
    let build = Build {
        executable: executable.to_owned(),
        // A build has the metadata of its first recording.
        gnu_build_id: GnuBuildId::from_bytes(name.as_bytes()),
        revision: commit
            .as_ref()
            .map(|commit| format!("v1-{}-g{}", name.len(), commit.hash)),
        commit,
        ..model::build(version)
    };
    Run {
        profile: model::profile(&build, name, &plain),
        build,
        plain,
    }
}

/// Runs of two programs and several builds, which share most of their stacks.
fn runs() -> Vec<Run> {
    runs_of(90)
}

fn runs_of(stacks: usize) -> Vec<Run> {
    vec![
        run("demo", "v1", "a", forest(stacks, 60, 1)),
        run("demo", "v1", "bb", forest(stacks, 60, 2)),
        run("demo", "v1", "ccc", forest(stacks * 2 / 3, 70, 1)),
        run("demo", "v2", "dddd", forest(stacks, 80, 1)),
        run("demo", "v2", "eeeee", forest(10, 5, 1)),
        run("other", "v1", "ffffff", forest(stacks * 2 / 3, 60, 1)),
        run("other", "v3", "ggggggg", of_stacks(&[&[1, 2, 3]])),
    ]
}

impl Run {
    fn id(&self) -> ProfileId {
        ProfileId::new(&self.build, &self.profile, &self.plain.interned())
    }
}

fn add(store: &Store, run: &Run) -> ProfileId {
    let added = store
        .writer()
        .add(&run.build, &run.profile, &run.plain.interned());
    added.unwrap().id()
}

fn store_of<'a>(runs: impl IntoIterator<Item = &'a Run>) -> Store {
    let store = Store::in_memory().unwrap();
    for run in runs {
        add(&store, run);
    }
    store
}

fn folder_of<'a>(runs: impl IntoIterator<Item = &'a Run>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    for run in runs {
        add(&store, run);
    }
    folder
}

fn merge(into: &Store, from: &Store) -> Merged {
    into.merge(&from.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap()
}

/// The contents of a store: builds, profiles, and the stacks, costs and lines of each profile
/// and of all profiles of an executable together. Stored sizes depend on the order of adding.
fn contents(store: &Store) -> String {
    let mut builds = store.snapshot().unwrap().builds().unwrap();
    let mut text = String::new();
    for build in &mut builds {
        let executable = ExecutableId::from_name(&build.build.executable);
        let ids: Vec<ProfileId> = build.profiles.iter().map(|profile| profile.id).collect();
        text += &format!(
            "{:?}\n",
            store.snapshot().unwrap().load(executable, &ids).unwrap()
        );
        for profile in &mut build.profiles {
            profile.stored = Bytes(0);
            text += &format!(
                "{:?}\n",
                store
                    .snapshot()
                    .unwrap()
                    .load(executable, &[profile.id])
                    .unwrap()
            );
            text += &format!(
                "{:?}\n",
                store.snapshot().unwrap().load_lines(profile.id).unwrap()
            );
        }
    }
    format!("{builds:?}\n{text}")
}

/// An export of the whole store, whose bytes do not depend on the order of adding.
fn exported(store: &Store) -> Vec<u8> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    exported_of(store, &builds)
}

fn exported_of(store: &Store, builds: &[StoredBuild]) -> Vec<u8> {
    let profiles = builds.iter().flat_map(|build| &build.profiles);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle");
    let ids = profiles.map(|profile| profile.id).collect();
    store.snapshot().unwrap().export(&ids, &file).unwrap();
    fs::read(file).unwrap()
}

#[test]
fn merge_equals_one_store_in_any_order() {
    let runs = runs();
    let all = store_of(&runs);
    let (all, file) = (contents(&all), exported(&all));
    let parts = [&[0, 3, 5][..], &[1, 3, 4, 0], &[2, 5, 6], &[4, 6]];
    let stores = parts.map(|part| store_of(part.iter().map(|&i| &runs[i])));
    let mut orders = vec![vec![]];
    for last in 0..stores.len() {
        orders = orders
            .iter()
            .flat_map(|order| {
                (0..=last).map(|at| {
                    let mut order: Vec<usize> = order.clone();
                    order.insert(at, last);
                    order
                })
            })
            .collect();
    }
    assert_eq!(orders.len(), 24);
    for order in orders {
        let union = Store::in_memory().unwrap();
        let mut added = 0;
        for &i in &order {
            let merged = merge(&union, &stores[i]);
            assert_eq!(merged.profiles, parts[i].len());
            assert_eq!(merged.processed(), merged.profiles);
            assert!(merged.left_out.is_empty() && merged.different.is_empty());
            added += merged.added.len();
        }
        assert_eq!(added, runs.len(), "each went in once");
        assert!(contents(&union) == all, "{order:?}");
        assert!(exported(&union) == file, "{order:?}");
    }
}

#[test]
fn merged_profiles_can_be_merged_again() {
    let runs = runs();
    let mut last = store_of(&runs);
    for _ in 0..3 {
        let next = Store::in_memory().unwrap();
        merge(&next, &last);
        last = next;
    }
    assert!(contents(&last) == contents(&store_of(&runs)));
}

#[test]
fn merge_is_idempotent() {
    let runs = runs();
    let (here, there) = (folder_of(&runs[..3]), folder_of(&runs[2..]));
    let store = Store::open_or_create(here.path()).unwrap();
    let other = Store::open(there.path()).unwrap();
    let other_bytes = fs::read(there.path().join(Store::FILE_NAME)).unwrap();
    assert_eq!(merge(&store, &other).added.len(), 4);
    let bytes = fs::read(here.path().join(Store::FILE_NAME)).unwrap();
    let itself = Store::open(&here.path().join(Store::FILE_NAME)).unwrap();
    for (from, profiles) in [(&other, 5), (&store, 7), (&itself, 7)] {
        let merged = merge(&store, from);
        assert_eq!(merged.already_stored, profiles);
        assert_eq!(merged.profiles, profiles);
        assert!(merged.added.is_empty() && merged.different.is_empty());
        assert_eq!(merged.stored, Bytes(0));
    }
    assert!(fs::read(here.path().join(Store::FILE_NAME)).unwrap() == bytes);
    assert!(fs::read(there.path().join(Store::FILE_NAME)).unwrap() == other_bytes);

    let memory = store_of(&runs);
    assert_eq!(merge(&memory, &memory).already_stored, 7);
}

#[test]
fn merges_oldest_recordings_first_with_progress() {
    let runs = runs();
    let there = store_of(runs.iter().rev());
    let here = store_of(&runs[3..4]);
    let mut steps = Vec::new();
    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |so_far| {
            steps.push((so_far.processed(), so_far.profiles));
            Ok(())
        })
        .unwrap();
    let expected: Vec<ProfileId> = [0, 1, 2, 4, 5, 6].map(|i| runs[i].id()).into();
    assert_eq!(merged.added, expected);
    let steps_expected: Vec<_> = (1..=7).map(|done| (done, 7)).collect();
    assert_eq!(steps, steps_expected);
    assert!(merged.stored > Bytes(0));
}

#[test]
fn cancelled_merge_can_be_resumed() {
    let runs = runs();
    let (here, there) = (folder_of(&runs[..1]), store_of(&runs));
    let store = Store::open(here.path()).unwrap();
    let cancel = CancelToken::default();
    let ended = store.merge(&there.snapshot().unwrap(), &mut |so_far| {
        if so_far.added.len() == 2 {
            cancel.cancel();
        }
        cancel.check()
    });
    assert!(matches!(ended, Err(StoreError::Cancelled(_))), "{ended:?}");
    assert_eq!(contents(&store), contents(&store_of(&runs[..3])));
    let verified = Store::verify(here.path(), None, &mut |_| Ok(())).unwrap();
    assert!(verified.sound, "{verified:?}");
    assert_eq!(merge(&store, &there).added.len(), runs.len() - 3);
    assert_eq!(contents(&store), contents(&there));
}

#[test]
fn merging_an_empty_store_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(&folder.path().join("store")).unwrap();
    assert_eq!(merge(&here, &Store::in_memory().unwrap()).profiles, 0);
    assert!(!folder.path().join("store").exists());
}

#[test]
fn merge_reports_differences_outside_of_ids() {
    let here = runs();
    let mut there = here.clone();
    there[1].profile.metrics.clear();
    there[4].profile.metrics.insert("more".into(), 1.5);
    let mine = store_of(&here[..6]);
    there[0].profile.origin.recorded = None;
    there[3].build.revision = Some("else".to_owned());
    there[3].build.commit = None;
    let merged = merge(&mine, &store_of(&there));
    let mut expected = [0, 1, 3, 4].map(|at| there[at].id());
    expected.sort();
    assert_eq!(merged.different, expected);
    assert_eq!((merged.already_stored, &merged.conflicts[..]), (6, &[][..]));
    assert_eq!(merged.added, [here[6].id()]);
    assert!(contents(&mine) == contents(&store_of(&here)));
}

const RECORDS: redb::TableDefinition<(u8, [u8; 16]), &[u8]> = redb::TableDefinition::new("records");
const ENDS: redb::TableDefinition<(u8, u32, u32), &[u8]> = redb::TableDefinition::new("ends");

/// Flips a bit of a value of the store in a folder.
fn damage<K: redb::Key + 'static>(
    folder: &Path,
    table: redb::TableDefinition<K, &[u8]>,
    key: K::SelfType<'_>,
) {
    use redb::ReadableTable;
    let database = redb::Database::open(folder.join(Store::FILE_NAME)).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(table).unwrap();
        let mut value = table.get(&key).unwrap().unwrap().value().to_vec();
        let middle = value.len() / 2;
        value[middle] ^= 1;
        table.insert(&key, value.as_slice()).unwrap();
    }
    transaction.commit().unwrap();
}

#[test]
fn merge_skips_and_reports_damaged_profiles() {
    const EXECUTABLE: u8 = 0;
    const BUILD: u8 = 1;
    const PROFILE: u8 = 2;
    let runs = runs();
    let costs_of_second = |folder: &Path| damage(folder, ENDS, (2, 1, 0));
    let lines_of_second = |folder: &Path| damage(folder, ENDS, (3, 1, 0));
    let stacks_of_other = |folder: &Path| damage(folder, ENDS, (1, 1, 0));
    let record = |kind, id| move |folder: &Path| damage(folder, RECORDS, (kind, id));
    let demo = ExecutableId::from_name("demo").0;
    type Change<'a> = &'a dyn Fn(&Path);
    let cases: [(Change<'_>, &[usize], &str); 6] = [
        (&costs_of_second, &[1], "costs 1/0"),
        (&lines_of_second, &[1], "lines 1/0"),
        (&record(PROFILE, runs[2].id().0), &[2], "profile "),
        (&stacks_of_other, &[5, 6], "nodes 1/0"),
        (&record(BUILD, runs[3].build.id().0), &[3, 4], "build "),
        (&record(EXECUTABLE, demo), &[0, 1, 2, 3, 4], "executable "),
    ];
    for (damage, lost, location) in cases {
        let there = folder_of(&runs);
        damage(there.path());
        let here = Store::in_memory().unwrap();
        let merged = merge(&here, &Store::open(there.path()).unwrap());
        let mut left_out: Vec<ProfileId> = Vec::new();
        for out in &merged.left_out {
            assert!(out.why.contains("damaged"), "{out:?}");
            assert!(out.why.contains(location), "{out:?}");
            left_out.extend(&out.profiles);
        }
        let mut expected: Vec<_> = lost.iter().map(|&i| runs[i].id()).collect();
        expected.sort();
        left_out.sort();
        assert_eq!(left_out, expected, "{location}");
        assert_eq!(merged.processed(), merged.profiles);
        let kept = (0..runs.len()).filter(|i| !lost.contains(i));
        assert!(contents(&here) == contents(&store_of(kept.map(|i| &runs[i]))));

        // The other profiles can be merged from an undamaged copy.
        assert_eq!(merge(&here, &store_of(&runs)).added.len(), lost.len());
        assert!(contents(&here) == contents(&store_of(&runs)));
    }
}

#[test]
fn merge_skips_profiles_with_wrong_ids() {
    let runs = runs();
    let (content, claimed) = (&runs[0], &runs[1]);
    let there = folder_of([content, &runs[3]]);
    model::forge(there.path(), |records| {
        let record = records.remove(&(model::PROFILE, content.id().0)).unwrap();
        records.insert((model::PROFILE, claimed.id().0), record);
    });
    let there = Store::open(there.path()).unwrap();
    let here = store_of([&runs[4]]);
    let merged = merge(&here, &there);
    assert_eq!(merged.added, [runs[3].id()]);
    let [out] = &merged.left_out[..] else {
        panic!("{merged:?}")
    };
    assert_eq!(out.profiles, [claimed.id()]);
    assert!(
        out.why.contains("its content does not match its id"),
        "{out:?}"
    );
    for run in [claimed, content] {
        assert!(!here.snapshot().unwrap().has(run.id()).unwrap());
        add(&here, run);
    }
    assert!(contents(&here) == contents(&store_of([&runs[4], &runs[3], claimed, content])));
}

#[test]
fn merging_an_unreadable_store_writes_nothing() {
    let there = folder_of(&runs());
    damage(there.path(), ENDS, (0, 0, 0));
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(folder.path()).unwrap();
    let other = Store::open(there.path()).unwrap();
    let error = here
        .merge(&other.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap_err();
    assert!(error.to_string().contains("frames 0/0"), "{error}");
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}

#[test]
fn flipped_bits_are_not_merged() {
    let runs = runs_of(9);
    let there = folder_of(&runs);
    let bytes = fs::read(there.path().join(Store::FILE_NAME)).unwrap();
    let mut random = 1u64;
    let mut next = |below: usize| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (random >> 33) as usize % below
    };
    let (mut whole, mut partly, mut errors) = (0, 0, 0);
    // By the merged runs, as most damages skip the same ones.
    let mut expected: BTreeMap<Vec<ProfileId>, String> = BTreeMap::new();
    for _ in 0..100 {
        let (at, bit) = (next(bytes.len()), next(8));
        let mut bytes = bytes.clone();
        bytes[at] ^= 1 << bit;
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(Store::FILE_NAME), bytes).unwrap();
        let here = Store::in_memory().unwrap();
        let merged = Store::open(folder.path())
            .and_then(|there| here.merge(&there.snapshot()?, &mut |_| Ok(())));
        match merged {
            Ok(merged) if merged.left_out.is_empty() => whole += 1,
            Ok(merged) => {
                partly += 1;
                // Then builds lack the metadata of their commits or their tags.
                if merged
                    .left_out
                    .iter()
                    .any(|left_out| left_out.profiles.is_empty())
                {
                    continue;
                }
            }
            Err(_) => errors += 1,
        }
        let stored = here.snapshot().unwrap().builds().unwrap();
        let ids: Vec<ProfileId> = stored
            .iter()
            .flat_map(|build| build.profiles.iter().map(|profile| profile.id))
            .collect();
        let expected = expected.entry(ids).or_insert_with_key(|ids| {
            let kept = runs.iter().filter(|run| ids.contains(&run.id()));
            contents(&store_of(kept))
        });
        assert!(contents(&here) == *expected, "bit {bit} of byte {at}");
    }
    println!("{whole} whole, {partly} partly, {errors} not at all");
    assert!(whole > 0 && partly > 0 && errors > 0);
}

#[test]
fn source_store_stays_readable_during_a_merge() {
    let runs = runs();
    let there = folder_of(&runs);
    let other = Store::open(there.path()).unwrap();
    let here = Store::in_memory().unwrap();
    let mut read = 0;
    here.merge(&other.snapshot().unwrap(), &mut |_| {
        read += Store::open(there.path())
            .unwrap()
            .snapshot()
            .unwrap()
            .builds()
            .unwrap()
            .len();
        Ok(())
    })
    .unwrap();
    assert_eq!(read, 8 * 4, "before each of 7 profiles, and at the end");
}

#[test]
fn opens_a_store_by_the_path_of_its_file() {
    let runs = runs();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle");
    fs::write(&file, exported(&store_of(&runs[..3]))).unwrap();
    let store = Store::open(&file).unwrap();
    assert!(contents(&store) == contents(&store_of(&runs[..3])));
    let here = Store::in_memory().unwrap();
    assert_eq!(merge(&here, &store).added.len(), 3);

    let store = Store::open_or_create(&file).unwrap();
    add(&store, &runs[3]);
    assert!(contents(&store) == contents(&store_of(&runs[..4])));
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["bundle"]);

    fs::remove_file(&file).unwrap();
    for gone in [Store::open(&file).map(drop), store.snapshot().map(drop)] {
        assert!(matches!(gone, Err(StoreError::NotFound { .. })), "{gone:?}");
    }
    let plain = &runs[4];
    let added = store
        .writer()
        .add(&plain.build, &plain.profile, &plain.plain.interned());
    assert!(
        matches!(added, Err(StoreError::NotFound { .. })),
        "{added:?}"
    );
    assert!(fs::read_dir(folder.path()).unwrap().next().is_none());
}

/// Profiles that were stored before there were commits only have a revision.
#[test]
fn merge_keeps_commits_of_both_stores() {
    let knows = runs();
    let mut knows_not = knows.clone();
    for run in &mut knows_not {
        run.build.commit = None;
    }
    let (a, b) = (store_of(&knows[..4]), store_of(&knows_not));
    merge(&a, &b);
    merge(&b, &store_of(&knows[..4]));
    assert_eq!(contents(&a), contents(&b));
    assert_eq!(exported(&a), exported(&b));
    let builds = a.snapshot().unwrap().builds().unwrap();
    let known = builds.iter().filter(|build| build.build.commit.is_some());
    assert_eq!(known.count(), 2, "of `bb` and `dddd`, and none of `ffffff`");
    // A commit is removed with its profiles.
    let says =
        |file: &[u8], subject: &[u8]| file.windows(subject.len()).any(|bytes| bytes == subject);
    assert!(says(&exported(&a), b"Subject of 'd'.."));
    let first = exported_of(&a, &builds[..1]);
    assert!(says(&first, b"Subject of 'b'..") && !says(&first, b"Subject of 'd'.."));
}
