//! Comparison of traces of calls: functions that take longer or are called more often.

use crate::support::Sandbox;
use serde_json::Value;
use std::fmt::Write;

/// A function, its number of calls in a run, and the duration of each call in nanoseconds.
type Calls = (&'static str, u64, u64);

const BEFORE: [Calls; 4] = [
    ("read", 400, 50_000),
    ("parse", 300, 60_000),
    ("sum", 2_000, 4_000),
    ("write", 100, 90_000),
];

/// Returns a trace of a run in which `main` calls these functions one after the other; durations differ between runs.
fn trace(functions: &[Calls], run: u64) -> String {
    let mut trace = "0 main 1000\n".to_owned();
    let mut now = 1_000;
    for &(function, calls, each) in functions {
        for call in 0..calls {
            let took = each * (98 + (call + run + function.len() as u64) % 5) / 100;
            let _ = write!(trace, "0 {function} {now}\n1 {function} {}\n", now + took);
            now += took + 10;
        }
    }
    let _ = writeln!(trace, "1 main {now}");
    trace
}

/// Adds three runs of a build that makes these calls.
fn ingest(sandbox: &Sandbox, build: &str, functions: &[Calls]) {
    for run in 0..3 {
        let file = sandbox.write(&format!("{build}-{run}.txt"), trace(functions, run));
        let file = file.to_str().unwrap();
        sandbox
            .sto(&["ingest", "--exe", "app", "--build", build, file])
            .succeeds();
    }
}

/// A sandbox with two builds; the calls of one function are different in the second.
fn builds(changed: Calls) -> Sandbox {
    let sandbox = Sandbox::new();
    let after = BEFORE.map(|of| if of.0 == changed.0 { changed } else { of });
    ingest(&sandbox, "v1", &BEFORE);
    ingest(&sandbox, "v2", &after);
    sandbox
}

fn compared(sandbox: &Sandbox, options: &[&str]) -> (Option<i32>, Value) {
    let command = ["find-regressions", "v1", "v2", "--format", "json"];
    let run = sandbox.sto(&[&command, options].concat());
    let json = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run:?}"));
    (run.status, json)
}

#[test]
fn longer_calls_are_a_regression() {
    let sandbox = builds(("parse", 300, 108_000));
    for options in [&[][..], &["--event", "wall"]] {
        let (status, json) = compared(&sandbox, options);
        assert_eq!(status, Some(1), "{json}");
        assert_eq!(json["sample_type"]["event"], "wall");
        let findings = json["findings"].as_array().unwrap();
        assert_eq!(findings.len(), 1, "{json}");
        let parse = &findings[0];
        assert_eq!(parse["function"], "parse");
        assert_eq!(parse["calls"]["baseline"], 300.0);
        assert_eq!(parse["calls"]["candidate"], 300.0);
        assert_eq!(parse["calls"]["often"], 1.0);
        let each = parse["calls"]["each"].as_f64().unwrap();
        assert!((each - 1.8).abs() < 0.02, "{each}");
        let reason = parse["reason"].as_str().unwrap();
        let message = "it is called as often, and each call takes 80% longer";
        assert!(reason.contains(message), "{reason}");
    }
}

#[test]
fn more_calls_are_a_regression() {
    let sandbox = builds(("sum", 5_000, 4_000));
    let (status, json) = compared(&sandbox, &[]);
    assert_eq!(status, Some(1), "{json}");
    let sum = &json["findings"][0];
    assert_eq!(sum["function"], "sum");
    let reason = sum["reason"].as_str().unwrap();
    let message = "it is called 2.5 times as often, and each call takes as long as before";
    assert!(reason.contains(message), "{reason}");
    // On request, only calls are compared.
    let (_, json) = compared(&sandbox, &["--event", "calls"]);
    assert_eq!(json["sample_type"]["event"], "calls");
    assert_eq!(json["findings"][0]["function"], "sum");

    let text = sandbox.sto(&["find-regressions", "v1", "v2"]).stdout;
    assert!(text.contains("8,403 calls"), "{text}");
}

#[test]
fn more_but_shorter_calls_of_equal_total_are_no_regression() {
    let sandbox = builds(("sum", 4_000, 1_995));
    let (status, json) = compared(&sandbox, &[]);
    assert_eq!(status, Some(0), "{json}");
    assert_eq!(json["findings"].as_array().unwrap().len(), 0, "{json}");
    let (status, _) = compared(&sandbox, &["--event", "calls"]);
    assert_eq!(status, Some(1));
}

#[test]
fn equal_traces_are_clean() {
    let sandbox = builds(("sum", 2_000, 4_000));
    let (status, json) = compared(&sandbox, &[]);
    assert_eq!(status, Some(0), "{json}");
    assert_eq!(json["verdict"], "clean");
}

#[test]
fn outlier_calls_are_reported_but_no_regression() {
    let sandbox = Sandbox::new();
    for (build, longest) in [("v1", 90_000), ("v2", 600_000)] {
        // One of a hundred calls is slow.
        let [read, parse, sum, _] = BEFORE;
        let writes = [
            ("write", 50, 90_000),
            ("write", 1, longest),
            ("write", 49, 90_000),
        ];
        let functions = [&[read, parse, sum], &writes[..]].concat();
        ingest(&sandbox, build, &functions);
    }
    let (status, json) = compared(&sandbox, &[]);
    assert_eq!(status, Some(0), "{json}");
    let message =
        "Unusually long in the candidate, and never in the baseline: 3 calls of write (by ";
    let warnings = json["warnings"].as_array().unwrap();
    let says_so = |warning: &Value| warning.as_str().unwrap().starts_with(message);
    assert!(warnings.iter().any(says_so), "{json}");
    let run = sandbox.sto(&["find-regressions", "v2", "v1", "--format", "json"]);
    assert!(!run.stdout.contains("Unusually long"), "{}", run.stdout);

    // The drawing and the output of `sto diff` warn about it.
    let run = sandbox
        .sto(&["diff", "v1", "v2", "-o", "diff.svg"])
        .succeeds();
    assert!(
        run.stdout.contains(message.trim_end_matches("write (by ")),
        "{run:?}"
    );
    let drawing = std::fs::read_to_string(sandbox.path("diff.svg")).unwrap();
    assert!(drawing.contains(message), "{drawing}");
    let run = sandbox
        .sto(&["diff", "v2", "v1", "-o", "diff.svg"])
        .succeeds();
    assert!(!run.stdout.contains("Unusually"), "{run:?}");
}

#[test]
fn differences_show_number_and_duration_of_calls() {
    let sandbox = builds(("parse", 300, 108_000));
    sandbox
        .sto(&["diff", "v1", "v2", "-o", "diff.svg"])
        .succeeds();
    let drawing = std::fs::read_to_string(sandbox.path("diff.svg")).unwrap();
    assert!(
        drawing.contains("; 300 → 300 calls a run, each +80.0%)"),
        "{drawing}"
    );
    // With several traces, too, time is shown by default.
    let top = sandbox.sto(&["top", "v1"]).succeeds().stdout;
    assert!(top.contains("wall"), "{top}");
    sandbox.sto(&["flame", "v1", "-o", "flame.svg"]).succeeds();
    let drawing = std::fs::read_to_string(sandbox.path("flame.svg")).unwrap();
    assert!(
        drawing.contains("read (60.0 ms in 1,200 calls, "),
        "{drawing}"
    );
}

#[test]
fn single_short_traces_are_insufficient_data_about_time() {
    let sandbox = Sandbox::new();
    let after = BEFORE.map(|(name, calls, each)| match name {
        "sum" => (name, calls, 3 * each),
        _ => (name, calls, each),
    });
    let files = [("v1.txt", BEFORE), ("v2.txt", after)]
        .map(|(name, functions)| sandbox.write(name, trace(&functions, 0)));
    let files = files.each_ref().map(|file| file.to_str().unwrap());
    let run = sandbox.sto(&["find-regressions", files[0], files[1]]);
    assert_eq!(run.status, Some(3), "{run:?}");
    let message = "one short run per side does not show whether calls take longer";
    assert!(run.stdout.replace('\n', " ").contains(message), "{run:?}");
}
