//! Rows and metrics of real recordings over time.

mod page;

use crate::ask;
use crate::views::{assert_fits, assert_golden};
use crate::words;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::tree::NodeIx;
use sto_core::units::Nanoseconds;
use sto_query::internal::timeline::{Grid, NamedSeries};
use sto_query::internal::tree::functions;
use sto_query::questions::{Order, RowsBy, TimelineRequest, Window};
use sto_query::results::RunOverTime;
use sto_query::sources::{BuildRef, EVENT, Filter, Sources};
use sto_query::{QueryError, render};

/// Recordings of several threads, with recursion, and with stacks unwound by DWARF.
const RECORDINGS: [&str; 3] = ["threads.perf.data", "node-map.perf.data", "dwarf.perf.data"];

fn recording(name: &str) -> PathBuf {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    repository.join("testdata/perf-data").join(name)
}

fn sources() -> Sources {
    Sources::from_folder(Path::new("there is no store"))
}

fn load(name: &str) -> RunOverTime {
    let named = BuildRef::File(recording(name));
    let loaded = sources().run_over_time(&named, &Filter::default());
    let (run, sample_type) = loaded.unwrap();
    assert_eq!(sample_type, EVENT);
    run
}

#[track_caller]
fn assert_near(found: f64, expected: f64) {
    let near = (found - expected).abs() <= 1e-9 * expected.abs() + 1e-9;
    assert!(near, "{found} for {expected}");
}

fn sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn metrics(run: &RunOverTime, names: &[&str], grid: Grid) -> Vec<NamedSeries> {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    run.metrics(EVENT, &names, grid).unwrap()
}

#[test]
fn rows_of_functions_add_up_to_their_costs() {
    for name in RECORDINGS {
        for run in [load(name), load(name).without_inlined()] {
            let mut expected = BTreeMap::new();
            for function in functions(&run.view, EVENT) {
                let frame = run.view.frames.frame(function.frame);
                let costs = (function.self_cost, function.total);
                expected.insert((frame.module.to_owned(), frame.symbol.to_owned()), costs);
            }
            for order in [Order::SelfCost, Order::Total] {
                let rows = run.rows(EVENT, &RowsBy::Function, order, None).unwrap();
                for (row, (name, cost)) in rows.names.iter().zip(&rows.costs).enumerate() {
                    let key = (name.module.clone().unwrap(), name.name.clone());
                    let (own, total) = expected[&key];
                    assert_eq!(*cost, if order == Order::Total { total } else { own });
                    assert_near(sum(rows.row(row)), cost.value as f64);
                }
                assert!(rows.costs.is_sorted_by(|a, b| a.value >= b.value));
                assert_eq!(rows.omitted, 0);
            }
        }
    }
}

/// The reference adds up every function of every stack, slice by slice.
#[test]
fn totals_count_a_stack_once_per_slice() {
    for name in RECORDINGS {
        let run = load(name);
        let mut expected: BTreeMap<(String, u32), f64> = BTreeMap::new();
        let symbol = |node: NodeIx| run.view.frames.frame(run.view.tree.frame(node)).symbol;
        for cost in run.costs(EVENT) {
            let stack: BTreeSet<&str> = run.view.tree.ancestors(cost.node).map(symbol).collect();
            for function in stack {
                let sum = expected.entry((function.to_owned(), cost.slice.0));
                *sum.or_default() += cost.cost.value as f64;
            }
        }
        let mut found: BTreeMap<(String, u32), f64> = BTreeMap::new();
        let rows = run
            .rows(EVENT, &RowsBy::Function, Order::Total, None)
            .unwrap();
        let mut symbols = BTreeSet::new();
        for (row, name) in rows.names.iter().enumerate() {
            if !symbols.insert(&name.name) {
                // Two modules have functions of this name, and stacks contain both.
                expected.retain(|(symbol, _), _| *symbol != name.name);
                continue;
            }
            for (slice, &value) in (0..).zip(rows.row(row)).filter(|(_, value)| **value > 0.0) {
                found.insert((name.name.clone(), slice), value);
            }
        }
        found.retain(|key, _| expected.contains_key(key));
        assert!(expected.len() > 20, "{name}: {}", expected.len());
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn rows_of_threads_and_modules_add_up_to_the_run() {
    for name in RECORDINGS {
        let run = load(name);
        let whole = sum(&run
            .view
            .self_costs(EVENT)
            .iter()
            .map(|c| c.value as f64)
            .collect::<Vec<_>>());
        for by in [RowsBy::Thread, RowsBy::Module] {
            let rows = run.rows(EVENT, &by, Order::SelfCost, None).unwrap();
            let sums = (0..rows.names.len()).map(|row| sum(rows.row(row)));
            assert_near(sums.sum(), whole);
            let limited = run.rows(EVENT, &by, Order::SelfCost, Some(1)).unwrap();
            assert_eq!(limited.names, rows.names[..1]);
            assert_eq!(limited.row(0), rows.row(0));
            assert_eq!(limited.omitted, rows.names.len() - 1);
        }
    }
}

#[test]
fn metrics_are_rates_of_rows_and_formulas_combine_them() {
    let run = load("threads.perf.data");
    let own = run.grid();
    let rows = run
        .rows(EVENT, &RowsBy::Function, Order::SelfCost, Some(1))
        .unwrap();
    let function = &rows.names[0].name;
    let (by_self, event) = (format!("self:{function}"), "event:cpu-clock".to_owned());
    let share = format!("share = \"{by_self}\" / \"{event}\"");
    let double = "double = 2 * share".to_owned();
    let names = [&by_self, &event, &share, &double].map(|name| &**name);
    let found = metrics(&run, &names, own);
    for (slice, &cost) in rows.row(0).iter().enumerate() {
        assert_near(found[0].values[slice] * own.step(), cost);
        let (own, all) = (found[0].values[slice], found[1].values[slice]);
        match all {
            0.0 => assert!(found[2].values[slice].is_nan()),
            all => assert_near(found[2].values[slice], own / all),
        }
    }
    assert_eq!(found[2].name, "share");
    let doubled = found[2].values.iter().map(|share| 2.0 * share);
    assert!(
        doubled
            .zip(&found[3].values)
            .all(|(a, b)| a == *b || a.is_nan() && b.is_nan())
    );
    // A coarser grid has the same sum.
    let coarse = metrics(&run, &names[..1], own.with_max_slices(7)).remove(0);
    assert_eq!(coarse.values.len(), 7);
    let seconds = own.with_max_slices(7).step();
    assert_near(sum(&coarse.values) * seconds, rows.costs[0].value as f64);
}

#[test]
fn metrics_are_found_by_their_listed_names() {
    for name in RECORDINGS {
        let run = load(name);
        let grid = run.grid().with_max_slices(20);
        let (all, _) = run.all_metrics(EVENT, grid, 50);
        let names: BTreeSet<&str> = all.iter().map(|series| &*series.name).collect();
        assert_eq!(names.len(), all.len(), "no name is there twice");
        for kind in ["self:", "total:", "event:", "module:"] {
            assert!(
                names.iter().any(|name| name.starts_with(kind)),
                "{name}: {kind}"
            );
        }
        for series in &all {
            assert_eq!(series.values.len(), 20);
            let again = metrics(&run, &[&series.name], grid).remove(0);
            for (found, expected) in again.values.iter().zip(&series.values) {
                assert_near(*found, *expected);
            }
        }
    }
}

#[test]
fn unknown_metric_is_an_error_with_closest_name() {
    let run = load("threads.perf.data");
    let error = |name: &str| {
        let error = run
            .metrics(EVENT, &[name.to_owned()], run.grid())
            .unwrap_err();
        error.to_string()
    };
    for (name, expected) in [
        (
            "event:cpu-clok",
            "no metric is named `event:cpu-clok`; did you mean `event:cpu-clock`?",
        ),
        ("ipc", "no metric is named `ipc`"),
        ("x = ipc / 2", "no metric is named `ipc`"),
        (
            "x = 1 +",
            "`x = 1 +`, character 8: expected a metric, a number or `(`, found the end",
        ),
        (
            "self:no_such_thing",
            "no function has `no_such_thing` in its name",
        ),
        ("label:k=v", "no profile has a label `k`"),
    ] {
        let found = error(name);
        assert!(found.contains(expected), "{name}: {found}");
    }
}

#[test]
fn selects_runs_like_other_queries() {
    let mut request = TimelineRequest::default();
    request.named = BuildRef::File(recording("dwarf.perf.data"));
    request.limit = Some(3);
    request.metrics = vec!["event:cpu-clock".to_owned()];
    let found = ask(&sources(), &request).unwrap();
    assert_eq!((found.rows.len(), found.slices, found.runs), (3, 1000, 1));
    let shares: f64 = found.rows.iter().map(|row| row.cost.share).sum();
    assert!((0.1..=1.0).contains(&shares), "{shares}");
    for row in &found.rows {
        assert_near(sum(&row.values), row.cost.value as f64);
    }
    assert_eq!(found.metrics[0].values.len(), 1000);
    request.filter.event = Some("cycles".to_owned());
    let error = ask(&sources(), &request).unwrap_err();
    assert!(matches!(error, QueryError::UnknownEvent { .. }), "{error}");
    request = TimelineRequest::default();
    request.by = RowsBy::Label("k".to_owned());
    request.named = BuildRef::File(recording("dwarf.perf.data"));
    let error = ask(&sources(), &request).unwrap_err();
    let error = match error {
        QueryError::Roots(error) => error.to_string(),
        error => panic!("{error}"),
    };
    assert!(error.contains("no profile has a label `k`"), "{error}");
}

/// Four seconds of `perf script` output at 100 samples per second: a program reads, works in two threads, waits, and
/// writes.
fn four_seconds() -> String {
    let mut script = String::new();
    let mut sample = |thread: u32, hundredth: u32, stack: &[&str]| {
        let time = 1000 + hundredth / 100;
        let fraction = hundredth % 100 * 10_000;
        let name = ["demo", "worker"][usize::from(thread > 10)];
        let _ = writeln!(
            script,
            "{name} 10/{thread} {time}.{fraction:06}: 10000000 cpu-clock:"
        );
        for (ix, symbol) in stack.iter().rev().enumerate() {
            let _ = writeln!(script, "\t{:x} {symbol}+0x0 (/usr/bin/demo)", 0x1000 + ix);
        }
        script.push('\n');
    };
    for at in 0..400 {
        match at {
            0..100 => sample(10, at, &["main", "read_all", "parse_document"]),
            100..300 if at % 50 < 5 => sample(10, at, &["main", "collect_garbage"]),
            100..300 => {
                sample(
                    10,
                    at,
                    &["main", "compute", "demo::Matrix<double>::multiply"],
                );
                sample(11, at, &["worker_main", "compute"]);
            }
            300..340 => {}
            _ => sample(10, at, &["main", "write_all"]),
        }
    }
    script
}

fn of_four_seconds(change: impl FnOnce(&mut TimelineRequest)) -> sto_query::results::Timeline {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("demo.txt");
    std::fs::write(&path, four_seconds()).unwrap();
    let mut request = TimelineRequest::default();
    request.named = BuildRef::File(path);
    change(&mut request);
    ask(&sources(), &request).unwrap()
}

#[test]
fn rows_and_metrics_match_golden_files() {
    let by_function = of_four_seconds(|request| {
        request.limit = Some(4);
        request.metrics = [
            "event:cpu-clock",
            "share = self:multiply / \"event:cpu-clock\"",
        ]
        .map(str::to_owned)
        .to_vec();
    });
    let text = render::timeline::text(&by_function, words::plain());
    assert_golden("timeline.txt", &text);
    assert_fits("timeline", |style| {
        render::timeline::text(&by_function, style)
    });
    let by_thread = of_four_seconds(|request| request.by = RowsBy::Thread);
    let text = render::timeline::text(&by_thread, words::plain());
    assert_golden("timeline-threads.txt", &text);
}

/// A metric with the same value in all slices.
const FLAT: &str = "flat = 2555904.1 + 0 * \"event:cpu-clock\"";

#[test]
fn constant_metric_is_a_flat_line_at_any_width() {
    let flat = of_four_seconds(|request| request.metrics = vec![FLAT.to_owned()]);
    for width in 60..160 {
        let mut style = words::plain();
        style.width = Some(width);
        let text = render::timeline::text(&flat, style);
        assert!(text.contains("always 2"), "{text}");
    }
}

#[test]
fn window_has_the_slices_of_the_whole_run() {
    let whole = of_four_seconds(|_| ());
    let part = of_four_seconds(|request| {
        let from = Nanoseconds(1_500_000_000);
        let to = Some(Nanoseconds(3_200_000_000));
        request.filter.window = Some(Window::Time { from, to });
        request.metrics = vec!["event:cpu-clock".to_owned()];
    });
    assert_eq!((part.seconds, part.slices), (whole.seconds, 426));
    let first = part.from / whole.seconds * 1000.0;
    assert_near(first, first.round());
    assert!((part.from - 1.5).abs() < 0.002, "{}", part.from);
    let first = first.round() as usize;
    for row in &part.rows {
        let of_whole = whole
            .rows
            .iter()
            .find(|whole| whole.name == row.name)
            .unwrap();
        assert_eq!(row.values, of_whole.values[first..][..part.slices]);
        assert_near(sum(&row.values), row.cost.value as f64);
    }
    assert!(part.rows.len() < whole.rows.len());
    // The program reads, works, collects garbage three times, and writes.
    assert_eq!(whole.phases.len(), 9, "{:?}", whole.phases);
    assert!((whole.phases[0] - 1.0).abs() < 0.1, "{:?}", whole.phases);
    assert!((3.0..3.5).contains(&whole.phases[8]), "{:?}", whole.phases);
    assert!(part.phases.is_empty());
    let all: f64 = part.rows.iter().flat_map(|row| &row.values).sum();
    let step = (part.to - part.from) / part.slices as f64;
    let event = part.metrics[0]
        .values
        .iter()
        .map(|rate| rate.unwrap() * step);
    assert_near(event.sum(), all);
    let text = render::timeline::text(&part, words::plain());
    assert!(text.contains("1.500 s to 3.200 s of 3.990 s"), "{text}");
}

#[test]
fn recorded_counters_are_metrics() {
    let named = BuildRef::File(recording("group.perf.data"));
    let (run, _) = sources().run_over_time(&named, &Filter::default()).unwrap();
    assert_eq!(run.metric_names()[..2], ["cpu-clock", "page-faults"]);
    let mut request = TimelineRequest::default();
    request.named = named;
    let names = ["page-faults", "faults = \"page-faults\" / 2"];
    request.metrics = vec![names[0].to_owned(), names[1].to_owned()];
    let found = ask(&sources(), &request).unwrap();
    let units = found.metrics.iter().map(|metric| metric.unit.as_deref());
    assert_eq!(units.collect::<Vec<_>>(), [Some("/s"), None]);
    let known = |ix: usize| found.metrics[ix].values.iter().flatten();
    assert!(known(0).count() > 500);
    assert!(known(0).zip(known(1)).all(|(all, half)| all / 2.0 == *half));
    let (all, _) = run.all_metrics(EVENT, run.grid(), 10);
    assert_eq!((&*all[0].name, &*all[1].name), ("cpu-clock", "page-faults"));
}
