//! Finds the causes in real recordings of the anomalies of *Automating Vertical Profiling*.

use crate::support::{Sandbox, repository};
use serde_json::Value;
use std::collections::BTreeMap;

/// A recording of testdata/anomalies, and why its pace changed.
struct Anomaly {
    name: &'static str,
    /// The name of the perf recording.
    recording: &'static str,
    target: &'static str,
    /// The shape of the pace as an analyst would draw it.
    pattern: &'static str,
    /// The number of segments of the shape.
    splits: &'static str,
    /// The time window to search.
    window: &'static str,
    causes: &'static [&'static str],
    /// Correlators that do not rank a cause among the first three, with the ranks they give.
    misses: &'static [(&'static str, f64)],
}

const OPERATIONS: &str = "pace = operations / cpu";

const ANOMALIES: [Anomaly; 4] = [
    Anomaly {
        name: "gradual",
        recording: "gradual.jfr.zst",
        target: OPERATIONS,
        pattern: "1:0,9:1",
        splits: "2",
        window: "..",
        causes: &["CodeHeap 'non-profiled nmethods', used"],
        misses: &[
            ("best-splits", 111.0),
            ("same-splits", 4.0),
            ("spearman", 6.0),
        ],
    },
    Anomaly {
        name: "sudden",
        recording: "sudden.perf.zst",
        target: OPERATIONS,
        pattern: "0:0,1.4:0,1.46:1,6:1",
        splits: "2",
        window: "..",
        causes: &[
            "self:Interpreter",
            "self:int Compress.compress(byte[], int[])",
        ],
        misses: &[],
    },
    Anomaly {
        name: "periodic",
        recording: "periodic.perf.zst",
        target: "pace = comparisons / cpu",
        pattern: "0:1,1:1,1.6:.2,2.8:.2,2.9:1,4.1:.2,5.9:.2,6:1,7.2:.2,9:.2,9.1:1,10.2:.2,12:.2",
        splits: "8",
        window: "..",
        causes: &["working set"],
        misses: &[],
    },
    Anomaly {
        name: "collections",
        recording: "collections.perf.zst",
        target: OPERATIONS,
        pattern: "1.9:1,2.08:1,2.09:.4,2.15:.4,2.16:1,2.45:1,2.46:.4,2.52:.4,2.53:1,2.89:1,2.90:.4,2.96:.4,2.97:1,\
            3.41:1,3.42:.4,3.49:.4,3.50:1,3.95:1,3.96:.4,4.05:.4,4.06:1,4.60:1,4.61:.4,4.74:.4,4.75:1",
        splits: "20",
        window: "1.9..5",
        causes: &["event:page-faults", "minor faults"],
        misses: &[("same-splits", 15.0)],
    },
];

/// Returns the best rank of a cause by each correlator, and by all of them.
fn ranks(anomaly: &Anomaly) -> (BTreeMap<String, f64>, usize) {
    let sandbox = Sandbox::new();
    let file = |name: &str| {
        let path = repository().join("testdata/anomalies").join(name);
        path.to_str().unwrap().to_owned()
    };
    let (recording, trace) = (
        file(anomaly.recording),
        file(&format!("{}.csv.zst", anomaly.name)),
    );
    let ingest = ["ingest", &recording, "--trace", &trace, "--slices", "1000"];
    let build = ["--exe", "program", "--build", "v1"];
    sandbox.sto(&[&ingest[..], &build].concat()).succeeds();
    let mut correlate = vec![
        "correlate",
        "v1",
        "--target",
        anomaly.target,
        "--pattern",
        anomaly.pattern,
    ];
    correlate.extend([
        "--splits",
        anomaly.splits,
        "--window",
        anomaly.window,
        "-n",
        "0",
    ]);
    if anomaly.name == "collections" {
        // The default would be page faults, which have more samples.
        correlate.extend(["--event", "cpu-clock"]);
    }
    let ranked = sandbox.json(&correlate);
    let metrics = ranked["metrics"].as_array().unwrap();
    let is_cause = |name: &Value| anomaly.causes.iter().any(|cause| name == cause);
    let mut best = BTreeMap::new();
    let mut place = usize::MAX;
    for (ix, metric) in metrics.iter().enumerate() {
        let same = metric["same"].as_array().into_iter().flatten();
        if !same.chain([&metric["name"]]).any(is_cause) {
            continue;
        }
        place = place.min(ix + 1);
        for (by, rank) in metric["ranks"].as_object().unwrap() {
            let rank = rank.as_f64().unwrap();
            let best = best.entry(by.clone()).or_insert(rank);
            *best = best.min(rank);
        }
    }
    (best, place)
}

#[test]
fn cause_is_among_the_first_three() {
    for anomaly in ANOMALIES {
        let (ranks, place) = ranks(&anomaly);
        assert!(place <= 3, "{}: {place} by all", anomaly.name);
        assert_eq!(ranks.len(), 8, "{}: {ranks:?}", anomaly.name);
        let missed: Vec<(&str, f64)> = ranks
            .iter()
            .filter(|(_, rank)| **rank > 3.0)
            .map(|(by, rank)| (by.as_str(), *rank))
            .collect();
        assert_eq!(missed, anomaly.misses, "{}", anomaly.name);
    }
}
