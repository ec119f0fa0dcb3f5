//! Correlation of functions with a metric.

use crate::views::{assert_fits, assert_golden};
use serde::Deserialize;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::store::Store;
use sto_core::units::UnixSeconds;
use sto_query::internal::correlate::{bottlenecks, pearson, sparse_pearson, spearman};
use sto_query::internal::history::History;
use sto_query::questions::{BottleneckOptions, Combination, HistoryQuery, Measure};
use sto_query::render;
use sto_query::results::Bottlenecks;

#[derive(Deserialize)]
struct Case {
    name: String,
    x: Vec<f64>,
    y: Vec<f64>,
    pearson: (f64, f64),
    spearman: (f64, f64),
    interval: (f64, f64),
}

#[track_caller]
fn assert_close(found: f64, expected: f64, what: &str) {
    let near = (found - expected).abs() <= 1e-6 * expected.abs() + 1e-12;
    assert!(near, "{what}: {found}, expected {expected}");
}

#[test]
fn coefficients_p_and_intervals_agree_with_scipy() {
    let cases = include_str!("../../testdata/correlation/correlation.json");
    let cases: Vec<Case> = serde_json::from_str(cases).unwrap();
    assert_eq!(cases.len(), 7);
    for case in &cases {
        let indexed = case.x.iter().copied().enumerate();
        let sparse: Vec<(usize, f64)> = indexed.filter(|&(_, x)| x != 0.0).collect();
        let found = sparse_pearson(&sparse, &case.y).unwrap();
        assert_close(found.coefficient, case.pearson.0, &case.name);
        let found = pearson(&case.x, &case.y).unwrap();
        assert_close(found.coefficient, case.pearson.0, &case.name);
        assert_close(found.p, case.pearson.1, &case.name);
        assert_close(found.interval().0, case.interval.0, &case.name);
        assert_close(found.interval().1, case.interval.1, &case.name);
        let found = spearman(&case.x, &case.y).unwrap();
        assert_close(found.coefficient, case.spearman.0, &case.name);
        assert_close(found.p, case.spearman.1, &case.name);
    }
}

#[test]
fn constant_function_has_no_coefficient() {
    assert_eq!(pearson(&[1.0, 2.0, 3.0], &[0.1 + 0.2; 3]), None);
    assert_eq!(pearson(&[5.0], &[5.0]), None);
    assert_eq!(spearman(&[], &[]), None);
    let two = pearson(&[1.0, 2.0], &[10.0, 5.0]).unwrap();
    assert_eq!(
        (two.coefficient, two.p, two.interval()),
        (-1.0, 1.0, (-1.0, 1.0))
    );
}

/// Runs of two benchmarks: `parse` grows with the run time, `cache` falls, and `log` is independent of it.
fn store() -> Store {
    let store = Store::in_memory().unwrap();
    let jitter = [3, -2, 0, 4, -4, 1, -1, 2];
    for benchmark in ["large", "small"] {
        for (day, jitter) in (0i64..).zip(jitter) {
            let seconds = 10 + day;
            let lines = [
                ("parse", 20 * seconds + jitter),
                ("cache", 400 - 15 * seconds - jitter),
                ("log", 50 + jitter * (day % 3 - 1)),
            ];
            let folded: String = lines
                .iter()
                .map(|(name, count)| format!("main;{name} {count}\n"))
                .collect();
            let options = IngestOptions {
                executable: Some("app".to_owned()),
                version: Some("v1".to_owned()),
                benchmark: Some(benchmark.to_owned()),
                metrics: [("seconds".to_owned(), seconds as f64)].into(),
                ..IngestOptions::default()
            };
            let path = Path::new("run.folded");
            // The comment changes the source's digest, so this is another run.
            let folded = format!("# {benchmark}\n{folded}");
            let recording = read_bytes(path, folded.as_bytes(), &options.read_options()).unwrap();
            let recording = recording
                .edit(|recording| {
                    recording.origin.recorded =
                        Some(UnixSeconds(1_767_000_000 + day as u64 * 86_400));
                })
                .unwrap();
            ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
        }
    }
    store
}

fn report(options: &BottleneckOptions) -> Bottlenecks {
    let histories =
        History::load_all(&store().snapshot().unwrap(), &HistoryQuery::default()).unwrap();
    bottlenecks(&histories, options, None)
}

fn options() -> BottleneckOptions {
    with!(BottleneckOptions {
        metric: "seconds".to_owned(),
        measure: Measure::Pearson,
        combination: Combination::Mean,
        of_self: true,
        min_runs: 5,
        omit_absent: false,
        negative: false,
    })
}

#[test]
fn positively_correlated_functions_come_first() {
    let report = report(&options());
    let names: Vec<&str> = report
        .functions
        .iter()
        .map(|f| f.function.function.as_str())
        .collect();
    assert_eq!(names, ["parse", "log", "cache"]);
    assert_eq!(report.benchmarks.len(), 2);
    assert_fits("bottlenecks", |style| {
        render::bottlenecks::text(&report, style)
    });
    assert_golden(
        "bottlenecks.json",
        &sto_query::results::json(&report).unwrap(),
    );
    assert!(
        report.functions[0].q < 1e-6 && report.functions[1].q > 0.05,
        "{report:?}"
    );
}

#[test]
fn negatively_correlated_functions_are_found_on_request() {
    let negative = with!(BottleneckOptions {
        negative: true,
        measure: Measure::Spearman,
        combination: Combination::Max,
        ..options()
    });
    let report = report(&negative);
    assert_eq!(report.functions[0].function.function, "cache");
    assert_eq!(report.functions[0].coefficient, -1.0);
}

#[test]
fn benchmark_with_too_few_runs_is_left_out() {
    let many = with!(BottleneckOptions {
        min_runs: 9,
        ..options()
    });
    let report = report(&many);
    assert_eq!((report.benchmarks.len(), report.functions.len()), (0, 0));
    let text = render::bottlenecks::text(&report, crate::words::plain());
    assert!(
        text.contains("No benchmark has 9 runs with this metric"),
        "{text}"
    );
}
