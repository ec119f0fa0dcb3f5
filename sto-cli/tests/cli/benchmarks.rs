//! Runs of different benchmarks are not summed.

use crate::support::{AFTER, BEFORE, Sandbox};

/// A store whose builds both have two runs of `serve` and one of `startup`; `v2` also has one without a benchmark.
fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    for build in ["v1", "v2"] {
        for (run, benchmark) in ["serve", "serve", "startup"].into_iter().enumerate() {
            let stacks = if benchmark == "serve" { AFTER } else { BEFORE };
            let file = format!("{build}-{run}.folded");
            sandbox.write(&file, format!("# run {run}\n{stacks}"));
            let ingest = ["ingest", &file, "--build", build, "--exe", "demo"];
            sandbox
                .sto(&[&ingest[..], &["--benchmark", benchmark]].concat())
                .succeeds();
        }
    }
    sandbox.write("none.folded", BEFORE);
    let ingest = ["ingest", "none.folded", "--build", "v2", "--exe", "demo"];
    sandbox.sto(&ingest).succeeds();
    sandbox
}

/// Commands that sum runs, without a choice of benchmark.
const SUMMING: [&[&str]; 14] = [
    &["top", "v1"],
    &["tree", "v1"],
    &["flame", "v1", "-o", "out.svg"],
    &["flame", "v1", "--by", "label:x", "-o", "out.svg"],
    &["diff", "v1", "v2", "-o", "out.svg"],
    &["export", "v1", "--format", "folded"],
    &["export", "v1", "--format", "pprof", "-o", "out.pb"],
    &["potential", "v1"],
    &["potential", "v1", "v2"],
    &["calibrate", "v1"],
    &["average", "v1", "--build", "mean"],
    &["series", "doLogging"],
    &["regressions-over-time"],
    &["expand", "doLogging"],
];

#[test]
fn runs_of_different_benchmarks_are_not_summed_by_default() {
    let sandbox = sandbox();
    for args in SUMMING {
        let run = sandbox.sto(args);
        assert_eq!(run.status, Some(2), "{args:?}: {run:?}");
        assert_eq!(run.stdout, "", "{args:?}");
        let listed = run.stderr.contains("serve (") && run.stderr.contains("startup (");
        assert!(listed, "{args:?}: {}", run.stderr);
        assert!(
            run.stderr.contains("--benchmark"),
            "{args:?}: {}",
            run.stderr
        );
    }
    let report = sandbox.sto(&["report", "-o", "out.html"]);
    assert!(report.stderr.contains("several benchmarks"), "{report:?}");
    let top = sandbox.sto(&["top", "v2"]).stderr;
    let expected = "demo@v2 has runs of several benchmarks, which did different work: serve \
                    (2 runs), startup (1 run), '' for runs that name none (1 run); name one with --benchmark";
    assert!(top.contains(expected), "{top}");
}

#[test]
fn several_benchmarks_are_named_by_patterns_or_repetition() {
    let sandbox = sandbox();
    let samples = |args: &[&str]| sandbox.json(args)["samples"].as_u64().unwrap();
    for named in [
        &["--benchmark", "s*"][..],
        &["--benchmark", "serve", "--benchmark", "startup"],
    ] {
        assert_eq!(samples(&[&["top", "v2"], named].concat()), 32_800);
        assert_eq!(
            samples(&[&["potential", "v1", "v2"], named].concat()),
            65_600
        );
        let judged = sandbox.json(&[&["regressions-over-time"], named].concat());
        assert_eq!(judged["history"]["benchmark"], "serve");
        assert_eq!(
            judged["other_benchmarks"][0]["history"]["benchmark"],
            "startup"
        );
        for args in SUMMING
            .iter()
            .chain(&[&["runs"][..], &["find-regressions", "v1", "v2"]])
        {
            let run = sandbox.sto(&[args, named].concat());
            let is_one = args[0] == "average" || args.contains(&"label:x");
            assert_eq!(run.status == Some(2), is_one, "{args:?}: {run:?}");
        }
    }
    let runs = sandbox.json(&["runs", "--benchmark", "", "--benchmark", "*up"]);
    assert_eq!(runs["runs"].as_array().unwrap().len(), 3);
    sandbox
        .sto(&["top", "v1", "--benchmark", "x*"])
        .fails_with(&["has no runs of benchmark `x*`"]);
}

#[test]
fn uses_only_runs_of_the_named_benchmark() {
    let sandbox = sandbox();
    let samples = |args: &[&str]| sandbox.json(args)["samples"].as_u64().unwrap();
    assert_eq!(samples(&["top", "v1", "--benchmark", "serve"]), 22_800);
    assert_eq!(samples(&["top", "v1", "--benchmark", "startup"]), 10_000);
    assert_eq!(samples(&["top", "v2", "--benchmark", ""]), 10_000);
    let both = ["potential", "v1", "v2", "--benchmark", "startup"];
    assert_eq!(samples(&both), 20_000);
    for args in SUMMING {
        // Labels and pairs of runs have other messages.
        if args.contains(&"label:x") {
            continue;
        }
        let run = sandbox.sto(&[args, &["--benchmark", "serve"]].concat());
        assert!(
            !run.stderr.contains("several benchmarks"),
            "{args:?}: {run:?}"
        );
        assert_ne!(run.status, Some(2), "{args:?}: {run:?}");
    }
    let run = sandbox.sto(&["top", "v1", "--benchmark", "sevre"]);
    let expected =
        "demo@v1 has no runs of benchmark `sevre`, only of serve (2 runs), startup (1 run)";
    assert!(run.stderr.contains(expected), "{run:?}");
}

#[test]
fn profiles_and_files_need_no_benchmark() {
    let sandbox = sandbox();
    let runs = sandbox.json(&["runs"])["runs"].clone();
    let id = runs[0]["id"].as_str().unwrap();
    sandbox.sto(&["top", id]).succeeds();
    sandbox.sto(&["top", "none.folded"]).succeeds();
    let diff = ["diff", "v1", "none.folded", "--benchmark", "serve"];
    sandbox
        .sto(&[&diff[..], &["-o", "out.svg"]].concat())
        .succeeds();
}

#[test]
fn commands_that_judge_each_benchmark_use_all_of_them() {
    let sandbox = sandbox();
    let found = sandbox.json(&["where", "doLogging", "--over", "0"]);
    assert_eq!(found["looked_at"], 7);
    sandbox.sto(&["show", "v1"]).succeeds();
    sandbox.sto(&["runs"]).succeeds();
}
