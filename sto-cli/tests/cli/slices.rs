//! `sto ingest --slices`: output and errors.

use crate::support::{BEFORE, Sandbox, repository};
use serde_json::json;

const RECORDING: &str = "perf-data/threads.perf.data";

fn ingest<'a>(path: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["ingest", path, "--build", "v1"], more].concat()
}

#[test]
fn reports_the_size_of_slices() {
    let sandbox = Sandbox::new();
    let path = repository().join("testdata").join(RECORDING);
    let path = path.to_str().unwrap();
    let run = sandbox.sto(&ingest(path, &["--slices", "100"])).succeeds();
    let expected = " B of that for 100 time slices of 2 threads\n";
    assert!(run.stdout.contains(expected), "{run:?}");
    let listed = &sandbox.json(&["ls"])["builds"][0]["profiles"][0];
    assert!(listed["slices_bytes"].as_u64() > Some(0), "{listed}");

    let sandbox = Sandbox::new();
    let ingested = sandbox.json(&ingest(path, &["--slices", "100"]));
    let profile = &ingested["recordings"][0]["profiles"][0];
    let slices = &profile["slices"];
    assert_eq!(slices["count"], 100);
    assert_eq!(slices["duration_ns"], 518_127_130);
    assert_eq!(slices["threads"], 2);
    let bytes = slices["bytes"].as_u64().unwrap();
    assert!(
        (1..3 * 296).contains(&bytes),
        "{bytes} bytes of 296 samples"
    );
}

#[test]
fn profiles_have_no_slices_by_default() {
    let sandbox = Sandbox::new();
    let path = repository().join("testdata").join(RECORDING);
    let path = path.to_str().unwrap();
    let run = sandbox.sto(&ingest(path, &[])).succeeds();
    assert!(!run.stdout.contains("time slice"), "{run:?}");
    let listed = &sandbox.json(&["ls"])["builds"][0]["profiles"][0];
    assert_eq!(listed["slices_bytes"], 0);

    let again = sandbox.sto(&ingest(path, &["--slices", "100"])).succeeds();
    assert!(
        again
            .stderr
            .contains("already stored without slices of time"),
        "{again:?}"
    );
    let again = sandbox.json(&ingest(path, &["--slices", "100"]));
    let profile = &again["recordings"][0]["profiles"][0];
    assert_eq!(profile["slices"], json!(null));
}

#[test]
fn file_without_timestamps_is_an_error() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox
        .sto(&ingest("a.folded", &["--slices", "100"]))
        .fails_with(&["a.folded", "no sample has a timestamp", "with --slices 1"]);
    assert!(!sandbox.path("store").exists());
}

#[test]
fn rejects_number_of_slices_out_of_range() {
    let sandbox = Sandbox::new();
    for wrong in ["0", "65537", "-1", "ten", "99999999999999999999"] {
        let run = sandbox.sto(&ingest("a.folded", &[&format!("--slices={wrong}")]));
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(
            run.stderr.contains("a whole number from 1 to 65536"),
            "{run:?}"
        );
    }
}
