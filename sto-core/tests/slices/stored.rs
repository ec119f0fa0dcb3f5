//! Storing slices, and rejecting invalid ones.

use super::{options, prepare_one, sample, two_processes};
use crate::common::read_text;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::Hint;
use sto_core::ingest::{IngestOutcome, ingest};
use sto_core::model::FrameIx;
use sto_core::store::{Added, Store, StoreError};
use sto_core::tree::{
    ContextIx, NodeIx, ProfileData, SliceCost, SliceCosts, SliceIx, StackTree, TimeSlices,
};
use sto_core::units::{Bytes, Cost};

fn add(store: &Store, text: &str, slices: u32) -> IngestOutcome {
    let recording = read_text(text).unwrap();
    ingest(
        store,
        (Path::new("p"), recording),
        &options(slices),
        &mut |_| (),
    )
    .unwrap()
}

#[test]
fn warns_about_a_profile_stored_without_slices() {
    let store = Store::in_memory().unwrap();
    let text = sample("a", "1/7", 0, "cycles", &["main"]);
    let without = add(&store, &text, 0);
    assert!(without.profiles[0].slices.is_none());
    assert!(matches!(
        without.profiles[0].added,
        Added::New {
            slices: Bytes(0),
            ..
        }
    ));
    assert!(
        store
            .snapshot()
            .unwrap()
            .load_slices(without.profiles[0].id)
            .unwrap()
            .is_none()
    );
    let with = add(&store, &sample("a", "1/7", 1, "cycles", &["main"]), 5);
    assert_eq!(with.profiles[0].slices.unwrap().threads, 1);
    let listed = store.snapshot().unwrap().builds().unwrap();
    let listed = listed[0].profiles.iter();
    let listed: BTreeMap<_, _> = listed
        .map(|profile| (profile.id, profile.slices > Bytes(0)))
        .collect();
    let expected = [(without.profiles[0].id, false), (with.profiles[0].id, true)];
    assert_eq!(listed, BTreeMap::from(expected));

    let again = add(&store, &text, 5);
    assert!(!again.profiles[0].added.is_new());
    assert!(
        !store
            .snapshot()
            .unwrap()
            .has_slices(again.profiles[0].id)
            .unwrap()
    );
    let expected = "The profile is already stored without slices of time, and stays so; to store it with them, \
                    use another store.";
    let warning = again.warnings.last().unwrap();
    assert_eq!(
        (&*warning.text, warning.hint),
        (expected, Some(Hint::OtherStore))
    );
}

#[test]
fn slices_change_no_other_column() {
    let columns = |slices: u32| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let text = sample("a", "1/7", 0, "cycles", &["main", "f"]);
        add(&store, &text, slices);
        let database = redb::Database::open(folder.path().join(Store::FILE_NAME)).unwrap();
        let transaction = redb::ReadableDatabase::begin_read(&database).unwrap();
        let segments: redb::TableDefinition<(u8, u32, u32, u32), &[u8]> =
            redb::TableDefinition::new("columns");
        let segments = transaction.open_table(segments).unwrap();
        assert!(redb::ReadableTableMetadata::is_empty(&segments).unwrap());
        let ends: redb::TableDefinition<(u8, u32, u32), &[u8]> = redb::TableDefinition::new("ends");
        let ends = transaction.open_table(ends).unwrap();
        let all = ends.range::<(u8, u32, u32)>(..).unwrap();
        all.map(|entry| {
            let (key, value) = entry.unwrap();
            (key.value(), value.value().to_vec())
        })
        .collect::<BTreeMap<_, _>>()
    };
    const SLICES: u8 = 6;
    let (without, mut with) = (columns(0), columns(5));
    assert!(without.keys().all(|key| key.0 != SLICES));
    assert!(with.remove(&(SLICES, 0, 0)).is_some());
    assert_eq!(with, without);
}

#[test]
fn merge_copies_slices() {
    let [here, there] = [(); 2].map(|()| Store::in_memory().unwrap());
    let stacks = ["a", "c", "b"].map(|leaf| sample("a", "1/7", 0, "cycles", &["main", leaf]));
    let later = ["d", "a"].map(|leaf| sample("a", "1/8", 9, "cycles", &["main", leaf]));
    add(&here, &stacks.concat(), 5);
    let id = add(&there, &(stacks.concat() + &later.concat()), 5).profiles[0].id;
    let without = sample("a", "1/7", 0, "cycles", &["main"]);
    add(&here, &without, 0);
    let only_there = add(&there, &without, 5).profiles[0].id;
    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert_eq!(merged.added, [id]);
    assert_eq!(merged.conflicts[0].there, only_there);
    assert_eq!(merged.conflicts[0].differ_in, ["slices"]);
    let [came, went] =
        [&here, &there].map(|store| store.snapshot().unwrap().load_slices(id).unwrap().unwrap());
    assert_eq!(came.tree, went.tree);
    assert_eq!(came.slices, went.slices);
    assert!(!here.snapshot().unwrap().has(only_there).unwrap());
}

#[test]
fn flipped_bits_in_slices_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let samples = (0..200u64).map(|i| {
        let symbols = ["a", "b", "c", "d", "e", "f", "g"];
        let stack = [symbols[i as usize % 7], symbols[i as usize / 7 % 7]];
        sample("a", &format!("1/{}", i % 5), i * i, "cycles", &stack)
    });
    let report = add(&store, &samples.collect::<String>(), 100);
    let id = report.profiles[0].id;
    let load_stored = |store: &Store| {
        let loaded = store.snapshot()?.load_slices(id)?;
        Ok::<_, StoreError>(loaded.map(|loaded| (loaded.tree, loaded.slices)))
    };
    let right = load_stored(&store).unwrap();
    assert!(right.is_some());
    let file = folder.path().join(Store::FILE_NAME);
    let bytes = std::fs::read(&file).unwrap();
    let mut random = 1u64;
    let mut found = 0;
    for _ in 0..400 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bit = (random >> 33) as usize % (8 * bytes.len());
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&file, bytes).unwrap();
        match Store::open(folder.path()).and_then(|store| load_stored(&store)) {
            Ok(slices) => assert!(slices == right, "bit {bit}"),
            Err(_) => found += 1,
        }
    }
    assert!(found > 0);
}

#[test]
fn rejects_invalid_slices() {
    let recording = two_processes();
    let prepared = prepare_one(&recording, 2);
    let refused = |change: &dyn Fn(&mut ProfileData, &mut TimeSlices, &mut Vec<SliceCost>)| {
        let mut interned = prepared.interned.clone();
        let mut slices = interned.slices.take().unwrap();
        let mut costs = slices.costs[0].iter().collect();
        change(&mut interned, &mut slices, &mut costs);
        if !slices.costs.is_empty() {
            slices.costs[0] = SliceCosts::from_iter(costs);
        }
        interned.slices = Some(slices);
        let store = Store::in_memory().unwrap();
        match store
            .writer()
            .add(&prepared.build, &prepared.profile, &interned)
        {
            Err(StoreError::Refused { why, .. }) => why,
            added => panic!("{added:?}"),
        }
    };
    assert_eq!(
        refused(&|_, slices, _| slices.costs.clear()),
        "its slices do not have one column per sample type"
    );
    assert_eq!(
        refused(&|_, slices, _| slices.contexts.swap(0, 1)),
        "its contexts are out of order"
    );
    assert_eq!(
        refused(&|_, _, costs| costs.swap(0, 1)),
        "its slices are out of order"
    );
    assert_eq!(
        refused(&|_, _, costs| costs.push(*costs.last().unwrap())),
        "its slices are out of order"
    );
    for out_of_range in [
        |last: &mut SliceCost| last.context = ContextIx(9),
        |last: &mut SliceCost| last.slice = SliceIx(2),
    ] {
        assert_eq!(
            refused(&|_, _, costs| out_of_range(costs.last_mut().unwrap())),
            "a slice or its context does not exist"
        );
    }
    let not_the_sum = "its slices do not add up to its costs";
    assert_eq!(refused(&|_, _, costs| costs.truncate(1)), not_the_sum);
    for wrong in [
        |last: &mut SliceCost| last.cost.samples += 1,
        |last: &mut SliceCost| last.cost.value -= 1,
        |last: &mut SliceCost| last.node = NodeIx(99),
    ] {
        assert_eq!(
            refused(&|_, _, costs| wrong(costs.last_mut().unwrap())),
            not_the_sum
        );
    }
    let zero = |_: &mut ProfileData, _: &mut TimeSlices, costs: &mut Vec<SliceCost>| {
        let slice = SliceIx(1);
        let last = *costs.last().unwrap();
        costs.push(SliceCost {
            slice,
            cost: Cost::ZERO,
            ..last
        });
    };
    assert_eq!(refused(&zero), not_the_sum);
    let backwards = |interned: &mut ProfileData, _: &mut TimeSlices, _: &mut Vec<SliceCost>| {
        let tree = &interned.tree;
        let mut other = StackTree::new();
        for node in tree.nodes() {
            // `e` and `f`, the callees of `main`.
            let frame = tree.frame(node).0;
            let frame = if frame == 2 { 0 } else { 2 - frame.min(1) };
            other.push(tree.parent(node), FrameIx(frame));
        }
        interned.tree = other;
    };
    assert_eq!(
        refused(&backwards),
        "two callees of a stack are out of order or equal"
    );
}
