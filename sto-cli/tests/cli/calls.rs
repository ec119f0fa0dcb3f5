//! Queries about traces of calls in files, folders and stored runs.

use crate::support::{Sandbox, repository};
use serde_json::Value;
use std::fmt::Write;

/// An XRay log of four threads that answer lookups; one lookup takes 200 ms and holds a lock meanwhile.
fn pool() -> String {
    let path = repository().join("testdata/calls/pool.xray.zst");
    path.to_str().unwrap().to_owned()
}

#[test]
fn lists_the_slow_call_first_and_the_calls_it_blocked_below() {
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
fn waits_name_the_waiting_function_and_the_call_that_ended_it() {
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
fn outliers_accept_a_folder_and_reject_recordings_without_calls() {
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
        assert!(run.stderr.contains("is not a trace of calls"), "{run:?}");
    }
}

#[test]
fn waits_have_times_next_to_samples_of_the_same_threads() {
    let sandbox = Sandbox::new();
    let v8 = serde_json::json!([
        {"ph": "P", "pid": 1, "tid": 1, "ts": 1000, "cat": "v8", "name": "Profile", "id": "0x1",
         "args": {"data": {"startTime": 1000}}},
        {"ph": "P", "pid": 1, "tid": 1, "ts": 1100, "cat": "v8", "name": "ProfileChunk", "id": "0x1",
         "args": {"data": {"cpuProfile": {
             "nodes": [{"id": 1, "callFrame": {"functionName": "work", "scriptId": "1"}}],
             "samples": [1, 1]}, "timeDeltas": [100, 100]}}},
        {"ph": "X", "pid": 1, "tid": 1, "ts": 1000, "dur": 40, "name": "handle", "cat": "a"},
        {"ph": "X", "pid": 1, "tid": 1, "ts": 1005, "dur": 30, "name": "pthread_mutex_lock", "cat": "a"},
    ]);
    let trace = serde_json::json!({ "traceEvents": v8 }).to_string();
    let file = sandbox.write("v8.json", trace);
    let json = sandbox
        .sto(&["waits", file.to_str().unwrap(), "--format", "json"])
        .succeeds()
        .stdout;
    let waits: Value = serde_json::from_str(&json).unwrap();
    let lock = &waits["functions"][0];
    assert_eq!(
        (&lock["function"], &lock["calls"], &lock["total_ns"]),
        (&"pthread_mutex_lock".into(), &1.into(), &30_000.into())
    );
}

/// A store with the pool's calls as `all`, with every call, and as `v1`, with merged calls.
fn stored() -> Sandbox {
    let sandbox = Sandbox::new();
    let pool = pool();
    sandbox.sto(&["ingest", "--build", "v1", &pool]).succeeds();
    sandbox
        .sto(&["ingest", "--build", "all", "--keep-calls", &pool])
        .succeeds();
    sandbox
}

/// The JSON of `sto timeline`, without the name of its subject.
fn timeline(sandbox: &Sandbox, asked: &[&str]) -> Value {
    let asked = [&["timeline", "--format", "json"], asked].concat();
    let json = sandbox.sto(&asked).succeeds().stdout;
    let mut answer: Value = serde_json::from_str(&json).unwrap();
    for name in ["build", "profiles", "every_call_kept"] {
        answer.as_object_mut().unwrap().remove(name);
    }
    // Outliers are only found when the trace is read.
    for thread in answer["threads"].as_array_mut().unwrap() {
        thread.as_object_mut().unwrap().remove("outliers_ns");
    }
    answer
}

#[test]
fn recompresses_kept_calls_like_those_of_the_file() {
    let sandbox = stored();
    let thresholds = [
        "--call-duration=5us",
        "--call-gap=0.01%",
        "--total-time=5ms",
    ];
    let of = |run: &str| timeline(&sandbox, &[&[run][..], &thresholds].concat());
    let anew = of("all");
    assert!(anew == of(&pool()), "{anew:#}");
    assert!(anew["threads"] != timeline(&sandbox, &["all"])["threads"]);
    let refused = sandbox.sto(&["timeline", "v1", "--call-gap", "50us"]);
    assert_eq!(refused.status, Some(2), "{refused:?}");
    assert!(
        refused.stderr.ends_with(
            "name the file of the trace instead; `sto ingest --keep-calls` keeps every one\n"
        ),
        "{refused:?}"
    );
}

#[test]
fn a_time_window_shows_kept_calls_or_overlapping_records() {
    let sandbox = stored();
    let part = ["--from", "262ms", "--to", "264ms"];
    let of = |run: &str| timeline(&sandbox, &[&[run][..], &part].concat());
    let (all, overlapping) = (of("all"), of("v1"));
    assert!(all == of(&pool()), "{all:#}");
    let numbers = |of: &Value| [of["calls"].as_u64(), of["records"].as_u64()].map(Option::unwrap);
    // Two threads with 512 calls of `hash` each, and their callers.
    assert_eq!(numbers(&all)[0], 1053);
    assert!(numbers(&all)[1] > numbers(&overlapping)[1], "{all:#}");
    assert!(
        numbers(&all)[0] < numbers(&overlapping)[0],
        "{overlapping:#}"
    );
    for of in [&all, &overlapping] {
        assert_eq!(
            of["window"],
            serde_json::json!({"start_ns": 262_000_000, "end_ns": 264_000_000})
        );
        for thread in of["threads"].as_array().unwrap() {
            let own = thread["long_calls"].as_array().unwrap().iter();
            let own: u64 = own.map(|call| call["self_ns"].as_u64().unwrap()).sum();
            assert!(own <= 2_000_000, "{thread:#}");
        }
    }
    let text = sandbox
        .sto(&[&["timeline", "v1"][..], &part].concat())
        .succeeds()
        .stdout;
    assert!(
        text.contains("as not every call was kept; `sto ingest --keep-calls` keeps every one"),
        "{text}"
    );
    // Costs over time are also available for a window.
    let file = pool();
    let costs = [&["timeline", &file, "--by", "function"][..], &part].concat();
    let text = sandbox.sto(&costs).succeeds().stdout;
    assert!(text.contains("hash"), "{text}");
    let page = sandbox.path("part.html");
    let output = ["-o", page.to_str().unwrap()];
    sandbox
        .sto(&[&["timeline", "all"][..], &part, &output].concat())
        .succeeds();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("6 threads made 1,053 calls from 262.000 ms to 264.000 ms"),
        "{page}"
    );
    for (from, message) in [
        (
            ["--from", "300ms"],
            "ends after 285 ms, so it has nothing from 0.3 s on",
        ),
        (
            ["--phase", "1"],
            "calls can only be selected by a range of time",
        ),
    ] {
        let refused = sandbox.sto(&[&["timeline", "all", "--call-gap=1%"][..], &from].concat());
        assert_eq!(refused.status, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(message), "{refused:?}");
    }
}

#[test]
fn shows_kept_calls_and_zooms_into_them_on_the_page() {
    let sandbox = stored();
    let shown = sandbox.sto(&["show", "all"]).succeeds().stdout;
    assert!(shown.contains("every call is kept: 15,211 as "), "{shown}");
    let json = sandbox.json(&["show", "all"]);
    let kept = &json["profiles"][0]["calls_over_time"]["kept"];
    assert_eq!(kept["calls"], 15_211);
    let nodes = kept["nodes"].as_u64().unwrap();
    assert!(nodes > 6 && nodes < 1_000, "{kept}");
    let without = sandbox.json(&["show", "v1"]);
    assert!(without["profiles"][0]["calls_over_time"]["kept"].is_null());

    let page = |asked: &str| {
        let page = sandbox.path("page.html").display().to_string();
        sandbox.sto(&["timeline", asked, "-o", &page]).succeeds();
        std::fs::read_to_string(page).unwrap()
    };
    let (all, v1, file) = (page("all"), page("v1"), page(&pool()));
    assert!(all.contains("zooms in on it"));
    let id = &json["profiles"][0]["id"].as_str().unwrap()[..12];
    assert!(all.contains(&format!("{id} --from\",\"--to\",\"-o part.html\"]")));
    assert!(v1.contains("were not kept; `sto ingest --keep-calls` keeps them."));
    assert!(v1.contains("\"command\":[]"));
    // The command for a file reads it again.
    let command = format!("\"command\":[\"sto timeline {} --from\"", pool());
    assert!(file.contains(&command));
}
