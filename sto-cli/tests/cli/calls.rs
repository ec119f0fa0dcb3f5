//! What is asked of traces of calls: of a file, a folder and a stored run.

use crate::support::{Sandbox, repository};
use serde_json::Value;
use std::fmt::Write;

/// Four threads that answer lookups, one of which takes 200 ms once and holds a lock meanwhile, as XRay logged them.
fn pool() -> String {
    let path = repository().join("testdata/calls/pool.xray.zst");
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_call_that_was_made_slow_is_named_first_and_what_it_held_up_below_it() {
    let sandbox = Sandbox::new();
    let text = sandbox.sto(&["outliers", &pool()]).succeeds().stdout;
    let first = "calls took unusually long, first of all one of read_block, of";
    assert!(text.contains(first), "{text}");
    assert!(
        text.contains("meanwhile 3 threads: 9") && text.contains("lock_cache < lookup"),
        "{text}"
    );

    let json = sandbox
        .sto(&["outliers", &pool(), "--format", "json"])
        .succeeds()
        .stdout;
    let outliers: Value = serde_json::from_str(&json).unwrap();
    let first = &outliers["outliers"][0];
    assert_eq!(
        first["frames"],
        serde_json::json!(["worker", "answer", "lookup", "read_block"])
    );
    assert!(first["lost_ns"].as_u64().unwrap() > 190_000_000, "{first}");
    assert!(first["typical_ns"].as_u64().unwrap() < 1_000_000, "{first}");
    let others = first["meanwhile"].as_array().unwrap();
    let in_lock = others.iter().filter(|of| {
        let frames = of["stacks"][0]["frames"].as_array().unwrap();
        frames.last().is_some_and(|of| of == "lock_cache")
    });
    assert_eq!(in_lock.count(), 4, "{others:?}");
}

#[test]
fn waits_name_what_was_waited_in_and_what_ended_it() {
    let sandbox = Sandbox::new();
    sandbox
        .sto(&["ingest", "--build", "v1", &pool()])
        .succeeds();
    let json = sandbox
        .sto(&["waits", "v1", "--format", "json"])
        .succeeds()
        .stdout;
    let waits: Value = serde_json::from_str(&json).unwrap();
    let most = &waits["functions"][0];
    assert_eq!(
        (&most["function"], &most["caller"], &most["calls"]),
        (&"lock_cache".into(), &"lookup".into(), &1200.into())
    );
    let longest = waits["longest"].as_array().unwrap();
    let ended: Vec<_> = longest[..3]
        .iter()
        .map(|of| of["ended_during"]["function"].as_str())
        .collect();
    assert_eq!(ended, [Some("unlock_cache"); 3], "{longest:#?}");
    let text = sandbox.sto(&["waits", "v1"]).succeeds().stdout;
    assert!(
        text.contains("6 threads waited") && text.contains("longest in lock_cache"),
        "{text}"
    );
    let outliers = sandbox
        .sto(&["outliers", "v1", "-n", "1"])
        .succeeds()
        .stdout;
    assert!(outliers.contains("read_block < "), "{outliers}");
}

#[test]
fn a_folder_is_asked_for_outliers_and_what_is_no_trace_of_calls_says_so() {
    let sandbox = Sandbox::new();
    let folder = sandbox.path("trace");
    std::fs::create_dir(&folder).unwrap();
    for thread in 1..3 {
        let mut trace = String::new();
        let mut now = 0;
        for number in 0..50 {
            let took = if (thread, number) == (2, 30) {
                9_000
            } else {
                100
            };
            let _ = write!(trace, "0 step {now}\n0 __wt_evict {}\n", now + 1);
            let _ = write!(
                trace,
                "1 __wt_evict {}\n1 step {}\n",
                now + took,
                now + took + 10
            );
            now += took + 20;
        }
        std::fs::write(folder.join(format!("trace1_{thread}.txt")), trace).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let text = sandbox.sto(&["outliers", folder]).succeeds().stdout;
    assert!(
        text.contains("a call of __wt_evict took unusually long, of 200 calls"),
        "{text}"
    );
    let text = sandbox.sto(&["waits", folder]).succeeds().stdout;
    assert!(
        text.contains("no thread called a function that waits"),
        "{text}"
    );

    let folded = sandbox.write("app.folded", "main;work 3\n");
    for command in ["outliers", "waits"] {
        let run = sandbox.sto(&[command, folded.to_str().unwrap()]);
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains("is no trace of calls"), "{run:?}");
    }
}
