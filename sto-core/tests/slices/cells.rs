//! Assigning samples to cells: contexts and slices of time.

use super::{count, options, show_interned, sliced, store_and_load, two_processes};
use crate::common::named_symbols;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::Hint;
use sto_core::ingest::InternError;
use sto_core::ingest::{IngestOptions, ingest, make_profiles};
use sto_core::recording::ThreadIx;
use sto_core::stages::intern;
use sto_core::store::Store;
use sto_core::tree::{
    ProfileData, ProfileThread, SliceCost, SliceCount, SliceGrid, SliceIx, TimeSlices,
};
use sto_core::units::Nanoseconds;

#[test]
fn cells_count_samples_by_thread_and_time() {
    let interned = sliced(&two_processes(), 2);
    assert_eq!(
        show_interned(&interned, 0),
        [
            "1/1 a 1 main 1 10",
            "1/7 a 0 main;f 2 20",
            "1/7 a 1 main;e 1 10",
            "1/7 a 1 main;f 2 20",
            "2/7 b 0 main;f 1 10",
        ]
    );
    assert_eq!(show_interned(&interned, 1), ["2/7 b 1 main 1 10"]);
}

#[test]
fn boundary_times_belong_to_the_later_slice() {
    let slices_of = |first: u64, last: u64, slices: u32| -> Vec<u32> {
        let grid = SliceGrid::new(Nanoseconds(first), Nanoseconds(last), count(slices)).unwrap();
        let slice = |time| grid.slice_at(Nanoseconds(time)).unwrap().0;
        (first..=last).map(slice).collect()
    };
    assert_eq!(slices_of(100, 109, 2), [0, 0, 0, 0, 0, 1, 1, 1, 1, 1]);
    assert_eq!(slices_of(100, 109, 3), [0, 0, 0, 0, 1, 1, 1, 2, 2, 2]);
    assert_eq!(slices_of(100, 109, 1), [0; 10]);
    assert_eq!(slices_of(7, 7, 1), [0]);
    assert_eq!(slices_of(7, 7, 100), [0], "without a duration");
    assert_eq!(slices_of(0, 1, 4), [0, 2], "more slices than nanoseconds");
    let max = SliceCount::MAX;
    let all = SliceGrid::new(Nanoseconds(0), Nanoseconds(u64::MAX), count(max)).unwrap();
    assert_eq!(all.slice_at(Nanoseconds(u64::MAX)), Some(SliceIx(max - 1)));
}

#[test]
fn slices_of_the_longest_run_begin_where_the_previous_ones_end() {
    for slices in [1, 3, 1_000, SliceCount::MAX] {
        let all = SliceGrid::new(Nanoseconds(0), Nanoseconds(u64::MAX), count(slices)).unwrap();
        for slice in 1..slices {
            let start = all.slice_start(slice).0;
            let around = [start - 1, start].map(|time| all.slice_at(Nanoseconds(time)));
            assert_eq!(around, [Some(SliceIx(slice - 1)), Some(SliceIx(slice))]);
        }
        assert_eq!(all.slice_start(slices), Nanoseconds(u64::MAX));
    }
}

#[test]
fn times_outside_of_the_recording_are_in_no_slice() {
    let grid = SliceGrid::new(Nanoseconds(5), Nanoseconds(8), count(2)).unwrap();
    assert_eq!(grid.slice_at(Nanoseconds(4)), None);
    assert_eq!(grid.slice_at(Nanoseconds(9)), None);
    assert_eq!(
        SliceGrid::new(Nanoseconds(8), Nanoseconds(5), count(2)),
        None
    );
    assert_eq!((SliceCount::new(0), SliceCount::new(65_537)), (None, None));
}

#[test]
fn distinguishes_threads_with_equal_ids_by_name() {
    let recording = two_processes().edit(|recording| {
        // The process executes another program, and its thread another name.
        let mut again = recording.threads[0].clone();
        again.name = "\u{1b}[31m<b>ü\n".to_owned();
        recording.threads.push(again);
        // A thread equal to the first.
        recording.threads.push(recording.threads[0].clone());
        recording.samples[1].thread = ThreadIx(recording.threads.len() as u32 - 2);
        recording.samples[2].thread = ThreadIx(recording.threads.len() as u32 - 1);
    });
    let recording = recording.unwrap();
    let names = |slices: TimeSlices| -> Vec<(u32, u32, String)> {
        let threads = slices.contexts.into_iter().map(|context| context.thread);
        threads
            .map(|thread| (thread.pid, thread.tid, thread.name))
            .collect()
    };
    let expected = [
        (1, 1, "a".to_owned()),
        (1, 7, "\u{1b}[31m<b>ü\n".to_owned()),
        (1, 7, "a".to_owned()),
        (2, 7, "b".to_owned()),
    ];
    let interned = sliced(&recording, 1);
    assert_eq!(names(interned.slices.unwrap()), expected);
    let loaded = store_and_load(&recording, 1);
    assert_eq!(names(loaded.slices), expected);
}

#[test]
fn rejects_slices_without_timestamps() {
    let recording = two_processes().edit(|recording| recording.samples[3].time = None);
    let recording = recording.unwrap();
    let symbols = named_symbols(&recording);
    let error = intern(&recording, &symbols, Some(count(5)), |_| true).unwrap_err();
    assert_eq!(error, InternError::NoTime { all: false });
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.folded");
    std::fs::write(&path, "main;work 3\n").unwrap();
    let store = Store::in_memory().unwrap();
    let error = ingest(&store, &path, &options(5), &mut |_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}: no sample has a timestamp, so time cannot be divided into slices",
            path.display()
        )
    );
    assert_eq!(error.hint(), Some(Hint::WholeTime));
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn profiles_of_one_recording_have_equal_slices() {
    let recording = two_processes();
    let split = IngestOptions {
        split_processes: true,
        ..options(2)
    };
    let symbols = named_symbols(&recording);
    let (profiles, _) = make_profiles(Path::new("p"), &recording, &symbols, &split).unwrap();
    let [a, b] = &profiles[..] else {
        panic!("two programs");
    };
    let grid = |interned: &ProfileData| interned.slices.as_ref().unwrap().grid;
    assert_eq!(grid(&a.interned), grid(&b.interned));
    // Slices of the time of only its own two samples would be different.
    assert_eq!(show_interned(&b.interned, 0), ["2/7 b 0 main;f 1 10"]);
    assert_eq!(show_interned(&b.interned, 1), ["2/7 b 1 main 1 10"]);
    assert_eq!(b.interned.slices.as_ref().unwrap().contexts.len(), 1);
}

#[test]
fn slices_threads_of_perf_data() {
    let file = "../testdata/perf-data/threads.perf.data";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let store = Store::in_memory().unwrap();
    let report = ingest(&store, &file, &options(4), &mut |_| ()).unwrap();
    let loaded = store
        .snapshot()
        .unwrap()
        .load_slices(report.profiles[0].id)
        .unwrap();
    let slices = loaded.unwrap().slices;
    let mut samples = BTreeMap::new();
    for SliceCost {
        context,
        slice,
        cost,
        ..
    } in slices.costs[0].iter()
    {
        let ProfileThread { pid, tid, name } = &slices.contexts[context.0 as usize].thread;
        *samples
            .entry((*pid, *tid, name.as_str(), slice.0))
            .or_default() += cost.samples;
    }
    // From the timestamps of `perf script --ns -F comm,pid,tid,time`.
    let expected = [
        ((23135, 23137, "adder", 0), 41),
        ((23135, 23137, "adder", 1), 40),
        ((23135, 23137, "adder", 2), 34),
        ((23135, 23138, "divider", 0), 35),
        ((23135, 23138, "divider", 1), 39),
        ((23135, 23138, "divider", 2), 43),
        ((23135, 23138, "divider", 3), 64),
    ];
    assert_eq!(samples, BTreeMap::from(expected));
    assert_eq!(slices.grid.first(), Nanoseconds(1_735_885_955_416));
    assert_eq!(slices.grid.last().0 - slices.grid.first().0, 518_127_130);
}
