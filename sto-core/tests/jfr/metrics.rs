//! Metrics over time: of a real recording, compared with the JDK's reader (`testdata/jfr/metrics.py`), and of
//! malformed events.

use super::build::{Chunk, START, TICKS_PER_SECOND, event, numbers, read, text};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::formats::{ReadOptions, read as read_file};
use sto_core::model::MetricKind::{Count, Level};
use sto_core::model::MetricSeries;
use sto_core::recording::Recording;

type Points = Vec<(u64, f64)>;

fn metrics(recording: &Recording) -> BTreeMap<&str, Points> {
    let metrics = recording.metrics.iter().map(|metric| {
        let times = metric.times().iter().map(|time| time.0);
        let points = times.zip(metric.values().iter().copied()).collect();
        (metric.name(), points)
    });
    metrics.collect()
}

#[test]
fn metrics_equal_those_of_the_jdk() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/jfr");
    let recording = read_file(&folder.join("metrics.jfr.zst"), &ReadOptions::default()).unwrap();
    let expected = std::fs::read_to_string(folder.join("metrics.expected")).unwrap();
    let mut points: BTreeMap<&str, Points> = BTreeMap::new();
    for line in expected.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let point = (fields[1].parse().unwrap(), fields[2].parse().unwrap());
        points.entry(fields[0]).or_default().push(point);
    }
    let found = metrics(&recording);
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        points.keys().collect::<Vec<_>>()
    );
    for (name, expected) in points {
        let found = &found[name];
        assert_eq!(found.len(), expected.len(), "{name}");
        for (&(time, value), (expected_time, expected_value)) in found.iter().zip(expected) {
            // The JDK reads the second chunk by the clock of the first, which is 271 ns off; two compilations overlap.
            let off = time.abs_diff(expected_time);
            assert!(off <= 300, "{name} at {expected_time}: {off} ns off");
            let is_time = [
                "collections",
                "collection pauses",
                "compilations",
                "VM operations",
            ];
            let off = (value - expected_value).abs();
            let may_be_off = if is_time.contains(&name) {
                600.0
            } else {
                expected_value * 1e-6
            };
            assert!(
                off <= may_be_off,
                "{name} at {expected_time}: {value}, expected {expected_value}"
            );
        }
    }
    let kinds = |kind| move |metric: &&MetricSeries| metric.kind() == kind;
    assert_eq!(recording.metrics.iter().filter(kinds(Level)).count(), 8);
    assert_eq!(recording.metrics.iter().filter(kinds(Count)).count(), 9);
    // They are within the time of the samples.
    let first = recording.samples[0].time.unwrap().0;
    let load = &found["cpu load: machine total"];
    assert!(
        load[0].0.abs_diff(first) < 1_000_000_000,
        "{first} {load:?}"
    );
    assert!(load.iter().all(|&(_, load)| (0.0..=1.0).contains(&load)));
}

/// A valid chunk with events of these types and fields.
fn with(types: &[(&str, &[&str])], events: &[(usize, Vec<u8>)]) -> Recording {
    let mut chunk = Chunk::sound();
    for (id, (name, fields)) in (300..).zip(types) {
        let fields = fields.iter().map(|field| (*field).to_owned()).collect();
        chunk.types.push(((*name).to_owned(), id, fields));
    }
    for (of, fields) in events {
        chunk.events.push(event(300 + *of as i64, fields));
    }
    read(&chunk.bytes()).unwrap()
}

/// Nanoseconds of a time in ticks.
fn at(ticks: i64) -> u64 {
    (START + ticks * (1_000_000_000 / TICKS_PER_SECOND)) as u64
}

#[test]
fn sums_overlapping_values_in_any_order() {
    let types: &[(&str, &[&str])] = &[("jdk.Compilation", &["startTime 11", "duration 11"])];
    let spans = [(100, 20), (20, 10), (10, 20)];
    let events = spans.map(|(start, took)| (0, numbers(&[start, took])));
    // The only sample is at time 5.
    let recording = with(types, &events);
    let expected = [(10, 0.0), (20, 20.0), (30, 40.0), (100, 0.0), (120, 40.0)];
    let expected = expected.map(|(ticks, value)| (at(ticks), value));
    assert_eq!(metrics(&recording)["compilations"], expected);
}

#[test]
fn ignores_decreasing_totals_and_invalid_times() {
    let types: &[(&str, &[&str])] = &[
        (
            "jdk.ClassLoadingStatistics",
            &["startTime 11", "loadedClassCount 11"],
        ),
        (
            "jdk.GCHeapSummary",
            &["startTime 11", "when 20", "heapUsed 11"],
        ),
        (
            "jdk.JavaThreadStatistics",
            &["startTime 20", "activeCount 11"],
        ),
        ("jdk.ExceptionStatistics", &["startTime 11"]),
    ];
    let heap = |time, when: &str, used| [numbers(&[time]), text(when), numbers(&[used])].concat();
    let mut events = vec![
        (1, heap(20, "Before GC", 900)),
        (1, heap(30, "After GC", 100)),
        (1, heap(25, "During GC", 500)),
        (2, [text("soon"), numbers(&[4])].concat()),
        (3, numbers(&[10])),
        (3, numbers(&[20])),
    ];
    for (time, total) in [(10, 100), (20, 130), (30, 7), (40, 9)] {
        events.push((0, numbers(&[time, total])));
    }
    let recording = with(types, &events);
    let found = metrics(&recording);
    let expected = BTreeMap::from([
        ("heap before collection", vec![(at(20), 900.0)]),
        ("heap after collection", vec![(at(30), 100.0)]),
        (
            "classes loaded",
            vec![(at(10), 0.0), (at(20), 30.0), (at(30), 0.0), (at(40), 2.0)],
        ),
    ]);
    assert_eq!(found, expected);
}

proptest! {
    #[test]
    fn arbitrary_numbers_never_make_invalid_metrics(
        events in prop::collection::vec((0..6usize, any::<i64>(), any::<i64>(), any::<f64>()), 0..40),
    ) {
        let types: &[(&str, &[&str])] = &[
            ("jdk.Compilation", &["startTime 11", "duration 11"]),
            ("jdk.ClassLoadingStatistics", &["startTime 11", "loadedClassCount 11"]),
            ("jdk.JavaThreadStatistics", &["startTime 11", "activeCount 11"]),
            ("jdk.Deoptimization", &["startTime 11", "lineNumber 11"]),
            ("double", &[]),
            ("jdk.CPULoad", &["startTime 11", "jvmUser 304"]),
        ];
        let events: Vec<_> = events.into_iter().filter(|event| event.0 != 4).map(|(of, time, value, load)| {
            let fields = match of {
                5 => [numbers(&[time]), load.to_be_bytes().to_vec()].concat(),
                _ => numbers(&[time, value]),
            };
            (of, fields)
        }).collect();
        let recording = with(types, &events);
        for metric in &recording.metrics {
            let times = metric.times().clone();
            let again = MetricSeries::new(metric.name(), metric.kind(), times, metric.values().to_vec());
            prop_assert_eq!(again.as_ref(), Ok(metric));
        }
    }
}
