//! Times queries over the history in a store that `store_growth` filled.
//!
//!     cargo run --release -p sto-benches --bin history_questions -- STORE
//!
//! Prints CSV: the query, the size of its input, and the minimum and median time
//! in seconds. Only loading includes opening the file.

use clap::Parser;
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;
use sto_core::store::Store;
use sto_query::internal::correlate::bottlenecks;
use sto_query::internal::expand::{GreedySelection, expand};
use sto_query::internal::history::{FunctionIx, History, JudgedWindow};
use sto_query::internal::potential::potentials;
use sto_query::internal::series::{SeriesOptions, scores, series};
use sto_query::questions::{
    BottleneckOptions, Combination, Degree, Direction, ExpandLimits, HistoryQuery, Measure,
    Observation, Observed, ScoreOptions,
};
use sto_query::results::View;
use sto_query::select::Selection;

/// Time queries over the history in a store that store_growth filled
#[derive(Parser)]
struct Args {
    /// Folder of the store
    store: PathBuf,
    /// Number of times to run each query
    #[arg(long, default_value_t = 5)]
    repeat: usize,
    /// Time only the potentials of the last build
    #[arg(long)]
    potentials: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let store = Store::open(&args.store)?.snapshot()?;
    let ask = |question: &str, size: usize, answer: &dyn Fn()| {
        let mut times = Vec::new();
        for _ in 0..args.repeat.max(1) {
            let start = Instant::now();
            answer();
            times.push(start.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let middle = times[times.len() / 2];
        println!("{question},{size},{:.6},{middle:.6}", times[0]);
    };
    println!("question,size,fastest,middle");
    if args.potentials {
        let builds = store.builds()?;
        let last = builds.last().ok_or("the store is empty")?;
        let selection = Selection::new(last.build.clone(), last.profiles.clone());
        let view = View::load(&store, selection)?;
        for degree in [0, 3, 10] {
            ask(
                &format!("potentials of degree {degree}"),
                view.tree.len(),
                &|| drop(black_box(potentials(&view, 0, Degree(degree)))),
            );
        }
        return Ok(());
    }
    let query = HistoryQuery::default();
    let history = History::load(&store, &query)?;
    let nodes = history.tree.len();
    ask("load", nodes, &|| {
        drop(black_box(History::load(&store, &query)))
    });
    let judged = history.choose_judged(None, JudgedWindow::Builds(10))?;
    let function = tenth_largest(&history, judged.newest());
    ask("series", nodes, &|| {
        let options = SeriesOptions {
            by: Observation::Run,
            observed: Observed::Share,
            window: 10,
        };
        drop(black_box(series(&history, Some(&[function]), options)));
    });
    ask("regressions-over-time", nodes, &|| {
        drop(black_box(scores(
            &history,
            &judged,
            ScoreOptions::default(),
        )));
    });
    let histories = [history];
    for (by, of_self) in [("self", true), ("total", false)] {
        let mut options = BottleneckOptions::default();
        "seconds".clone_into(&mut options.metric);
        options.measure = Measure::Pearson;
        options.combination = Combination::Mean;
        options.of_self = of_self;
        options.min_runs = 5;
        ask(&format!("bottlenecks by {by}"), nodes, &|| {
            drop(black_box(bottlenecks(&histories, &options, None)));
        });
    }
    let [history] = &histories;
    let greedy = GreedySelection(judged);
    let mut reach = ExpandLimits::default();
    (reach.max_depth, reach.max_breadth) = (10, 3);
    for (name, direction) in [
        ("callers", Direction::Callers),
        ("callees", Direction::Callees),
    ] {
        ask(&format!("expand to {name}"), nodes, &|| {
            let branches = expand(history, function, direction, &greedy, &greedy, reach);
            drop(black_box(branches));
        });
    }
    Ok(())
}

/// Returns the function with the tenth highest total in a run, which is not on every stack.
fn tenth_largest(history: &History, run: usize) -> FunctionIx {
    let totals = history.totals(run);
    let mut functions: Vec<FunctionIx> = history
        .tree
        .nodes()
        .map(|node| history.function(node))
        .collect();
    functions.sort_unstable();
    functions.dedup();
    functions.sort_by_key(|function| std::cmp::Reverse(totals[function.get()].samples));
    functions[9.min(functions.len() - 1)]
}
