//! Labels of samples, which are stored with the threads.

use super::{options, sample, sliced, two_processes};
use crate::common::read_text;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;
use sto_core::id::ProfileId;
use sto_core::ingest::ingest;
use sto_core::model::{LabelValue, SampleLabel};
use sto_core::recording::{Recording, ThreadIx};
use sto_core::store::{Store, StoreError};
use sto_core::tree::{NodeIx, SliceCost, TimeSlices};
use sto_core::units::Cost;

fn text(key: &str, text: &str) -> SampleLabel {
    SampleLabel {
        key: key.to_owned(),
        value: LabelValue::Text(text.to_owned()),
    }
}

fn bytes(number: i64) -> SampleLabel {
    SampleLabel {
        key: "bytes".to_owned(),
        value: LabelValue::Number {
            number,
            unit: String::new(),
        },
    }
}

/// A thread whose samples have these labels in turn, and a thread without labels.
fn labelled(sets: &[&[SampleLabel]]) -> Recording {
    let samples: Vec<String> = (0..2 * sets.len() as u64)
        .map(|time| sample("a", "1/7", time, "cycles", &["main", "f"]))
        .collect();
    let other = sample("b", "1/8", 0, "cycles", &["main"]);
    let recording = read_text(&(samples.concat() + &other)).unwrap();
    recording
        .edit(|recording| {
            let is_labelled = |thread: ThreadIx| recording.threads[thread.0 as usize].tid == 7;
            let indices: Vec<usize> = (0..recording.samples.len())
                .filter(|&index| is_labelled(recording.samples[index].thread))
                .collect();
            for (index, set) in indices.into_iter().zip(sets.iter().cycle()) {
                let thread = recording.samples[index].thread;
                let mut own = recording.threads[thread.0 as usize].clone();
                own.labels = Arc::from(*set);
                recording.threads.push(own);
                recording.samples[index].thread = ThreadIx(recording.threads.len() as u32 - 1);
            }
        })
        .unwrap()
}

/// Samples of each context, as text.
fn contexts(slices: &TimeSlices) -> Vec<(String, u64)> {
    let mut samples = vec![0; slices.contexts.len()];
    for SliceCost { context, cost, .. } in slices.costs[0].iter() {
        samples[context.0 as usize] += cost.samples;
    }
    let contexts = slices.contexts.iter().zip(samples);
    contexts
        .map(|(context, samples)| {
            let labels: Vec<_> = context.labels.iter().map(|l| (&l.key, l.text())).collect();
            (format!("{} {labels:?}", context.thread.tid), samples)
        })
        .collect()
}

fn sets() -> [Vec<SampleLabel>; 3] {
    [
        vec![bytes(4096), text("tenant", "a"), text("tenant", "b")],
        vec![bytes(-8)],
        vec![],
    ]
}

fn recording() -> Recording {
    let sets = sets();
    labelled(&[&sets[0], &sets[1], &sets[2]])
}

fn expected() -> [(String, u64); 4] {
    [
        ("7 []", 2),
        (r#"7 [("bytes", "-8 bytes")]"#, 2),
        (
            r#"7 [("bytes", "4096 bytes"), ("tenant", "a"), ("tenant", "b")]"#,
            2,
        ),
        ("8 []", 1),
    ]
    .map(|(context, samples)| (context.to_owned(), samples))
}

#[test]
fn different_labels_are_different_contexts() {
    let recording = recording();
    assert_eq!(recording.threads.len(), 8, "each sample has its own");
    let slices = sliced(&recording, 3).slices.unwrap();
    assert_eq!(contexts(&slices), expected());
    assert_eq!(slices.thread_count(), 2);
}

fn add(store: &Store) -> ProfileId {
    let options = options(3);
    let path = Path::new("p");
    let report = ingest(store, (path, recording()), &options, &mut |_| ());
    report.unwrap().profiles[0].id
}

fn kept(store: &Store, id: ProfileId) -> Vec<(String, u64)> {
    let slices = store
        .snapshot()
        .unwrap()
        .load_slices(id)
        .unwrap()
        .unwrap()
        .slices;
    assert_eq!(
        store.snapshot().unwrap().load_contexts(id).unwrap(),
        Some(slices.contexts.clone())
    );
    contexts(&slices)
}

#[test]
fn labels_stay_with_their_profile() {
    let folder = tempfile::tempdir().unwrap();
    let [stored, exported] = ["stored", "exported"].map(|name| folder.path().join(name));
    let store = Store::open_or_create(&stored).unwrap();
    let other = ingest(
        &store,
        (Path::new("other"), two_processes()),
        &options(2),
        &mut |_| (),
    );
    let other = other.unwrap().profiles[0].id;
    let id = add(&store);
    assert_eq!(kept(&store, id), expected(), "stored");
    store.compact().unwrap();
    assert_eq!(kept(&store, id), expected(), "after rewriting");
    store.prune(&BTreeSet::from([other])).unwrap();
    assert_eq!(kept(&store, id), expected(), "pruned");
    store
        .snapshot()
        .unwrap()
        .export(&BTreeSet::from([id]), &exported)
        .unwrap();
    let merged = Store::in_memory().unwrap();
    merged
        .merge(
            &Store::open(&exported).unwrap().snapshot().unwrap(),
            &mut |_| Ok(()),
        )
        .unwrap();
    assert_eq!(kept(&merged, id), expected(), "exported and merged");
    drop(store);
    let verified = Store::verify(&stored, None, &mut |_| Ok(())).unwrap();
    assert!(verified.damages.is_empty(), "{:?}", verified.damages);
}

#[test]
fn rejects_unordered_labels() {
    let sets = sets();
    let backwards: Vec<_> = sets[0].iter().rev().cloned().collect();
    let recording = labelled(&[&backwards]);
    let prepared = super::prepare_one(&recording, 2);
    let store = Store::in_memory().unwrap();
    match store
        .writer()
        .add(&prepared.build, &prepared.profile, &prepared.interned)
    {
        Err(StoreError::Refused { why, .. }) => {
            assert_eq!(why, "labels of a context are out of order");
        }
        added => panic!("{added:?}"),
    }
}

#[test]
fn one_slice_needs_no_timestamps() {
    let recording = recording().edit(|recording| recording.samples[3].time = None);
    let recording = recording.unwrap();
    let interned = sliced(&recording, 1);
    let slices = interned.slices.unwrap();
    assert_eq!(contexts(&slices), expected());
    let cells = slices.costs[0].iter();
    let sum = |node: NodeIx| -> Cost {
        let own = cells.clone().filter(|cell| cell.node == node);
        own.map(|cell| cell.cost).sum()
    };
    assert!(
        interned.costs[0]
            .iter()
            .all(|&(node, cost)| sum(node) == cost)
    );
    assert!(cells.clone().all(|cell| cell.slice.0 == 0));
}
