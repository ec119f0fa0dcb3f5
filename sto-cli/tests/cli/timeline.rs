//! `sto timeline` of stored runs and files.

use crate::support::{Sandbox, repository};

fn recording(name: &str) -> String {
    let path = repository().join("testdata/perf-data").join(name);
    path.to_str().unwrap().to_owned()
}

#[test]
fn stored_run_with_slices_is_shown_like_its_file() {
    let sandbox = Sandbox::new();
    let file = recording("threads.perf.data");
    let ingest = [
        "ingest", &file, "--exe", "threads", "--build", "v1", "--slices", "1000",
    ];
    sandbox.sto(&ingest).succeeds();
    let stored = sandbox.json(&["timeline", "v1", "--metric", "event:cpu-clock"]);
    assert_eq!(stored["schema"], "sto.timeline/1");
    let read = sandbox.json(&["timeline", &file, "--metric", "event:cpu-clock"]);
    assert_eq!(stored["rows"].as_array().unwrap().len(), 2);
    assert_eq!(stored["rows"], read["rows"]);
    assert_eq!(stored["metrics"], read["metrics"]);
    let total = sandbox.json(&["timeline", "v1", "--total", "-n", "1"]);
    assert_eq!(total["order"], "total");
    assert_eq!(total["rows"].as_array().unwrap().len(), 1);
    let threads = sandbox
        .sto(&["timeline", "v1", "--by", "thread"])
        .succeeds();
    assert!(threads.stdout.contains("over time"), "{threads:?}");
}

#[test]
fn shows_and_names_the_newest_of_several_runs() {
    let sandbox = Sandbox::new();
    for file in ["threads.perf.data", "dwarf.perf.data"] {
        let file = recording(file);
        let ingest = [
            "ingest", &file, "--exe", "demo", "--build", "v1", "--slices", "10",
        ];
        sandbox.sto(&ingest).succeeds();
    }
    let run = sandbox.sto(&["timeline", "v1"]).succeeds();
    let newest = sandbox.json(&["timeline", "v1"]);
    assert_eq!(newest["runs"], 2);
    let id = newest["profiles"][0].as_str().unwrap();
    let listed = sandbox.json(&["ls"]);
    let profiles = listed["builds"][0]["profiles"].as_array().unwrap();
    assert_eq!(profiles.first().unwrap()["id"], id, "{listed}");
    let text = run.stdout.replace('\n', " ");
    assert!(text.contains(&format!("Run {}", &id[..12])), "{run:?}");
    assert!(text.contains("the newest of 2;"), "{run:?}");
}

#[test]
fn run_without_slices_is_an_error_with_remedy() {
    let sandbox = Sandbox::new();
    let file = recording("two-events.perf.data");
    for slices in [&[][..], &["--slices", "1"]] {
        let ingest = ["ingest", &file, "--exe", "demo", "--build"];
        let build = format!("v{}", slices.len());
        sandbox
            .sto(&[&ingest[..], &[&*build], slices].concat())
            .succeeds();
        sandbox
            .sto(&["timeline", &build])
            .fails_with(&["without slices of its time", "sto ingest --slices 1000"]);
    }
    sandbox.write("a.folded", "main;work 3\n");
    sandbox
        .sto(&["timeline", "a.folded"])
        .fails_with(&["its samples have no times"]);
    sandbox
        .sto(&["timeline", &file, "--metric", "x = (1"])
        .fails_with(&["character 7", "`)`"]);
    let run = sandbox.sto(&["timeline", &file, "--by", "stack"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    let expected = "`function`, `thread`, `module` or `label:KEY`";
    assert!(run.stderr.contains(expected), "{run:?}");
}

#[test]
fn shows_a_window_and_rejects_ambiguous_functions() {
    let sandbox = Sandbox::new();
    let file = recording("threads.perf.data");
    let part = sandbox.json(&["timeline", &file, "--from", "100ms", "--to", "300ms"]);
    let whole = sandbox.json(&["timeline", &file]);
    let times = ["from", "to", "seconds"].map(|key| part[key].as_f64().unwrap());
    assert!(
        (times[0] - 0.1).abs() < 0.001 && (times[1] - 0.3).abs() < 0.001,
        "{times:?}"
    );
    assert_eq!(part["seconds"], whole["seconds"]);
    assert!(part["samples"].as_u64() < whole["samples"].as_u64());
    let phase = sandbox.json(&["timeline", &file, "--phase", "1"]);
    assert!(phase["samples"].as_u64() > Some(0));
    let run = sandbox.sto(&["timeline", &file, "--metric", "self:constprop"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    for part in ["matches 2 functions:\n  add\n  divide\n", "re:constprop"] {
        assert!(run.stderr.contains(part), "{run:?}");
    }
}

/// The page adds the target and the pattern to its command; the test of the page in a browser has the same words.
#[test]
fn command_of_a_page_ranks_the_metrics_that_the_page_shows() {
    let sandbox = Sandbox::new();
    let file = recording("threads.perf.data");
    let page = sandbox.path("page.html").display().to_string();
    let pace = "pace = \"event:cpu-clock\" / 2";
    let args = [
        "timeline", &file, "--metric", pace, "--from", "100ms", "--to", "300ms",
    ];
    sandbox
        .sto(&[&args[..], &["-o", &page]].concat())
        .succeeds();
    let page = std::fs::read_to_string(page).unwrap();
    let (_, after) = page.split_once("data-ranking=\"").unwrap();
    let (command, _) = after.split_once('"').unwrap();
    let command = command.replace("&quot;", "\"").replace("&amp;", "&");
    let drawn = "--target 'pace' --by linear-pattern --pattern='0.12:1,0.2:3'";
    let words = shlex::split(&format!("{command} {drawn}")).unwrap();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let ranked = sandbox.json(&words[1..]);
    assert_eq!(ranked["target"], "pace", "{ranked:#}");
    let rows = ranked["rows"].as_u64().unwrap();
    let whole = sandbox.json(&["correlate", &file, "--metric", pace, "--target", "pace"]);
    assert!(rows * 4 < whole["rows"].as_u64().unwrap() * 3, "{rows}");
}

#[test]
fn traces_of_calls_are_shown_by_thread_by_default() {
    let sandbox = Sandbox::new();
    let file = repository().join("testdata/xray/basic.xray");
    let file = file.display().to_string();
    let usual = sandbox.json(&["timeline", &file]);
    assert_eq!(usual["schema"], "sto.calls/1");
    assert_eq!(usual["threads"].as_array().unwrap().len(), 3);
    // With these thresholds, no call or gap is long, so each thread is one expression.
    let summed = [
        "timeline",
        &file,
        "--call-duration",
        "1s",
        "--call-gap",
        "1s",
        "--total-time",
        "1s",
    ];
    let summed = sandbox.json(&summed);
    assert_eq!(summed["calls"], usual["calls"]);
    for thread in summed["threads"].as_array().unwrap() {
        assert_eq!(thread["expressions"].as_array().unwrap().len(), 1);
        assert!(thread["long_calls"].as_array().unwrap().is_empty());
    }
    let functions = sandbox.json(&["timeline", &file, "--by", "function"]);
    assert_eq!(functions["schema"], "sto.timeline/1");

    let ingest = ["ingest", &file, "--exe", "calls", "--build", "v1"];
    sandbox.sto(&ingest).succeeds();
    let stored = sandbox.json(&["timeline", "v1"]);
    assert_eq!(stored["records"], usual["records"]);
    sandbox
        .sto(&["timeline", "v1", "--call-duration", "5%"])
        .fails_with(&["were compressed when it was stored", "name the file"]);
    sandbox
        .sto(&[
            "timeline",
            &recording("two-events.perf.data"),
            "--call-gap",
            "5%",
        ])
        .fails_with(&["is not a trace of calls"]);
    let run = sandbox.sto(&["timeline", &file, "--total", "--call-gap", "5%"]);
    assert_eq!(run.status, Some(2), "{run:?}");
    let page = sandbox.path("calls.html").display().to_string();
    sandbox.sto(&["timeline", &file, "-o", &page]).succeeds();
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("Calls of calls@basic.xray"));
}
