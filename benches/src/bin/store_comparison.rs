//! Times the comparison of the first and the last build of a store, in parts.
//!
//!     cargo run --release -p sto-benches --bin store_comparison -- STORE
//!
//! Prints CSV: the part, how much came out of it, and the fastest and the middle of the times in
//! seconds. Sums are what SQL on the Sto document's tables answers: the samples of each location, of
//! one sum a build, side by side, without statistics; their time includes opening the file.

use clap::Parser;
use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;
use sto_core::store::Store;
use sto_query::compare::{CompareOptions, compare};
use sto_query::render::findings_text;
use sto_query::select::{SelectError, Selection};
use sto_query::tree::View;

/// Time the comparison of the first and the last build of a store
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// How often each part is done
    #[arg(long, default_value_t = 7)]
    repeat: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let Args { store, repeat } = Args::parse();
    println!("part,size,fastest,middle");
    let mut loaded = None;
    time("open and load (nodes)", repeat, || {
        let store = Store::open(&store)?;
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
            Ok(findings_text(&comparison, false).len())
        })?;
    }
    time("sums (locations)", repeat, || Ok(sums(&store)?.len()))
}

/// Prints how long a part took. It answers with the size of what came out of it.
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

/// The first and the last build.
fn builds(store: &Store) -> Result<[Selection; 2], Box<dyn Error>> {
    let builds = store.builds()?;
    let (Some(first), Some(last)) = (builds.first(), builds.last()) else {
        return Err("the store is empty".into());
    };
    Ok([first, last].map(|build| Selection {
        build: build.build.clone(),
        profiles: build.profiles.clone(),
    }))
}

/// Samples of a location in both builds.
struct Sums {
    symbol: String,
    file: String,
    line: u32,
    samples: [u64; 2],
}

/// Every location, the one with the largest growth first.
fn sums(store: &Path) -> Result<Vec<Sums>, Box<dyn Error>> {
    let store = Store::open(store)?;
    let [first, last] = builds(&store)?;
    let by_frame = |selection| -> Result<(View, Vec<u64>), SelectError> {
        let view = View::load_sum(&store, selection)?;
        let mut samples = vec![0; view.frames.len()];
        for (node, cost) in &view.runs[0][0] {
            samples[view.tree.frame(*node).get()] += cost.samples;
        }
        Ok((view, samples))
    };
    let (first, last) = thread::scope(|scope| {
        let last = scope.spawn(|| by_frame(last));
        (by_frame(first), last.join().expect("it does not panic"))
    });
    let sides = [first?, last?];

    let mut locations: HashMap<(&str, &str, u32), [u64; 2]> = HashMap::new();
    for (side, (view, samples)) in sides.iter().enumerate() {
        for (ix, frame) in view.frames.iter() {
            let location = locations.entry((frame.symbol, frame.file, frame.line));
            location.or_default()[side] += samples[ix.get()];
        }
    }
    let mut sums: Vec<Sums> = locations
        .into_iter()
        .map(|((symbol, file, line), samples)| Sums {
            symbol: symbol.to_owned(),
            file: file.to_owned(),
            line,
            samples,
        })
        .collect();
    sums.sort_unstable_by_key(|sums| sums.samples[0] as i64 - sums.samples[1] as i64);
    black_box(
        sums.first()
            .map(|sums| (&sums.symbol, &sums.file, sums.line)),
    );
    Ok(sums)
}
