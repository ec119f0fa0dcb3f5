//! What each stage of `sto ingest` costs by itself, in the order in which data passes them.

use divan::counter::{BytesCount, ItemsCount};
use divan::{Bencher, black_box};
use sto_core::id::SourceDigest;
use sto_core::model::FrameTable;

fn main() {
    divan::main();
}

/// The digest of a recording's bytes.
#[divan::bench(args = [1 << 20, 64 << 20])]
fn digest(bencher: Bencher<'_, '_>, size: usize) {
    let recording = vec![0x5a; size];
    bencher
        .counter(BytesCount::new(size))
        .bench_local(|| SourceDigest::of(black_box(&recording)));
}

/// Frames that a table does not hold yet.
#[divan::bench(args = [1_000, 100_000])]
fn insert_new_frames(bencher: Bencher<'_, '_>, count: u32) {
    let frames = sto_benches::frames(count);
    bencher
        .counter(ItemsCount::new(count))
        .bench_local(|| insert_all(FrameTable::new(), &frames));
}

/// Frames that a table holds already, as most frames of a recording are.
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
