//! The time of each stage of `sto ingest`, in the order of the stages.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use std::path::{Path, PathBuf};
use sto_core::formats::{ReadOptions, read, read_bytes};
use sto_core::id::RecordingDigest;
use sto_core::ingest::SymbolOptions;
use sto_core::ingest::{IngestOptions, make_profiles};
use sto_core::model::FrameTable;
use sto_core::recording::Recording;
use sto_core::stages::intern;
use sto_core::stages::symbolize;
use sto_core::store::Store;

fn main() {
    divan::main();
}

/// The digest of a recording's bytes.
#[divan::bench(args = [1 << 20, 64 << 20])]
fn digest(bencher: Bencher<'_, '_>, size: usize) {
    let recording = vec![0x5a; size];
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| RecordingDigest::hash_bytes(black_box(&recording)));
}

/// The recording to use: `STO_BENCH_RECORDING`, or the demo by default.
fn recording() -> PathBuf {
    let demo = concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/demo/v1.perf.data");
    std::env::var_os("STO_BENCH_RECORDING").map_or_else(|| demo.into(), PathBuf::from)
}

fn options() -> SymbolOptions {
    SymbolOptions {
        recording_dir: recording().parent().map(PathBuf::from),
        ..SymbolOptions::default()
    }
}

fn read_recording() -> Recording {
    let options = ReadOptions {
        symbols: options(),
        ..ReadOptions::default()
    };
    read(&recording(), &options).expect("the recording can be read")
}

/// From bytes to stacks of locations.
#[divan::bench]
fn reading(bencher: Bencher<'_, '_>) {
    let size = std::fs::metadata(recording())
        .expect("the recording is there")
        .len();
    bencher
        .counter(BytesCount::new(size))
        .bench_local(read_recording);
}

/// Folded stacks in the order of a tree, as collapsers write them, and in random order. On one thread; with
/// two, the digest, which takes the same time for every format, is computed in parallel.
#[divan::bench(args = [Order::OfCalls, Order::None])]
fn reading_folded(bencher: Bencher<'_, '_>, order: Order) {
    let in_order = sto_benches::folded(32 << 20);
    let text = match order {
        Order::OfCalls => in_order,
        Order::None => sto_benches::shuffled(&in_order),
    };
    let path = Path::new("made-up.folded");
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| read_bytes(path, text.as_bytes(), &ReadOptions::default()));
}

/// Real output of `perf script`, repeated many times.
fn perf_script(name: &str) -> Vec<u8> {
    let path = format!(
        "{}/../testdata/perf-script/{name}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read(path).expect("the recording is there");
    text.repeat((32 << 20) / text.len())
}

const PERF_SCRIPTS: [&str; 3] = ["frame-pointers", "system-wide", "dwarf-inlined"];

/// From the text of `perf script` to stacks of locations.
#[divan::bench(args = PERF_SCRIPTS)]
fn reading_perf_script(bencher: Bencher<'_, '_>, name: &str) {
    let text = perf_script(name);
    bencher
        .counter(BytesCount::of_slice(&text))
        .bench_local(|| read_bytes(Path::new(name), &text, &ReadOptions::default()));
}

#[derive(Clone, Copy, Debug)]
enum Order {
    OfCalls,
    None,
}

/// From locations to frames.
#[divan::bench]
fn symbolizing(bencher: Bencher<'_, '_>) {
    let (recording, options) = (read_recording(), options());
    bencher
        .counter(ItemsCount::new(recording.locations.len()))
        .bench_local(|| symbolize(&recording, &options));
}

/// From stacks to one tree.
#[divan::bench]
fn interning(bencher: Bencher<'_, '_>) {
    let recording = read_recording();
    let symbols = symbolize(&recording, &options());
    bencher
        .counter(ItemsCount::new(recording.samples.len()))
        .bench_local(|| intern(&recording, &symbols, None, |_| true));
}

/// From a tree into an empty store in memory.
#[divan::bench]
fn storing(bencher: Bencher<'_, '_>) {
    let recording = read_recording();
    let symbols = symbolize(&recording, &options());
    let named = IngestOptions {
        version: Some("bench".to_owned()),
        ..IngestOptions::default()
    };
    let (prepared, _) =
        make_profiles(&self::recording(), &recording, &symbols, &named).expect("it has a name");
    let profile = &prepared[0];
    bencher
        .counter(ItemsCount::new(profile.interned.tree.len()))
        .with_inputs(|| Store::in_memory().expect("memory can be had"))
        .bench_local_values(|store| {
            store
                .writer()
                .add(&profile.build, &profile.profile, &profile.interned)
        });
}

/// Frames that a table does not hold yet.
#[divan::bench(args = [1_000, 100_000])]
fn insert_new_frames(bencher: Bencher<'_, '_>, count: u32) {
    let frames = sto_benches::frames(count);
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| insert_all(FrameTable::new(), &frames));
}

/// Frames that the table already holds, like most frames of a recording.
#[divan::bench(args = [1_000, 100_000])]
fn insert_known_frames(bencher: Bencher<'_, '_>, count: u32) {
    let frames = sto_benches::frames(count);
    bencher
        .counter(ItemsCount::new(count))
        .with_inputs(|| frames.clone())
        .bench_local_values(|known| insert_all(known, &frames));
}

fn insert_all(mut table: FrameTable, frames: &FrameTable) -> FrameTable {
    for (_, frame) in frames.iter() {
        table.insert(black_box(frame));
    }
    table
}
