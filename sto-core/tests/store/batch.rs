//! Adding many profiles at once, some of them as the sum of others.

use super::model::{Plain, build, plain, profile};
use proptest::prelude::*;
use sto_core::id::ProfileId;
use sto_core::model::Profile;
use sto_core::store::{NewProfile, Store, StoreError};
use sto_core::tree::{ProfileData, ProfileSum};
use sto_core::units::Nanoseconds;

fn new(version: &str, source: &str, data: ProfileData, like: &Plain) -> NewProfile {
    let build = build(version);
    NewProfile {
        profile: profile(&build, source, like),
        build,
        data,
        sum_of: Vec::new(),
    }
}

fn contents(store: &Store) -> String {
    let snapshot = store.snapshot().unwrap();
    let mut text = String::new();
    for build in snapshot.builds().unwrap() {
        let all = snapshot.load_build(build.id).unwrap();
        let mut profiles: Vec<(ProfileId, &Profile)> = build
            .profiles
            .iter()
            .map(|stored| (stored.id, &stored.profile))
            .collect();
        profiles.sort_by_key(|(id, _)| *id);
        text += &format!(
            "{} {profiles:?} {:?} {:?}\n",
            build.build.version, all.tree, all.costs
        );
    }
    text
}

/// Fails if the store is damaged.
fn verify(store: &Store) {
    let verified = Store::verify(store.folder().unwrap(), None, &mut |_| Ok(())).unwrap();
    assert!(verified.damages.is_empty(), "{:?}", verified.damages);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn adding_all_at_once_is_like_adding_each(
        profiles in proptest::collection::vec((plain(), 0..3_u8), 1..12),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let (each, at_once) = (Store::in_memory().unwrap(), Store::open_or_create(folder.path()).unwrap());
        let all: Vec<NewProfile> = profiles
            .iter()
            .enumerate()
            .map(|(run, (plain, version))| new(&format!("v{version}"), &format!("run {run}"), plain.interned(), plain))
            .collect();
        for new in &all {
            each.writer().add(&new.build, &new.profile, &new.data).unwrap();
        }
        let (first, rest) = all.split_at(all.len() / 2);
        at_once.writer().add_all(first).unwrap();
        // Those of the first half are stored already.
        prop_assert_eq!(at_once.writer().add_all(&all).unwrap(), rest.len());
        prop_assert_eq!(contents(&at_once), contents(&each));
        verify(&at_once);
    }

    #[test]
    fn a_sum_instead_of_its_parts_leaves_the_costs_of_the_build(
        like in plain(),
        counts in proptest::collection::vec(1..5_usize, 1..4),
        others in 0..7_usize,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let run = |run: usize| new("v1", &format!("run {run}"), like.interned(), &like);
        let parts: usize = counts.iter().sum();
        let all: Vec<NewProfile> = (0..parts + others).map(run).collect();
        store.writer().add_all(&all).unwrap();
        let before = store.snapshot().unwrap().load_build(all[0].build.id()).unwrap();

        let mut ids: Vec<ProfileId> = all
            .iter()
            .map(|new| ProfileId::new(&new.build, &new.profile, &new.data))
            .collect();
        let sums: Vec<NewProfile> = counts
            .iter()
            .enumerate()
            .map(|(number, &count)| {
                let mut sum = ProfileSum::new(like.costs.len(), None);
                for _ in 0..count {
                    sum.add(&like.interned(), Nanoseconds(0)).unwrap();
                }
                let mut sum = new("v1", &format!("sum {number}"), sum.finish(), &like);
                sum.profile.quality.samples *= count as u64;
                sum.sum_of = ids.drain(..count).collect();
                sum
            })
            .collect();
        prop_assert_eq!(store.writer().add_all(&sums).unwrap(), counts.len());
        let after = store.snapshot().unwrap().load_build(all[0].build.id()).unwrap();
        prop_assert_eq!(after.profiles, counts.len() + others);
        prop_assert_eq!((after.tree, after.costs), (before.tree, before.costs));
        verify(&store);
    }
}

#[test]
fn a_part_of_another_build_is_refused() {
    let store = Store::in_memory().unwrap();
    let like = Plain {
        costs: vec![[(vec![1], sto_core::Cost::from_count(1))].into()],
        lines: vec![Default::default()],
    };
    let parts = ["v1", "v2"].map(|version| new(version, "a run", like.interned(), &like));
    store.writer().add_all(&parts).unwrap();
    let before = contents(&store);
    let mut sum = new("v1", "the sum", like.interned(), &like);
    sum.sum_of = vec![ProfileId::new(
        &parts[1].build,
        &parts[1].profile,
        &parts[1].data,
    )];
    let refused = store.writer().add_all(&[sum]);
    assert!(
        matches!(refused, Err(StoreError::Refused { .. })),
        "{refused:?}"
    );
    assert_eq!(contents(&store), before);
}
