//! Two profiles of one source: a run counts once, and the profile that was read here takes precedence.

use super::model::{Plain, READING, answer, build, executable, forge, of_stacks, plain, profile};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use sto_core::id::{BuildRecordingId, ProfileId};
use sto_core::model::{GnuBuildId, Granularity, ModuleRef, Profile};
use sto_core::store::{Added, Conflict, Merged, ProfileOrigin, Store};
use sto_core::units::{Bytes, UnixSeconds};

fn add(store: &Store, source: &str, plain: &Plain) -> Added {
    let build = build("v1");
    let profile = profile(&build, source, plain);
    store
        .writer()
        .add(&build, &profile, &plain.interned())
        .unwrap()
}

fn merge(into: &Store, from: &Store) -> Merged {
    into.merge(&from.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap()
}

fn reading(source: &str) -> BuildRecordingId {
    profile(&build("v1"), source, &of_stacks(&[&[1]])).build_recording_id()
}

fn ids(store: &Store) -> BTreeSet<ProfileId> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let profiles = builds.iter().flat_map(|build| &build.profiles);
    profiles.map(|profile| profile.id).collect()
}

/// The samples of the build, from its sums.
fn samples(store: &Store) -> u64 {
    let build = store
        .snapshot()
        .unwrap()
        .load_build(build("v1").id())
        .unwrap();
    build.costs[0].iter().map(|(_, cost)| cost.samples).sum()
}

fn exported(store: &Store) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle");
    store
        .snapshot()
        .unwrap()
        .export(&ids(store), &file)
        .unwrap();
    fs::read(file).unwrap()
}

#[test]
fn merge_keeps_profiles_that_were_read_here() {
    let (mine, theirs) = (of_stacks(&[&[1, 2], &[3]]), of_stacks(&[&[4]]));
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(folder.path()).unwrap();
    let stranger = Store::in_memory().unwrap();
    let own = add(&here, "run", &mine).id();
    let forged = add(&stranger, "run", &theirs).id();
    assert_ne!(own, forged);
    let bytes = || fs::read(folder.path().join(Store::FILE_NAME)).unwrap();
    let before = bytes();
    let merged = merge(&here, &stranger);
    let conflict = Conflict {
        there: forged,
        here: own,
        merged_from: None,
        read_here: true,
        differ_in: vec!["stacks or counts".to_owned()],
    };
    assert_eq!(merged.conflicts, [conflict]);
    assert_eq!((merged.added.len(), merged.processed()), (0, 1));
    assert!(bytes() == before);
}

#[test]
fn reading_replaces_profiles_from_other_stores() {
    let (mine, theirs) = (of_stacks(&[&[1, 2], &[3]]), of_stacks(&[&[4]]));
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(folder.path()).unwrap();
    let stranger = Store::in_memory().unwrap();
    let forged = add(&stranger, "run", &theirs).id();
    add(&stranger, "other", &theirs);
    assert_eq!(merge(&here, &stranger).added.len(), 2);
    let from = ProfileOrigin::Store("the store in memory".to_owned());
    let known = here
        .snapshot()
        .unwrap()
        .profile_of_recording(reading("run"))
        .unwrap();
    assert_eq!(known, Some((forged, from.clone())));

    let added = add(&here, "run", &mine);
    let Added::New { id, instead_of, .. } = added else {
        panic!("{added:?}")
    };
    assert_eq!(instead_of, Some((forged, from)));
    assert!(!here.snapshot().unwrap().has(forged).unwrap());
    assert_eq!(samples(&here), 2 + 1, "the run counts once");
    assert_eq!(ids(&here).len(), 2);
    let alone = Store::in_memory().unwrap();
    add(&alone, "run", &mine);
    assert_eq!(
        answer(&here, &[id]).unwrap(),
        answer(&alone, &[id]).unwrap()
    );
    assert_eq!(
        Store::verify(folder.path(), None, &mut |_| Ok(()))
            .unwrap()
            .damages,
        []
    );
    // This also survives rewriting the store.
    for _ in 0..2 {
        assert_eq!(merge(&here, &stranger).conflicts.len(), 1);
        here.compact().unwrap();
        assert_eq!(
            Store::verify(folder.path(), None, &mut |_| Ok(()))
                .unwrap()
                .damages,
            []
        );
        let known = here
            .snapshot()
            .unwrap()
            .profile_of_recording(reading("run"))
            .unwrap();
        assert_eq!(known, Some((id, ProfileOrigin::ReadHere)));
    }
    assert!(!add(&here, "run", &theirs).is_new(), "it was read before");
}

#[test]
fn equal_readings_are_one_profile() {
    let plain = of_stacks(&[&[1, 2], &[3]]);
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(folder.path()).unwrap();
    let there = Store::in_memory().unwrap();
    let id = add(&there, "run", &plain).id();
    merge(&here, &there);
    assert_eq!(add(&here, "run", &plain), Added::AlreadyStored(id));
    // Now it is recorded that it was read here too.
    let known = here
        .snapshot()
        .unwrap()
        .profile_of_recording(reading("run"))
        .unwrap();
    assert_eq!(known, Some((id, ProfileOrigin::ReadHere)));
    let bytes = || fs::read(folder.path().join(Store::FILE_NAME)).unwrap();
    let before = bytes();
    add(&here, "run", &plain);
    assert_eq!(merge(&here, &there).already_stored, 1);
    assert!(bytes() == before);
}

#[test]
fn first_of_two_merged_claims_stays() {
    let claims = [
        of_stacks(&[&[1]]),
        of_stacks(&[&[2], &[3]]),
        of_stacks(&[&[4]]),
    ];
    let stores = claims.each_ref().map(|plain| {
        let store = Store::in_memory().unwrap();
        (add(&store, "run", plain).id(), store)
    });
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        let here = Store::in_memory().unwrap();
        let mut named = BTreeSet::new();
        for at in order {
            let merged = merge(&here, &stores[at].1);
            named.extend(merged.conflicts.iter().map(|conflict| conflict.there));
        }
        let first = stores[order[0]].0;
        assert_eq!(ids(&here), BTreeSet::from([first]));
        // In any order, all of them were reported.
        named.insert(first);
        assert_eq!(named, stores.iter().map(|(id, _)| *id).collect());
        here.prune(&BTreeSet::from([first])).unwrap();
        assert_eq!(
            merge(&here, &stores[order[1]].1).added,
            [stores[order[1]].0]
        );
    }
}

#[test]
fn exports_do_not_reveal_where_profiles_were_read() {
    let plain = of_stacks(&[&[1, 2]]);
    let (one, other) = (Store::in_memory().unwrap(), Store::in_memory().unwrap());
    add(&one, "run", &plain);
    merge(&other, &one);
    assert!(exported(&one) == exported(&other));
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bundle");
    fs::write(&file, exported(&one)).unwrap();
    let store = Store::open_or_create(&file).unwrap();
    let (_, from) = store
        .snapshot()
        .unwrap()
        .profile_of_recording(reading("run"))
        .unwrap()
        .unwrap();
    assert_eq!(from, ProfileOrigin::Exported);
    // If the export is used as a store, reading the source there takes precedence.
    let own = add(&store, "run", &of_stacks(&[&[5]]));
    assert!(matches!(
        own,
        Added::New {
            instead_of: Some(_),
            ..
        }
    ));
    assert_eq!(ids(&store), BTreeSet::from([own.id()]));
}

#[test]
fn id_depends_on_the_recording_only() {
    let plain = of_stacks(&[&[1, 2], &[3]]);
    let build = build("v1");
    let first = profile(&build, "run", &plain);
    let id = |profile: &Profile| ProfileId::new(&build, profile, &plain.interned());
    let changes: [fn(&mut Profile); 17] = [
        |p| p.source.0[3] ^= 1,
        |p| p.source_bytes = Bytes(7),
        |p| p.format.push('x'),
        |p| p.origin.duration = None,
        |p| p.origin.host = None,
        |p| p.origin.kernel = p.origin.host.take(),
        |p| p.origin.arch = p.origin.host.take(),
        |p| p.origin.cpu = p.origin.host.take(),
        |p| p.origin.command = p.origin.host.take(),
        |p| p.quality.samples += 1,
        |p| p.quality.unresolved += 1,
        |p| p.granularity = Granularity::Line,
        |p| p.sample_types[0].event.clear(),
        |p| p.modules = [].into(),
        |p| {
            let name = "libc.so.6".to_owned();
            p.modules = [ModuleRef {
                name,
                build_id: None,
            }]
            .into();
        },
        |p| p.benchmark = Some("höst".to_owned()),
        |p| p.labels = BTreeMap::new(),
    ];
    let mut all = BTreeSet::from([id(&first)]);
    for (at, change) in changes.into_iter().enumerate() {
        let mut profile = first.clone();
        change(&mut profile);
        assert!(all.insert(id(&profile)), "change {at}");
    }
    let mut known = build.clone();
    known.gnu_build_id = GnuBuildId::from_bytes(&[1]);
    assert!(all.insert(ProfileId::new(&known, &first, &plain.interned())));
    let mut interned = plain.interned();
    interned.line_costs[0][0].line += 1;
    assert!(all.insert(ProfileId::new(&build, &first, &interned)));
    interned.line_costs[0][0].self_cost.samples += 1;
    assert!(all.insert(ProfileId::new(&build, &first, &interned)));
    interned.costs[0][0].1.value += 1;
    assert!(all.insert(ProfileId::new(&build, &first, &interned)));
    let mut measured = first.clone();
    measured.metrics.insert("seconds".to_owned(), 7.5);
    measured.origin.recorded = Some(UnixSeconds(7));
    known.gnu_build_id = None;
    known.revision = Some("r".to_owned());
    assert_eq!(
        ProfileId::new(&known, &measured, &plain.interned()),
        id(&first)
    );
}

/// Stores with any of some readings: three sources with two readings each.
fn stores() -> impl Strategy<Value = (Vec<Plain>, Vec<BTreeMap<u8, bool>>)> {
    let claims = proptest::collection::btree_map(0u8..3, any::<bool>(), 0..4);
    let stores = proptest::collection::vec(claims, 3);
    (proptest::collection::vec(plain(), 6), stores)
}

fn store_of(readings: &[Plain], claims: &BTreeMap<u8, bool>) -> Store {
    let store = Store::in_memory().unwrap();
    fill(&store, readings, claims);
    store
}

fn fill(store: &Store, readings: &[Plain], claims: &BTreeMap<u8, bool>) {
    for (&source, &second) in claims {
        let plain = &readings[usize::from(source) * 2 + usize::from(second)];
        add(store, &format!("run {source}"), plain);
    }
}

/// Like [`store_of`], in a folder, but with its first profile recorded as read there for all sources.
fn forged(folder: &Path, readings: &[Plain], claims: &BTreeMap<u8, bool>) -> Store {
    let store = Store::open_or_create(folder).unwrap();
    fill(&store, readings, claims);
    if let Some(first) = ids(&store).first() {
        assert_eq!(
            Store::verify(folder, None, &mut |_| Ok(()))
                .unwrap()
                .damages,
            []
        );
        forge(folder, |records| {
            for source in 0..3 {
                let BuildRecordingId(source) = reading(&format!("run {source}"));
                records.insert((READING, source), [&first.0[..], &[0]].concat());
            }
        });
    }
    store
}

/// The origin of each profile in a store.
fn origins(store: &Store) -> BTreeMap<ProfileId, ProfileOrigin> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let profiles = builds.iter().flat_map(|build| &build.profiles);
    let origins = profiles.map(|stored| {
        store
            .snapshot()
            .unwrap()
            .profile_of_recording(stored.profile.build_recording_id())
            .unwrap()
            .unwrap()
    });
    origins.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn merge_of_agreeing_stores_is_commutative_and_idempotent(
        (readings, claims) in stores(),
    ) {
        // Every store has the first reading of its sources.
        let claims = claims.iter().map(|all| all.keys().map(|&source| (source, false)).collect());
        let claims: Vec<BTreeMap<u8, bool>> = claims.collect();
        let of = |at: usize| store_of(&readings, &claims[at]);
        let all = claims.iter().flatten().map(|(&source, &second)| (source, second)).collect();
        let expected = exported(&store_of(&readings, &all));
        for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
            let left = of(order[0]);
            merge(&left, &of(order[1]));
            merge(&left, &of(order[2]));
            let right = of(order[1]);
            merge(&right, &of(order[2]));
            let outer = of(order[0]);
            merge(&outer, &right);
            prop_assert_eq!(merge(&outer, &right).added.len(), 0);
            prop_assert!(exported(&left) == expected);
            prop_assert!(exported(&outer) == expected);
        }
    }

    #[test]
    fn merge_of_contradicting_stores_keeps_one_profile_per_source(
        (readings, claims) in stores(),
    ) {
        let here = store_of(&readings, &claims[0]);
        let own = ids(&here);
        let mut sources: BTreeSet<u8> = claims[0].keys().copied().collect();
        for claims in &claims[1..] {
            let folder = tempfile::tempdir().unwrap();
            let there = forged(folder.path(), &readings, claims);
            if !claims.is_empty() {
                prop_assert!(!Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap().damages.is_empty());
            }
            let before = ids(&here);
            let known = origins(&here);
            let merged = merge(&here, &there);
            let from = ProfileOrigin::Store(folder.path().join(Store::FILE_NAME).display().to_string());
            let new = merged.added.iter().map(|&id| (id, from.clone()));
            prop_assert_eq!(origins(&here), known.into_iter().chain(new).collect());
            prop_assert_eq!(merged.processed(), merged.profiles);
            prop_assert!(merged.left_out.is_empty());
            prop_assert!(ids(&here).is_superset(&before));
            for conflict in &merged.conflicts {
                prop_assert!(before.contains(&conflict.here));
                prop_assert!(!ids(&here).contains(&conflict.there));
            }
            sources.extend(claims.keys());
            prop_assert_eq!(ids(&here).len(), sources.len());
            let before = exported(&here);
            prop_assert_eq!(merge(&here, &there).added.len(), 0);
            prop_assert!(exported(&here) == before);
        }
        prop_assert!(ids(&here).is_superset(&own));
        let mut expected = 0;
        for id in ids(&here) {
            let costs = store_costs(&here, id);
            expected += costs;
        }
        prop_assert_eq!(if sources.is_empty() { 0 } else { total(&here) }, expected);
    }
}

fn store_costs(store: &Store, id: ProfileId) -> u128 {
    let loaded = store.snapshot().unwrap().load(executable(), &[id]).unwrap();
    let costs = loaded.costs.iter().flatten().flatten();
    costs.map(|(_, cost)| u128::from(cost.samples)).sum()
}

fn total(store: &Store) -> u128 {
    let loaded = store
        .snapshot()
        .unwrap()
        .load_build(build("v1").id())
        .unwrap();
    let costs = loaded.costs.iter().flatten();
    costs.map(|(_, cost)| u128::from(cost.samples)).sum()
}
