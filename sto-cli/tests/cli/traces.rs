//! Metrics over time from files next to a recording: ingestion and output.

use crate::support::{Sandbox, repository};

/// A recording from second 100 to second 101 of its clock.
const RUN: &str = "demo 7 100.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n\
                   demo 7 101.000000: 1 cycles:\n\t401000 main (/bin/demo)\n\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("run.txt", RUN);
    sandbox
}

const INGEST: [&str; 6] = ["ingest", "run.txt", "--exe", "demo", "--build", "v1"];

#[test]
fn traces_are_stored_with_the_recording_or_later() {
    let sandbox = sandbox();
    sandbox.sto(&INGEST).succeeds();
    let shown = sandbox.sto(&["show", "v1"]).succeeds().stdout;
    assert!(!shown.contains("metric over time"), "{shown}");

    sandbox.write(
        "t.csv",
        "time,heap,\u{1b}[31m<b>\n0,1.5,3\n0.5,2500000000,4\n2,3,5\n3,4,6\n",
    );
    let with = [&INGEST[..], &["--trace", "t.csv"]].concat();
    let run = sandbox.sto(&with).succeeds();
    let expected = "; it was given 2 metrics over time with 6 values, and has ";
    assert!(run.stdout.contains(expected), "{run:?}");
    let expected = "warning: run.txt: Trace `t.csv`: 2 of 8 values have times outside of the recording, which lasts 1 s, and were left out.\n";
    assert!(run.stderr.contains(expected), "{run:?}");
    let again = sandbox.sto(&with).succeeds();
    assert!(again.stdout.contains("nothing was changed"), "{again:?}");

    let shown = sandbox.sto(&["show", "v1"]).succeeds().stdout;
    let expected = "
  values  least    most  kind   metric over time
       3   3.00    5.00  level  \\u{1b}[31m<b>
       3   1.50  2.50e9  level  heap
";
    assert!(shown.contains(&expected[1..]), "{shown}");
    let shown = sandbox.json(&["show", "v1"]);
    let metric = &shown["profiles"][0]["metrics_over_time"][1];
    assert_eq!(
        (&metric["name"], &metric["kind"]),
        (&"heap".into(), &"level".into())
    );
    assert_eq!(
        (&metric["values"], &metric["most"]),
        (&3.into(), &2.5e9.into())
    );
    let stats = sandbox.json(&["stats"]);
    let parts = stats["parts"].as_array().unwrap();
    assert!(
        parts.iter().any(|part| part["part"] == "metrics"),
        "{stats}"
    );
    sandbox.sto(&["verify"]).succeeds();

    // Another start time shifts all values.
    let moved = [&with[..], &["--trace-start", "-400ms"]].concat();
    let run = sandbox.sto(&moved).succeeds();
    assert!(
        run.stdout.contains("2 metrics over time with 6 values"),
        "{run:?}"
    );
}

#[test]
fn reports_the_size_of_metrics() {
    let sandbox = sandbox();
    let stat = repository().join("testdata/traces/stat.csv");
    let with = [&INGEST[..], &["--trace", stat.to_str().unwrap()]].concat();
    let run = sandbox.sto(&with).succeeds();
    assert!(
        run.stdout
            .contains(" of that for 2 metrics over time with 68 values\n"),
        "{run:?}"
    );
    let expected = "events that the machine cannot count were left out: `cycles`.";
    assert!(run.stderr.contains(expected), "{run:?}");
    let other = self::sandbox();
    let report = other.json(&with);
    let metrics = &report["recordings"][0]["profiles"][0]["metrics_over_time"];
    assert_eq!(
        (&metrics["count"], &metrics["points"]),
        (&2.into(), &68.into())
    );
    assert!(metrics["bytes"].as_u64().unwrap() > 100, "{metrics}");
}

#[test]
fn bad_traces_store_nothing() {
    let sandbox = sandbox();
    sandbox.write("late.csv", "time,a\n5,1\n");
    sandbox.write("half.csv", "time,a,b\n0,1,2\n0.5,1");
    sandbox.write(
        "back.jsonl",
        "{\"time\":1,\"name\":\"a\",\"value\":1}\n{\"time\":0,\"name\":\"a\",\"value\":1}\n",
    );
    for (trace, expected) in [
        (
            "late.csv",
            "late.csv: the trace does not overlap the recording: its times are 5 s to 5 s, the recording's are \
                      100 s to 101 s by its clock, or 0 s to 1 s from its first sample; choose the start of the trace \
                      with --trace-start T",
        ),
        (
            "half.csv",
            "half.csv: line 3: expected 3 fields, as in the first line, found 2; was the file cut short?",
        ),
        (
            "back.jsonl",
            "back.jsonl: line 2: the time of `a`, 0 s, is not after the previous one, 1 s; was the file made from several files?",
        ),
        (
            "gone.csv",
            "cannot read gone.csv: No such file or directory",
        ),
    ] {
        let run = sandbox.sto(&[&INGEST[..], &["--trace", trace]].concat());
        run.fails_with(&[expected]);
        assert!(!sandbox.path("store").join("store.redb").exists());
    }
    let both = ["ingest", "run.txt", "run.txt", "--trace", "late.csv"];
    let expected = "a trace belongs to one recording, but there are 2; ingest the recording of the trace separately";
    sandbox.sto(&both).fails_with(&[expected]);
    let alone = [&INGEST[..], &["--trace-start", "1s"]].concat();
    let run = sandbox.sto(&alone);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("--trace <FILE>"), "{run:?}");
}
