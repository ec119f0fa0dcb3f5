//! Commands on the recorded history of ten releases of a program, one of them slower.

use crate::support::{Run, Sandbox, repository};
use serde_json::Value;
use std::path::PathBuf;

/// The function that got slower with release 0.10.0.
const FUNCTION: &str = "pulldown_cmark::firstpass::FirstPass::parse_footnote";

fn folder() -> PathBuf {
    repository().join("testdata/history")
}

fn recorded(args: &[&str]) -> Run {
    let store = folder().join("history.sto");
    let store = ["--store", store.to_str().unwrap()];
    Run::new(&mut Sandbox::new().bare_command(&[&store, args].concat())).succeeds()
}

fn json(args: &[&str]) -> Value {
    let run = recorded(&[args, &["--format", "json"]].concat());
    serde_json::from_str(&run.stdout).unwrap()
}

fn assert_golden(name: &str, actual: &str) {
    sto_test_support::assert_golden(&folder().join(name), actual);
}

/// Returns the id of the first run of the release that got slower.
fn first_slow_run() -> String {
    let runs = json(&["runs"]);
    let mut oldest_first = runs["runs"].as_array().unwrap().iter().rev();
    let run = oldest_first.find(|run| run["build"] == "0.10.0").unwrap();
    run["id"].as_str().unwrap().to_owned()
}

#[test]
fn history_commands_match_goldens_of_a_recorded_history() {
    let slow = &first_slow_run();
    let callers = ["expand", FUNCTION, "--at", slow, "--max-depth", "4"];
    let callees = ["expand", FUNCTION, "--at", slow, "--direction", "callees"];
    for (name, args) in [
        ("runs.txt", &["runs"][..]),
        ("where.txt", &["where", FUNCTION, "--over", "15"]),
        ("series.txt", &["series", FUNCTION]),
        ("evolve.txt", &["evolve", "--min-share", "5"]),
        (
            "series-by-build.txt",
            &["series", FUNCTION, "--by", "build"],
        ),
        ("newest.txt", &["regressions-over-time", "-n", "10"]),
        (
            "first-slow.txt",
            &["regressions-over-time", "--at", slow, "-n", "10"],
        ),
        (
            "bottlenecks.txt",
            &["bottlenecks", "--metric", "seconds", "-n", "10"],
        ),
        ("callers.txt", &callers),
        (
            "callees.txt",
            &[&callees[..], &["--max-depth", "3"]].concat(),
        ),
        (
            "potential.txt",
            &["potential", "0.10.0", "--degree", "10", "-n", "10"],
        ),
    ] {
        assert_golden(name, &recorded(args).stdout);
    }
}

/// The expectations are the same as in `sto-query/tests/check.rs`.
#[test]
fn checks_each_release_against_the_previous_one() {
    let runs = json(&["runs"]);
    let mut releases: Vec<Vec<&Value>> = Vec::new();
    for run in runs["runs"].as_array().unwrap().iter().rev() {
        match releases.last_mut() {
            Some(release) if release[0]["build"] == run["build"] => release.push(run),
            _ => releases.push(vec![run]),
        }
    }
    let mut text = String::new();
    for pair in releases.windows(2) {
        for (old, new) in pair[0].iter().zip(&pair[1]).take(3) {
            let [old, new] = [old, new].map(|run| run["id"].as_str().unwrap());
            let store = folder().join("history.sto");
            let store = ["--store", store.to_str().unwrap()];
            let find = ["find-regressions", old, new, "--format", "json"];
            let run = Run::new(&mut Sandbox::new().bare_command(&[&store[..], &find].concat()));
            let found: Value = serde_json::from_str(&run.stdout).unwrap();
            let word = |value: &Value| value.as_str().unwrap().to_owned();
            text += &format!(
                "{} {} {}: {}\n",
                word(&found["baseline"]["build"]),
                word(&found["candidate"]["build"]),
                word(&found["verdict"]),
                word(&found["reason"])
            );
            for finding in found["findings"].as_array().unwrap() {
                let [kind, function] = ["kind", "function"].map(|key| word(&finding[key]));
                text += &format!("  {kind} {function}\n");
            }
        }
    }
    assert_golden("single-runs.txt", &text);
}

#[test]
fn a_release_can_be_compared_with_the_average_of_earlier_ones() {
    let sandbox = Sandbox::new();
    let history = folder().join("history.sto");
    let merge = ["merge", history.to_str().unwrap()];
    sandbox.sto(&merge).succeeds();
    let before = ["0.9.0", "0.9.1", "0.9.2", "0.9.3", "0.9.6"];
    let average = [&["average"], &before[..], &["--build", "before"]].concat();
    assert_golden("average.txt", &sandbox.sto(&average).succeeds().stdout);
    let top = sandbox.sto(&["top", "before", "-n", "10"]).succeeds();
    assert_golden("average-top.txt", &top.stdout);
}

#[test]
fn the_slow_release_is_found_by_its_change_points() {
    let series = json(&["series", FUNCTION]);
    let changes = series["changes"].as_array().unwrap();
    let [change] = &changes[..] else {
        panic!("{changes:?}")
    };
    // Each of the five earlier releases has five runs.
    assert_eq!(change["at"], 25);
    assert_eq!(change["build"], "0.10.0");
    let [before, after] = ["before", "after"].map(|side| change[side].as_f64().unwrap());
    assert!(3.0 * before < after, "{change}");

    // The cause comes before its callers, and before new and renamed functions with more samples.
    let slow = json(&["regressions-over-time", "--at", &first_slow_run()]);
    let first = &slow["functions"][0];
    assert_eq!(first["function"], FUNCTION);
    assert_eq!(first["is_cause"], true);

    let newest = json(&["regressions-over-time"]);
    let functions = newest["functions"].as_array().unwrap();
    for name in [FUNCTION, "pulldown_cmark::main"] {
        let function = functions.iter().find(|f| f["function"] == name).unwrap();
        assert!(function["score"].as_f64().unwrap() < 2.0, "{function}");
        let changes = function["changes"].as_array().unwrap();
        assert!(changes.iter().any(|change| change["build"] == "0.10.0"));
    }
}
