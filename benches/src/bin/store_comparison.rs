//! Times the comparison of the first and the last build of a store, in parts.
//!
//!     cargo run --release -p sto-benches --bin store_comparison -- STORE
//!
//! Prints CSV: the part, the size of its result, and the minimum and median time in
//! seconds. Sums are the result of SQL on the design document's tables: the samples of each location in
//! both builds, without statistics.

use clap::Parser;
use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;
use sto_core::store::{Snapshot, Store};
use sto_query::internal::compare::compare;
use sto_query::questions::CompareOptions;
use sto_query::render::{Detail, findings_text};
use sto_query::results::View;
use sto_query::select::Selection;
use sto_query::text::Style;

/// Time the comparison of the first and the last build of a store
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Number of times to run each part
    #[arg(long, default_value_t = 7)]
    repeat: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { store, repeat } = Args::parse();
    println!("part,size,fastest,middle");
    let mut loaded = None;
    time("open and load (nodes)", repeat, || {
        let store = Store::open(&store)?.snapshot()?;
        let [first, last] = builds(&store)?;
        let (first, last) = loaded.insert(View::load_both((&store, first), (&store, last))?);
        Ok(first.tree.len() + last.tree.len())
    })?;
    let Some((first, last)) = loaded else {
        return Ok(());
    };
    let mut comparison = None;
    time("compare (findings)", repeat, || {
        let compared = compare(&first, &last, &CompareOptions::default())?;
        Ok(comparison.insert(compared).findings.len())
    })?;
    if let Some(comparison) = comparison {
        time("render (bytes)", repeat, || {
            Ok(findings_text(&comparison, Style::default(), Detail::Short).len())
        })?;
    }
    let mut loaded = None;
    time("open and load sums (nodes)", repeat, || {
        let [first, last] = loaded.insert(load_sums(&store)?);
        Ok(first.tree.len() + last.tree.len())
    })?;
    if let Some(loaded) = loaded {
        time("compare sums (locations)", repeat, || {
            Ok(black_box(sums(&loaded)).len())
        })?;
    }
    Ok(())
}

/// Runs a part repeatedly and prints its times. `part` returns the size of its result.
fn time(
    part: &str,
    repeat: usize,
    mut run: impl FnMut() -> Result<usize, Box<dyn Error>>,
) -> Result<(), Box<dyn Error>> {
    let mut size = 0;
    let mut times = Vec::new();
    for _ in 0..repeat.max(1) {
        let start = Instant::now();
        size = run()?;
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let middle = times[times.len() / 2];
    println!("{part},{size},{:.6},{middle:.6}", times[0]);
    Ok(())
}

/// Returns the first and the last build.
fn builds(store: &Snapshot) -> Result<[Selection; 2], Box<dyn Error>> {
    let builds = store.builds()?;
    let (Some(first), Some(last)) = (builds.first(), builds.last()) else {
        return Err("the store is empty".into());
    };
    Ok([first, last].map(|build| Selection::new(build.build.clone(), build.profiles.clone())))
}

fn load_sums(store: &Path) -> Result<[View; 2], Box<dyn Error>> {
    let store = Store::open(store)?.snapshot()?;
    let [first, last] = builds(&store)?;
    let (first, last) = thread::scope(|scope| {
        let last = scope.spawn(|| View::load_sum(&store, last));
        let first = View::load_sum(&store, first);
        (first, last.join().expect("loading does not panic"))
    });
    Ok([first?, last?])
}

/// Symbol, file and line.
type Location<'a> = (&'a str, &'a str, u32);

/// Returns the samples of every location on both sides, largest growth first.
fn sums(sides: &[View; 2]) -> Vec<(Location<'_>, [u64; 2])> {
    let mut locations: HashMap<Location, [u64; 2]> = HashMap::new();
    for (side, view) in sides.iter().enumerate() {
        let mut samples = vec![0; view.frames.len()];
        for (node, cost) in &view.runs[0][0] {
            samples[view.tree.frame(*node).get()] += cost.samples;
        }
        for ((_, frame), samples) in view.frames.iter().zip(samples) {
            let location = (frame.symbol, frame.file, frame.line);
            locations.entry(location).or_default()[side] += samples;
        }
    }
    let mut sums: Vec<_> = locations.into_iter().collect();
    sums.sort_unstable_by_key(|(_, [first, last])| *first as i64 - *last as i64);
    sums
}
