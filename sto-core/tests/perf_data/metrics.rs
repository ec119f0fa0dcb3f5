//! Metrics from counters.

use super::{events, read_testdata};
use sto_core::model::MetricKind;

/// A metric's name, the number of its points, their sum, and its first and last time.
fn metrics(file: &str) -> Vec<(String, usize, f64, u64, u64)> {
    let recording = read_testdata(file);
    let metrics = recording.metrics.iter().map(|metric| {
        assert_eq!(metric.kind(), MetricKind::Count);
        let times = metric.times();
        let sum = metric.values().iter().sum();
        let (first, last) = (times[0].0, times[times.len() - 1].0);
        (metric.name().to_owned(), times.len(), sum, first, last)
    });
    metrics.collect()
}

#[test]
fn group_counters_become_metrics_of_differences() {
    // The last values minus the first, from `perf script -D`.
    let (first, last) = (56_945_890_901_414, 56_945_974_910_737);
    let expected = [
        ("cpu-clock", 28, 68_076_550.0),
        ("page-faults", 28, 24_001.0),
        ("context-switches", 28, 14.0),
    ];
    let expected = expected.map(|(name, points, sum)| (name.to_owned(), points, sum, first, last));
    assert_eq!(metrics("perf-data/counters.perf.data"), expected);
    // For each of two processors, which have no samples at the same time.
    let both = metrics("perf-data/counters-all.perf.data");
    let sums: Vec<_> = both
        .iter()
        .map(|metric| (&*metric.0, metric.2.round()))
        .collect();
    let clock = 95_718_298.0 + 90_683_367.0;
    assert_eq!(
        sums,
        [("cpu-clock", clock), ("page-faults", 24_212.0 + 24_049.0)]
    );
    let samples = read_testdata("perf-data/counters-all.perf.data")
        .samples
        .len();
    assert!(both.iter().all(|metric| metric.1 == samples), "{both:?}");
}

#[test]
fn scales_multiplexed_counters_and_separates_threads() {
    let recording = read_testdata("perf-data/waiting-counters.perf.data");
    let points = recording.metrics.iter().map(|metric| {
        let times = metric.times().iter().map(|time| time.0);
        let points: Vec<_> = times.zip(metric.values().iter().copied()).collect();
        (metric.name(), points)
    });
    let expected = [
        (
            "cpu-clock",
            vec![(100, 0.0), (150, 500.0), (200, 550.0), (250, 50.0)],
        ),
        (
            "cpu-clock (2)",
            vec![(100, 0.0), (150, 10.0), (200, 15.0), (250, 5.0)],
        ),
    ];
    assert_eq!(points.collect::<Vec<_>>(), expected);
}

#[test]
fn events_without_stacks_also_become_metrics() {
    let file = "perf-data/beside.perf.data";
    let recording = read_testdata(file);
    let [clock, faults, switches] = ["cpu-clock", "page-faults", "context-switches"];
    assert_eq!(recording.warnings, [""; 0]);
    let expected = [
        (clock, 28, 70_528_948),
        (faults, 240, 24_000),
        (switches, 9, 9),
    ];
    assert_eq!(events(&recording), expected);
    let first = recording.samples[0].time.unwrap().0;
    let found = metrics(file);
    let found: Vec<_> = found
        .iter()
        .map(|(name, points, sum, begin, _)| (&**name, *points, *sum, *begin))
        .collect();
    // The first sample is of context-switches, and the other counter was read a nanosecond later.
    assert_eq!(
        found,
        [(faults, 242, 24_000.0, first), (switches, 10, 9.0, first)]
    );
}

#[test]
fn ordinary_recordings_have_no_metrics() {
    for file in [
        "demo/v1.perf.data",
        "perf-data/two-events.perf.data",
        "perf-data/per-thread.perf.data",
        "perf-data/branch-counters.perf.data",
    ] {
        assert_eq!(metrics(file), [], "{file}");
    }
}
