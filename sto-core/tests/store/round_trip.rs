//! Profiles round-trip, once each, in a fixed order.

use super::model::{
    self, Plain, add, answer, build, by_id, commit, executable, expected, expected_lines, forest,
    lines_by_id, of_stacks, plain, profile,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::ProfileId;
use sto_core::limits::{MAX_COUNT, MAX_DEPTH};
use sto_core::model::{FrameIx, GnuBuildId};
use sto_core::store::{Added, Store, StoreError};
use sto_core::tree::StackTree;
use sto_core::units::{Bytes, Cost};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn profiles_round_trip(plains in proptest::collection::vec(plain(), 1..5)) {
        let store = Store::in_memory().unwrap();
        let ids: Vec<ProfileId> = plains
            .iter()
            .enumerate()
            .map(|(i, plain)| add(&store, ["v1", "v2"][i % 2], &format!("source {i}"), plain))
            .collect();

        let all = store.snapshot().unwrap().load(executable(), &ids).unwrap();
        prop_assert_eq!(all.costs.len(), ids.len());
        for (plain, costs) in plains.iter().zip(&all.costs) {
            prop_assert_eq!(by_id(&all.frames, &all.tree, costs), expected(plain));
        }
        for (plain, &id) in plains.iter().zip(&ids) {
            let one = store.snapshot().unwrap().load(executable(), &[id]).unwrap();
            prop_assert_eq!(by_id(&one.frames, &one.tree, &one.costs[0]), expected(plain));
            prop_assert_eq!(one.tree.len(), prefixes(plain));
            let lines = store.snapshot().unwrap().load_lines(id).unwrap();
            prop_assert_eq!(lines_by_id(&lines.frames, &lines.lines), expected_lines(plain));
        }
    }

    #[test]
    fn content_does_not_depend_on_the_order_of_adding(plains in proptest::collection::vec(plain(), 3)) {
        let answer_of = |order: [usize; 3]| {
            let store = Store::in_memory().unwrap();
            let mut ids = [ProfileId([0; 16]); 3];
            for i in order {
                ids[i] = add(&store, ["v1", "v2", "v1"][i], &format!("source {i}"), &plains[i]);
            }
            (answer(&store, &ids).unwrap(), answer(&store, &ids[1..2]).unwrap(), listing(&store))
        };
        let first = answer_of([0, 1, 2]);
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            prop_assert_eq!(&answer_of(order), &first);
        }
    }
}

/// Number of distinct stacks, callers included.
fn prefixes(plain: &Plain) -> usize {
    let stacks = plain.costs.iter().flat_map(BTreeMap::keys);
    let prefixes = stacks.flat_map(|stack| (1..=stack.len()).map(|len| &stack[..len]));
    prefixes.collect::<BTreeSet<_>>().len()
}

/// Builds and profiles, without their stored sizes, which depend on the numbers of their stacks.
fn listing(store: &Store) -> String {
    let mut builds = store.snapshot().unwrap().builds().unwrap();
    for profile in builds.iter_mut().flat_map(|build| &mut build.profiles) {
        profile.stored = Bytes(0);
    }
    format!("{builds:?}")
}

#[test]
fn loaded_tree_is_in_preorder_with_sorted_siblings() {
    let store = Store::in_memory().unwrap();
    let a = add(&store, "v1", "a", &forest(300, 40, 1));
    let b = add(&store, "v1", "b", &forest(300, 60, 2));
    let loaded = store
        .snapshot()
        .unwrap()
        .load(executable(), &[b, a])
        .unwrap();
    let frames: Vec<_> = loaded.frames.iter().map(|(_, frame)| frame).collect();
    assert!(frames.is_sorted_by(|a, b| a < b));
    let ends = loaded.tree.subtree_ends();
    let mut last_child = BTreeMap::new();
    for node in loaded.tree.nodes() {
        let parent = loaded.tree.parent(node);
        if let Some(parent) = parent {
            assert!(parent < node && node.0 < ends[parent.get()]);
        }
        let frame = loaded.tree.frame(node);
        let previous = last_child.insert(parent, frame);
        assert!(previous.is_none_or(|previous| previous < frame));
    }
}

#[test]
fn every_field_of_profile_and_build_round_trips() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1, 2]]);
    let mut build = build("v1");
    build.gnu_build_id = GnuBuildId::from_bytes(&[1, 2, 3]);
    let mut commit = commit(b'c');
    commit.dirty = true;
    build.revision = Some(format!("v1-3-g{}-dirty", commit.hash));
    build.commit = Some(commit);
    let profile = profile(&build, "source", &plain);
    let id = store
        .writer()
        .add(&build, &profile, &plain.interned())
        .unwrap()
        .id();
    let builds = store.snapshot().unwrap().builds().unwrap();
    assert_eq!(builds.len(), 1);
    assert_eq!((builds[0].id, &builds[0].build), (build.id(), &build));
    let stored = &builds[0].profiles[0];
    assert_eq!((stored.id, &stored.profile), (id, &profile));
    assert_eq!(id, ProfileId::new(&build, &profile, &plain.interned()));
    assert_eq!(stored.gnu_build_id, build.gnu_build_id);
    assert_eq!(stored.revision, build.revision);
    assert_eq!(stored.commit, build.commit);
}

#[test]
fn lists_builds_and_profiles_oldest_first() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1]]);
    // The longer the source, the later `profile` sets the recording time.
    let late = add(&store, "v1", "the latest", &plain);
    add(&store, "v10", "middle", &plain);
    let early = add(&store, "v1", "old", &plain);
    let undated = {
        let build = build("v1");
        let mut profile = profile(&build, "undated", &plain);
        profile.origin.recorded = None;
        store
            .writer()
            .add(&build, &profile, &plain.interned())
            .unwrap()
            .id()
    };
    let builds = store.snapshot().unwrap().builds().unwrap();
    let versions: Vec<_> = builds
        .iter()
        .map(|build| build.build.version.as_str())
        .collect();
    assert_eq!(versions, ["v1", "v10"]);
    let ids: Vec<_> = builds[0]
        .profiles
        .iter()
        .map(|profile| profile.id)
        .collect();
    assert_eq!(ids, [early, late, undated]);
}

#[test]
fn build_metadata_comes_from_its_first_recording() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1]]);
    let add = |source: &str, gnu_build_id: Option<u8>, revision: Option<&str>| {
        let build = sto_core::model::Build {
            gnu_build_id: gnu_build_id.and_then(|byte| GnuBuildId::from_bytes(&[byte])),
            revision: revision.map(str::to_owned),
            ..build("v1")
        };
        store
            .writer()
            .add(&build, &profile(&build, source, &plain), &plain.interned())
            .unwrap();
        let build = store.snapshot().unwrap().builds().unwrap().remove(0).build;
        (
            build.gnu_build_id.map(|id| id.as_bytes()[0]),
            build.revision,
        )
    };
    assert_eq!(add("a", None, None), (None, None));
    assert_eq!(add("b", Some(1), None), (Some(1), None));
    assert_eq!(
        add("cc", Some(2), Some("r1")),
        (Some(1), Some("r1".to_owned()))
    );
    // The longer the source, the later `profile` sets the recording time.
    let later = add("late", Some(3), Some("r2"));
    assert_eq!(later, (Some(1), Some("r1".to_owned())));
    let earlier = add("", None, Some("r3"));
    assert_eq!(earlier, (Some(1), Some("r3".to_owned())));
}

#[test]
fn adding_a_source_twice_does_not_touch_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let plain = forest(50, 20, 3);
    add(&store, "v1", "source", &plain);
    let file = folder.path().join(Store::FILE_NAME);
    let before = std::fs::read(&file).unwrap();
    let build = build("v1");
    let again = store.writer().add(
        &build,
        &profile(&build, "source", &plain),
        &plain.interned(),
    );
    assert!(!again.unwrap().is_new());
    assert_eq!(std::fs::read(&file).unwrap(), before);
    assert_eq!(
        store.snapshot().unwrap().builds().unwrap()[0]
            .profiles
            .len(),
        1
    );
}

#[test]
fn stores_one_source_for_two_builds() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1, 2]]);
    let a = add(&store, "v1", "source", &plain);
    let b = add(&store, "v2", "source", &plain);
    assert_ne!(a, b);
    assert_eq!(store.snapshot().unwrap().builds().unwrap().len(), 2);
}

#[test]
fn stores_shared_stacks_once() {
    let store = Store::in_memory().unwrap();
    let plain = forest(2000, 400, 5);
    let stored = |version: &str, plain: &Plain| {
        let build = build(version);
        match store
            .writer()
            .add(&build, &profile(&build, version, plain), &plain.interned())
            .unwrap()
        {
            Added::New { stored, .. } => stored.0,
            _ => panic!("it is new"),
        }
    };
    let first = stored("v1", &plain);
    let same = stored("v2", &plain);
    let mut changed = plain.clone();
    changed.costs[0].insert(
        vec![1, 2, 3, 4, 5, 6, 7],
        Cost {
            samples: 1,
            value: 1_001_001,
        },
    );
    let changed = stored("v3", &changed);
    assert!(
        same * 3 < first,
        "{first} bytes first, {same} for the same stacks"
    );
    assert!(
        changed < same + 200,
        "{same} bytes for the same, {changed} for one stack more"
    );
}

#[test]
fn tree_takes_less_than_three_bytes_per_node() {
    let store = Store::in_memory().unwrap();
    let plain = forest(20_000, 4000, 7);
    let build = build("v1");
    let interned = plain.interned();
    let added = store
        .writer()
        .add(&build, &profile(&build, "source", &plain), &interned)
        .unwrap();
    let Added::New { stored, .. } = added else {
        panic!("it is new");
    };
    let nodes = interned.tree.len() as u64;
    assert!(stored.0 < 3 * nodes, "{} bytes for {nodes} nodes", stored.0);
}

#[test]
fn largest_counts_round_trip() {
    let store = Store::in_memory().unwrap();
    let mut plain = of_stacks(&[&[1]]);
    let most = Cost {
        samples: MAX_COUNT,
        value: MAX_COUNT,
    };
    plain.costs[0].insert(vec![1], most);
    let id = add(&store, "v1", "source", &plain);
    let loaded = store.snapshot().unwrap().load(executable(), &[id]).unwrap();
    assert_eq!(loaded.costs[0][0][0].1, most);
}

#[test]
fn rejects_counts_that_overflow() {
    let store = Store::in_memory().unwrap();
    let mut plain = of_stacks(&[&[1], &[2]]);
    plain.costs[0].insert(
        vec![1],
        Cost {
            samples: 1,
            value: u64::MAX,
        },
    );
    refused(&store, &plain, "its counts add up to more than 2^56");
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn large_counts_do_not_block_other_profiles_of_a_build() {
    let store = Store::in_memory().unwrap();
    let with = |value| {
        let mut plain = of_stacks(&[&[1]]);
        plain.costs[0].insert(vec![1], Cost { samples: 1, value });
        plain
    };
    refused(
        &store,
        &with(MAX_COUNT + 1),
        "its counts add up to more than 2^56",
    );
    add(&store, "v1", "the most there can be", &with(MAX_COUNT));
    add(&store, "v1", "another", &with(1000));

    let (build, plain) = (build("v1"), with(1));
    let mut profile = profile(&build, "many samples", &plain);
    profile.quality.samples = u64::MAX - 1000;
    let refused = store.writer().add(&build, &profile, &plain.interned());
    assert!(
        matches!(refused, Err(StoreError::Refused { .. })),
        "{refused:?}"
    );
}

#[test]
fn limits_apply_to_profiles_built_in_memory() {
    fn limit(why: &str, change: impl FnOnce(&mut sto_core::model::Profile)) {
        let store = Store::in_memory().unwrap();
        let (build, plain) = (build("v1"), of_stacks(&[&[1]]));
        let mut profile = profile(&build, "source", &plain);
        change(&mut profile);
        let error = store
            .writer()
            .add(&build, &profile, &plain.interned())
            .unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    let long = || "x".repeat(1 << 20);
    let many = || (0..257).map(|i: u32| i.to_string());
    limit("a name given for it", |p| p.benchmark = Some(long()));
    limit("a name given for it", |p| {
        p.labels = [(long(), String::new())].into()
    });
    limit("a name given for it", |p| {
        p.metrics = [(long(), 1.0)].into()
    });
    limit("a name in it", |p| p.sample_types[0].event = long());
    limit("a name in it", |p| p.origin.host = Some(long()));
    limit("256 labels", |p| {
        p.labels = many().map(|i| (i.clone(), i)).collect()
    });
    limit("256 labels", |p| {
        p.metrics = many().map(|i| (i, 1.0)).collect()
    });
    limit("not a finite number", |p| {
        p.metrics = [("m".to_owned(), f64::NAN)].into()
    });

    let store = Store::in_memory().unwrap();
    let mut plain = of_stacks(&[&[1]]);
    plain.costs[0].clear();
    refused(&store, &plain, "it has no samples");
    let (build, plain) = (build("v1"), of_stacks(&[&[1]]));
    let profile = profile(&build, "source", &plain);
    let mut deep = plain.interned();
    let mut leaf = None;
    deep.tree = StackTree::new();
    for _ in 0..=MAX_DEPTH {
        leaf = Some(deep.tree.push(leaf, FrameIx(0)));
    }
    let mut long_name = plain.interned();
    long_name.frames.intern_string(&long());
    for (interned, why) in [
        (deep, "2097152 frames"),
        (long_name, "a name in it is longer"),
    ] {
        let error = store.writer().add(&build, &profile, &interned).unwrap_err();
        assert!(error.to_string().contains(why), "{error}");
    }
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn rejects_an_invalid_profile() {
    let store = Store::in_memory().unwrap();
    let mut plain = of_stacks(&[&[1]]);
    plain.costs[0].insert(vec![1, 2], Cost::ZERO);
    refused(
        &store,
        &plain,
        "a cost is zero, or of a node that does not exist",
    );

    let mut plain = of_stacks(&[&[1]]);
    plain.lines.push(BTreeMap::new());
    refused(
        &store,
        &plain,
        "it does not have one column of costs per sample type",
    );
}

fn refused(store: &Store, plain: &Plain, reason: &str) {
    let build = build("v1");
    match store
        .writer()
        .add(&build, &profile(&build, "source", plain), &plain.interned())
    {
        Err(StoreError::Refused { why, .. }) => assert_eq!(why, reason),
        other => panic!("{other:?}"),
    }
}

#[test]
fn rejects_a_tree_with_duplicate_stacks() {
    let store = Store::in_memory().unwrap();
    let plain = of_stacks(&[&[1]]);
    let mut interned = plain.interned();
    let frame = interned.tree.frames()[0];
    interned.tree.push(None, frame);
    let build = build("v1");
    let error = store
        .writer()
        .add(&build, &profile(&build, "source", &plain), &interned)
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("two callees of a stack are out of order or equal"),
        "{error}"
    );
}

#[test]
fn recursion_of_a_hundred_thousand_frames_round_trips() {
    let store = Store::in_memory().unwrap();
    let mut interned = of_stacks(&[&[1]]).interned();
    let frame = interned.tree.frames()[0];
    let mut last = interned.costs[0][0].0;
    for _ in 0..100_000 {
        last = interned.tree.push(Some(last), frame);
    }
    interned.costs[0][0].0 = last;
    let build = build("v1");
    let profile = profile(&build, "deep", &of_stacks(&[&[1]]));
    let id = store
        .writer()
        .add(&build, &profile, &interned)
        .unwrap()
        .id();
    let loaded = store.snapshot().unwrap().load(executable(), &[id]).unwrap();
    assert_eq!(loaded.tree, interned.tree);
    assert_eq!(loaded.costs[0], interned.costs);
}

#[test]
fn reports_a_missing_profile() {
    let store = Store::in_memory().unwrap();
    let id = add(&store, "v1", "source", &of_stacks(&[&[1]]));
    let missing = ProfileId([7; 16]);
    for error in [
        store
            .snapshot()
            .unwrap()
            .load(executable(), &[id, missing])
            .unwrap_err(),
        store.snapshot().unwrap().load_lines(missing).unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::NoProfile { profile, .. } if profile == missing));
    }
    let other = sto_core::id::ExecutableId::from_name("other");
    assert!(matches!(
        store.snapshot().unwrap().load(other, &[id]),
        Err(StoreError::NoProfile { profile, .. }) if profile == id
    ));
}

#[test]
fn executables_have_separate_trees_and_share_frames() {
    let store = Store::in_memory().unwrap();
    let plain = forest(500, 100, 9);
    let other = sto_core::model::Build {
        executable: "other".to_owned(),
        ..model::build("v1")
    };
    let id = add(&store, "v1", "source", &plain);
    let profile = profile(&other, "source", &plain);
    let other = store
        .writer()
        .add(&other, &profile, &plain.interned())
        .unwrap()
        .id();
    let loaded = store
        .snapshot()
        .unwrap()
        .load(sto_core::id::ExecutableId::from_name("other"), &[other])
        .unwrap();
    let first = store.snapshot().unwrap().load(executable(), &[id]).unwrap();
    assert_eq!(loaded.tree, first.tree);
    assert_eq!(loaded.costs, first.costs);
}
