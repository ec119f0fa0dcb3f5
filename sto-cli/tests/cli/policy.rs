//! Checks by a policy file, of several benchmarks, and by a metric.

use crate::support::{Run, Sandbox};
use std::fs;

/// Returns stacks that differ by run, because equal files of a build are one profile.
fn stacks(benchmark: &str, logging: u32, run: u32) -> String {
    format!(
        "main;work;compute {}\nmain;work;doLogging {logging}\nmain;work;parse {}\n\
         main;{benchmark} {}\n",
        9000 + 10 * run,
        2000 + run,
        900 + 2 * run
    )
}

/// A sandbox with three runs each of the benchmarks `serve`, in which v2 logs too much, and `start`,
/// which did not change. Runs of v1 have 100 requests, runs of v2 have 50.
fn two_benchmarks() -> Sandbox {
    let sandbox = Sandbox::new();
    for (build, logging, requests) in [("v1", 100, "requests=100"), ("v2", 1500, "requests=50")] {
        for (benchmark, logging) in [("serve", logging), ("start", 100)] {
            let mut files = Vec::new();
            for run in 1..=3 {
                let seed = run + 3 * u32::from(build == "v2");
                files.push(format!("{build}-{benchmark}-{run}"));
                sandbox.write(files.last().unwrap(), stacks(benchmark, logging, seed));
            }
            let files: Vec<&str> = files.iter().map(String::as_str).collect();
            let ingest = [
                "ingest",
                "--exe",
                "demo",
                "--build",
                build,
                "--benchmark",
                benchmark,
            ];
            let args = [&ingest[..], &["--metric", requests], &files].concat();
            sandbox.sto(&args).succeeds();
        }
    }
    sandbox
}

#[track_caller]
fn assert_status(run: Run, expected: i32) -> Run {
    assert_eq!(run.status, Some(expected), "{run:?}");
    run
}

#[test]
fn benchmarks_are_compared_separately_and_the_worst_decides() {
    let sandbox = two_benchmarks();
    let run = assert_status(sandbox.sto(&["find-regressions", "v1", "v2"]), 1);
    assert!(
        run.stdout
            .starts_with("REGRESSION: 1 of 2 benchmarks got slower: serve\n"),
        "{run:?}"
    );
    for shown in ["=== serve ===", "=== start ===", "BENCHMARK  serve"] {
        assert!(run.stdout.contains(shown), "{run:?}");
    }
    let check = sandbox.json(&["find-regressions", "v1", "v2"]);
    assert_eq!(
        (&check["schema"], &check["verdict"]),
        (&"sto.check/1".into(), &"regression".into())
    );
    let comparisons = check["comparisons"].as_array().unwrap();
    let values = |field: &str| -> Vec<&str> {
        comparisons
            .iter()
            .map(|comparison| comparison[field].as_str().unwrap())
            .collect()
    };
    assert_eq!(values("benchmark"), ["serve", "start"]);
    assert_eq!(values("verdict"), ["regression", "clean"]);
    assert_eq!(comparisons[0]["candidate"]["runs"], 3);
    // Two benchmarks together have a false positive rate of at most 5 %.
    assert_eq!(comparisons[0]["thresholds"]["alpha"], 0.025);

    let start = ["find-regressions", "v1", "v2", "--benchmark", "start"];
    let one = sandbox.json(&start);
    assert_eq!(one["schema"], "sto.find-regressions/1");
    assert_eq!(
        (&one["benchmark"], &one["thresholds"]["alpha"]),
        (&"start".into(), &0.05.into())
    );
    assert_status(sandbox.sto(&start), 0);
    let both = [&start[..], &["--benchmark", "serve"]].concat();
    assert_status(sandbox.sto(&both), 1);
}

#[test]
fn a_benchmark_without_runs_is_too_little_data() {
    let sandbox = two_benchmarks();
    let check = [
        "find-regressions",
        "v1",
        "v2",
        "--benchmark",
        "start",
        "--benchmark",
        "stop",
    ];
    let run = assert_status(sandbox.sto(&check), 3);
    let expected = [
        "TOO LITTLE DATA: 1 of 2",
        "neither side has any runs",
        "no runs of stop",
    ];
    for expected in expected {
        assert!(
            run.stdout.contains(expected),
            "`{expected}` is missing in {run:?}"
        );
    }
}

#[test]
fn policy_is_found_applied_and_named() {
    let sandbox = two_benchmarks();
    sandbox.sto(&["tag", "v1", "last-good"]).succeeds();
    sandbox.write(
        "sto.toml",
        "baseline = \"last-good\"\n\
         [benchmark.serve]\nmin-effect = \"50%\"\n\
         [[ignore]]\nfunction = \"doLogging\"\nreason = \"wanted: the audit\"\nexpires = 2999-12-31\n\
         [[ignore]]\nfunction = \"parse\"\nreason = \"old\"\nexpires = 2020-01-31\n",
    );
    let run = assert_status(sandbox.sto(&["find-regressions", "v2"]), 0);
    for expected in [
        "CLEAN: but for 1 that is ignored, no function got slower by 50% or more",
        "POLICY     sto.toml",
        "BASELINE   demo@v1",
        "1 ignored\n",
        "does not count until 2999-12-31, because: wanted: the audit",
        "no longer ignores parse: it expired on 2020-01-31",
    ] {
        assert!(
            run.stdout.contains(expected),
            "`{expected}` is missing in {run:?}"
        );
    }
    // Only the policy's benchmark is compared, unless the command line names others.
    let serve = sandbox.json(&["find-regressions", "v2"]);
    assert_eq!(
        (&serve["benchmark"], &serve["policy"]),
        (&"serve".into(), &"sto.toml".into())
    );
    assert_eq!(serve["findings"][0]["ignored"]["expires"], "2999-12-31");
    let start = sandbox.json(&["find-regressions", "v2", "--benchmark", "start"]);
    assert_eq!(start["thresholds"]["min_effect"], 0.1);
    let set = sandbox.json(&["find-regressions", "v2", "--min-effect", "7"]);
    assert_eq!(set["thresholds"]["min_effect"], 0.07);

    fs::write(sandbox.path("none.toml"), "").unwrap();
    let args = ["find-regressions", "v1", "v2", "--policy", "none.toml"];
    let run = assert_status(sandbox.sto(&args), 1);
    assert!(run.stdout.contains("POLICY     none.toml"), "{run:?}");
}

#[test]
fn policy_applies_to_files_without_benchmarks() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write(
        "sto.toml",
        "[thresholds]\nmin-effect = \"9%\"\n[benchmark.serve]\n",
    );
    let comparison = sandbox.json(&["find-regressions", "a.folded", "b.folded"]);
    assert_eq!(comparison["verdict"], "regression");
    assert_eq!(comparison["benchmark"], serde_json::Value::Null);
    assert_eq!(comparison["thresholds"]["min_effect"], 0.09);
    assert_status(sandbox.sto(&["find-regressions", "v1", "v2"]), 3);
}

#[test]
fn unreadable_policy_stops_the_check() {
    let sandbox = Sandbox::with_two_builds();
    let check = |policy: &str| sandbox.sto(&["find-regressions", "v1", "v2", "--policy", policy]);
    check("missing.toml").fails_with(&["cannot read missing.toml"]);
    sandbox.write("sto.toml", "[thresholds]\nmin-effect = 0.1\n");
    check("sto.toml").fails_with(&["sto.toml, line 2: ", "expected percent above 0 in quotes"]);
    let found = sandbox.sto(&["find-regressions", "v1", "v2"]);
    found.fails_with(&["sto.toml, line 2: "]);
    sandbox.write("sto.toml", [0xff, 0xfe]);
    check("sto.toml").fails_with(&["cannot read sto.toml"]);
}

#[test]
fn cost_per_metric_detects_higher_cost_per_request() {
    let sandbox = two_benchmarks();
    let start = ["find-regressions", "v1", "v2", "--benchmark", "start"];
    let per_request = [&start[..], &["--per", "requests"]].concat();
    let run = assert_status(sandbox.sto(&per_request), 1);
    assert!(run.stdout.contains("for each unit of requests"), "{run:?}");
    let comparison = sandbox.json(&per_request);
    let normalisation = &comparison["statistics"]["normalisation"];
    assert_eq!(normalisation["method"], "per-metric");
    assert_eq!(normalisation["metric"], "requests");
    let missing = [&start[..], &["--per", "replies"]].concat();
    let run = sandbox.sto(&missing);
    run.fails_with(&[
        "the metric `replies`",
        "missing in",
        "of demo@v1",
        "of demo@v2",
    ]);
    assert_status(sandbox.sto(&[&per_request[..], &["--shares"]].concat()), 2);
}

#[test]
fn several_runs_of_an_earlier_build_count_only_with_the_same_benchmark() {
    let sandbox = two_benchmarks();
    for (build, logging) in [("w1", 100), ("w2", 1500)] {
        sandbox.write(build, stacks("start", logging, 7));
        let name = ["--build", build, "--benchmark", "start", "--exe", "demo"];
        sandbox
            .sto(&[&["ingest", build][..], &name].concat())
            .succeeds();
    }
    let comparison = sandbox.json(&["find-regressions", "w1", "w2"]);
    assert_eq!(comparison["weak"], true);
    assert_eq!(comparison["candidate"]["runs"], 1);
}
