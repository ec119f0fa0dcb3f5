//! Times queries of a store that `store_growth` filled.
//!
//!     cargo run --release -p sto-benches --bin store_questions -- STORE
//!
//! Prints CSV: the query, the number of nodes in its result, and the minimum and median time
//! in seconds. Each time includes opening the file.

use clap::Parser;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;
use sto_core::store::{Store, StoredBuild};
use sto_query::internal::tree::totals;
use sto_query::results::View;
use sto_query::select::{SelectError, Selection};

/// Time queries of a store that store_growth filled
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Number of times to run each query
    #[arg(long, default_value_t = 7)]
    repeat: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    println!("question,nodes,fastest,middle");
    ask("open and list every build", args.repeat, || {
        Store::open(&args.store)?.snapshot()?.builds()?;
        Ok(0)
    })?;

    let store = Store::open(&args.store)?.snapshot()?;
    let builds = store.builds()?;
    let (Some(first), Some(last)) = (builds.first(), builds.last()) else {
        return Err("the store is empty".into());
    };
    let of = |build: &StoredBuild, runs: usize| {
        Selection::new(build.build.clone(), build.profiles[..runs].to_vec())
    };
    let middle = &builds[builds.len() / 2];
    let selections = [
        ("one run of the first build", of(first, 1)),
        ("one run of the middle build", of(middle, 1)),
        (
            "all runs of the middle build",
            of(middle, middle.profiles.len()),
        ),
        ("the last build", of(last, last.profiles.len())),
    ];
    for (what, selection) in selections {
        let question = format!("{what} ({})", selection.profiles.len());
        ask(&format!("load {question}"), args.repeat, || {
            let view = View::load(&store, selection.clone())?;
            Ok(view.tree.len())
        })?;
        ask(&format!("load with totals {question}"), args.repeat, || {
            let view = View::load(&store, selection.clone())?;
            black_box(totals(&view.tree, &view.self_costs(0)));
            Ok(view.tree.len())
        })?;
    }
    Ok(())
}

/// Runs a query repeatedly and prints its times. The query returns a number of nodes.
fn ask(
    question: &str,
    repeat: usize,
    mut answer: impl FnMut() -> Result<usize, SelectError>,
) -> Result<(), SelectError> {
    let mut nodes = 0;
    let mut times = Vec::new();
    for _ in 0..repeat.max(1) {
        let start = Instant::now();
        nodes = black_box(answer()?);
        times.push(start.elapsed().as_secs_f64());
    }
    times.sort_by(f64::total_cmp);
    let middle = times[times.len() / 2];
    println!("{question},{nodes},{:.6},{middle:.6}", times[0]);
    Ok(())
}
