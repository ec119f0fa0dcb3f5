//! Expansion of a function to its callers and callees.

use crate::views::{assert_fits, assert_golden};
use std::path::Path;
use std::time::Duration;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::internal::expand::{
    Branch, BranchSelection, CorrelationSelection, GreedySelection, InformedSelection,
    PositiveSelection, expand, expansion,
};
use sto_query::internal::history::{History, JudgedWindow};
use sto_query::questions::{Direction, ExpandLimits, HistoryQuery, Method};
use sto_query::render;

/// Returns the history of runs on successive days, given as folded stacks and a metric.
fn history(runs: &[(&str, f64)]) -> History {
    let store = Store::in_memory().unwrap();
    for (day, (folded, seconds)) in (0..).zip(runs) {
        let options = IngestOptions {
            executable: Some("app".to_owned()),
            version: Some("v1".to_owned()),
            metrics: [("seconds".to_owned(), *seconds)].into(),
            ..IngestOptions::default()
        };
        let path = Path::new("run.folded");
        let folded = format!("# {day}\n{folded}");
        let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
        let recording = recording
            .edit(|recording| {
                recording.origin.recorded = Some(UnixSeconds(1_767_000_000 + day * 86_400));
            })
            .unwrap();
        ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    }
    History::load(&store.snapshot().unwrap(), &HistoryQuery::default()).unwrap()
}

/// `serve` and `flush` call `log`; in the last run, `serve` calls it more often, and it writes more.
fn grown() -> History {
    history(&[
        (
            "main;serve;log 10\nmain;serve;log;write 20\nmain;flush;log 31\nmain;flush;log;sync 9",
            1.0,
        ),
        (
            "main;serve;log 12\nmain;serve;log;write 21\nmain;flush;log 30\nmain;flush;log;sync 8",
            1.1,
        ),
        (
            "main;serve;log 11\nmain;serve;log;write 19\nmain;flush;log 29\nmain;flush;log;sync 9",
            0.9,
        ),
        (
            "main;serve;log 13\nmain;serve;log;write 90\nmain;flush;log 28\nmain;flush;log;sync 9",
            3.0,
        ),
    ])
}

fn reach() -> ExpandLimits {
    with!(ExpandLimits {
        max_depth: 10,
        max_breadth: 3,
    })
}

fn greedy(history: &History) -> GreedySelection {
    GreedySelection(
        history
            .choose_judged(None, JudgedWindow::Builds(history.runs.len()))
            .unwrap(),
    )
}

/// The paths of branches: `log serve main`.
fn paths(history: &History, branches: &[Branch]) -> Vec<String> {
    let name = |ix: &sto_query::internal::history::FunctionIx| {
        history.functions[ix.get()].function.clone()
    };
    let path = |branch: &Branch| {
        branch
            .functions
            .iter()
            .map(name)
            .collect::<Vec<_>>()
            .join(" ")
    };
    branches.iter().map(path).collect()
}

fn expanded(
    history: &History,
    direction: Direction,
    selection: &dyn BranchSelection,
) -> Vec<Branch> {
    let function = history.find("log").unwrap()[0];
    expand(
        history,
        function,
        direction,
        &greedy(history),
        selection,
        reach(),
    )
}

#[test]
fn follows_only_callers_that_explain_the_change() {
    let history = grown();
    let greedy = greedy(&history);
    let branches = expanded(&history, Direction::Callers, &greedy);
    assert_eq!(
        paths(&history, &branches),
        ["log", "log serve", "log serve main"]
    );
    // Costs of `log` called by `serve`.
    assert_eq!(branches[1].first, [30.0, 33.0, 30.0, 103.0]);
    assert_eq!(branches[2].last, [70.0, 71.0, 68.0, 140.0]);
    let report = expansion(
        &history,
        &branches,
        Direction::Callers,
        Method::Greedy,
        &greedy,
        &greedy,
    );
    assert_fits("expand", |style| render::expansion::text(&report, style));
    assert_golden("expand.json", &sto_query::results::json(&report).unwrap());
}

#[test]
fn callees_are_ranked_by_their_samples_in_that_context() {
    let history = grown();
    let branches = expanded(&history, Direction::Callees, &greedy(&history));
    assert_eq!(paths(&history, &branches), ["log", "log write", "log sync"]);
    assert_eq!(branches[1].last, [20.0, 21.0, 19.0, 90.0]);
    // Costs of `log` in stacks that reach `write`.
    assert_eq!(branches[1].first, [30.0, 33.0, 30.0, 103.0]);
}

#[test]
fn breadth_and_depth_limit_the_expansion() {
    let history = grown();
    let log = history.find("log").unwrap()[0];
    let greedy = greedy(&history);
    let narrow = with!(ExpandLimits {
        max_depth: 1,
        max_breadth: 1,
    });
    let branches = expand(&history, log, Direction::Callees, &greedy, &greedy, narrow);
    assert_eq!(paths(&history, &branches), ["log", "log write"]);
    let none = with!(ExpandLimits {
        max_depth: 0,
        max_breadth: 1,
    });
    assert_eq!(
        expand(&history, log, Direction::Callees, &greedy, &greedy, none).len(),
        1
    );
}

#[test]
fn recursive_samples_count_once() {
    let history = history(&[
        ("main;log;log;log 5\nmain;log 1", 1.0),
        ("main;log;log;log 5\nmain;log 1", 1.0),
        ("main;log;log;log 6\nmain;log 1", 1.0),
    ]);
    let branches = expanded(&history, Direction::Callees, &greedy(&history));
    assert_eq!(
        paths(&history, &branches),
        ["log", "log log", "log log log"]
    );
    assert_eq!(branches[0].samples, [6.0, 6.0, 7.0]);
    assert_eq!(branches[2].samples, [5.0, 5.0, 6.0]);
    let callers = expanded(&history, Direction::Callers, &greedy(&history));
    assert_eq!(paths(&history, &callers), ["log", "log main"]);
}

#[test]
fn correlation_follows_branches_correlated_with_the_metric() {
    let history = grown();
    let correlated = CorrelationSelection::new(&history, "seconds").unwrap();
    let log = history.find("log").unwrap()[0];
    let stop = PositiveSelection(&correlated);
    let branches = expand(
        &history,
        log,
        Direction::Callers,
        &stop,
        &correlated,
        reach(),
    );
    assert_eq!(
        paths(&history, &branches),
        ["log", "log serve", "log serve main"]
    );
    assert!(correlated.rank(&branches[1]) > 0.99);
    let error = CorrelationSelection::new(&history, "bytes")
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "no benchmark has two runs with a metric `bytes`; there are runs with seconds"
    );
}

#[test]
fn informed_selection_weighs_recent_changes_and_new_depths() {
    let history = history(&[
        ("main;log;a 10\nmain;log;b 10\nmain;log;c 10", 1.0),
        ("main;log;a 12\nmain;log;b 12\nmain;log;c 12", 1.0),
        ("main;log;a 20\nmain;log;b 20\nmain;x;log;c 20", 1.0),
    ]);
    let informed = InformedSelection {
        greedy: greedy(&history),
        history: &history,
        changed: |_: &str| Some(Duration::from_secs(15 * 86_400)),
    };
    let branches = expanded(&history, Direction::Callees, &informed);
    // All have one score; `c` is at a depth at which it never was.
    assert_eq!(
        paths(&history, &branches),
        ["log", "log c", "log a", "log b"]
    );
    assert_eq!(informed.new_depths(&branches[1]), 1.0);
    assert_eq!(informed.new_depths(&branches[2]), 0.0);
    assert_eq!(informed.compile_mode(&branches[1]), 0.0);
    // Folded stacks name no source file.
    assert_eq!(informed.recency(&branches[1]), 0.0);
    assert_eq!(
        informed.rank(&branches[1]),
        2.0 * informed.rank(&branches[2])
    );
}
