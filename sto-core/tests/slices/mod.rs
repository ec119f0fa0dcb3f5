//! Slices of time: costs by thread and time, stored and loaded.

mod cells;
mod labels;
mod properties;
mod stored;

use crate::common::{named_symbols, read_text};
use std::path::Path;
use sto_core::ingest::{IngestOptions, Prepared, make_profiles};
use sto_core::model::FrameTable;
use sto_core::recording::Recording;
use sto_core::stages::intern;
use sto_core::store::{Added, LoadedSlices, Store};
use sto_core::tree::{
    NodeIx, ProfileData, ProfileThread, SliceCost, SliceCount, StackTree, TimeSlices,
};
use sto_core::units::Bytes;

pub(crate) fn count(count: u32) -> SliceCount {
    SliceCount::new(count).unwrap()
}

/// A sample as text of `perf script`; `stack` is root first.
pub(crate) fn sample(
    comm: &str,
    ids: &str,
    nanoseconds: u64,
    event: &str,
    stack: &[&str],
) -> String {
    let mut text = format!("{comm} {ids} 1.{nanoseconds:09}: 10 {event}:\n");
    for symbol in stack.iter().rev() {
        text += &format!("\t1 {symbol} (/bin/x)\n");
    }
    text + "\n"
}

pub(crate) fn sliced(recording: &Recording, slices: u32) -> ProfileData {
    let symbols = named_symbols(recording);
    intern(recording, &symbols, Some(count(slices)), |_| true).unwrap()
}

/// The costs by slice of a sample type, one per line: process/thread, name, slice, stack,
/// samples and value.
pub(crate) fn show(
    frames: &FrameTable,
    tree: &StackTree,
    slices: &TimeSlices,
    sample_type: usize,
) -> Vec<String> {
    let costs = slices.costs[sample_type].iter();
    costs
        .map(
            |SliceCost {
                 context,
                 slice,
                 node,
                 cost,
             }| {
                let ProfileThread { pid, tid, name } = &slices.contexts[context.0 as usize].thread;
                let stack = stack_of(frames, tree, node);
                format!(
                    "{pid}/{tid} {name} {} {stack} {} {}",
                    slice.0, cost.samples, cost.value
                )
            },
        )
        .collect()
}

fn stack_of(frames: &FrameTable, tree: &StackTree, node: NodeIx) -> String {
    let symbols = tree.ancestors(node);
    let mut symbols: Vec<&str> = symbols
        .map(|node| frames.frame(tree.frame(node)).symbol)
        .collect();
    symbols.reverse();
    symbols.join(";")
}

pub(crate) fn show_interned(interned: &ProfileData, sample_type: usize) -> Vec<String> {
    let slices = interned.slices.as_ref().unwrap();
    show(&interned.frames, &interned.tree, slices, sample_type)
}

/// Two processes with a thread 7 each, over ten nanoseconds.
pub(crate) fn two_processes() -> Recording {
    let samples = [
        sample("a", "1/7", 0, "cycles", &["main", "f"]),
        sample("a", "1/7", 4, "cycles", &["main", "f"]),
        sample("b", "2/7", 4, "cycles", &["main", "f"]),
        sample("a", "1/7", 5, "cycles", &["main", "f"]),
        sample("a", "1/1", 5, "cycles", &["main"]),
        sample("a", "1/7", 7, "cycles", &["main", "e"]),
        sample("a", "1/7", 9, "cycles", &["main", "f"]),
        sample("b", "2/7", 8, "faults", &["main"]),
    ];
    read_text(&samples.concat()).unwrap()
}

pub(crate) fn options(slices: u32) -> IngestOptions {
    IngestOptions {
        version: Some("v1".to_owned()),
        slices: SliceCount::new(slices),
        ..IngestOptions::default()
    }
}

/// Stores and loads a profile; the store has other stacks, so node numbers differ from the profile's.
pub(crate) fn store_and_load(recording: &Recording, slices: u32) -> LoadedSlices {
    let store = Store::in_memory().unwrap();
    let earlier = ["main;e;f 1\n", "main;f;e 1\nz 1\n"];
    for text in earlier {
        let recording = read_text(text).unwrap();
        let prepared = prepare_one(&recording, 0);
        store
            .writer()
            .add(&prepared.build, &prepared.profile, &prepared.interned)
            .unwrap();
    }
    let prepared = prepare_one(recording, slices);
    let added = store
        .writer()
        .add(&prepared.build, &prepared.profile, &prepared.interned);
    let added = added.unwrap();
    assert!(matches!(added, Added::New { slices, .. } if slices > Bytes(0)));
    store
        .snapshot()
        .unwrap()
        .load_slices(added.id())
        .unwrap()
        .unwrap()
}

pub(crate) fn prepare_one(recording: &Recording, slices: u32) -> Prepared {
    let symbols = named_symbols(recording);
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        ..options(slices)
    };
    let (mut profiles, _) = make_profiles(Path::new("p"), recording, &symbols, &options).unwrap();
    profiles.remove(0)
}
