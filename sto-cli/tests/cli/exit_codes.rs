//! The exit status tells scripts how a command ended.

use crate::support::{BEFORE, Run, Sandbox};

#[track_caller]
fn assert_status(run: &Run, expected: i32) {
    assert_eq!(run.status, Some(expected), "{run:?}");
}

#[test]
fn exits_with_1_for_a_regression_and_0_otherwise() {
    let sandbox = Sandbox::with_two_builds();
    assert_status(&sandbox.sto(&["find-regressions", "v1", "v1"]), 0);
    let run = sandbox.sto(&["find-regressions", "v1", "v2"]);
    assert_status(&run, 1);
    assert!(run.stdout.contains("doLogging"), "{run:?}");
    assert_eq!(run.stderr, "");
    assert_status(&sandbox.sto(&["find-regressions", "v2", "v1"]), 0);
}

#[test]
fn exits_with_3_for_too_little_data() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;work 3\n");
    sandbox.write("b.folded", "main;work 2\nmain;other 1\n");
    assert_status(
        &sandbox.sto(&["find-regressions", "a.folded", "b.folded"]),
        3,
    );
}

#[test]
fn thresholds_affect_the_exit_status() {
    let sandbox = Sandbox::with_two_builds();
    assert_status(
        &sandbox.sto(&["find-regressions", "v1", "v2", "--min-effect", "100000"]),
        0,
    );
    assert_status(
        &sandbox.sto(&["find-regressions", "v1", "v2", "--min-samples", "1000000"]),
        1,
    );
    assert_status(
        &sandbox.sto(&["find-regressions", "v1", "v1", "--min-samples", "1000000"]),
        3,
    );
}

#[test]
fn exits_with_0_for_matching_symbols_and_1_for_others() {
    let sandbox = Sandbox::new();
    let run = sandbox.sto(&["explain-match", "parse.part.0", "parse.cold"]);
    assert_status(&run, 0);
    assert!(run.stdout.contains("MATCH"), "{run:?}");
    let differ = ["explain-match", "parse<Json>", "parse<Xml>"];
    assert_status(&sandbox.sto(&differ), 1);
    let ignored = [&differ[..], &["--ignore-template-arguments"]].concat();
    assert_status(&sandbox.sto(&ignored), 0);
    let none = std::fs::read_dir(sandbox.path("store"));
    assert!(none.is_err(), "no store is made");
}

#[test]
fn template_arguments_are_ignored_on_request() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "a.folded",
        "main;parse<Json> 900\nmain;parse<Xml> 30\nmain;idle 900\n",
    );
    sandbox.write(
        "b.folded",
        "main;parse<Json> 30\nmain;parse<Xml> 900\nmain;idle 900\n",
    );
    let functions = |args: &[&str]| {
        let compare = ["find-regressions", "a.folded", "b.folded"];
        let comparison = sandbox.json(&[&compare[..], args].concat());
        comparison["statistics"]["tested"]["functions"].clone()
    };
    assert_eq!(functions(&[]), 4);
    assert_eq!(functions(&["--ignore-template-arguments"]), 3);
}

#[test]
fn exits_with_2_for_wrong_usage() {
    let sandbox = Sandbox::with_two_builds();
    for wrong in [
        &["find-regression", "v1", "v2"][..],
        &["find-regressions", "v1"],
        &["find-regressions", "v1", "v2", "--alpha", "7"],
        &["find-regressions", "v1", "v2", "--min-effect", "0"],
        &["find-regressions", "v1", "v2", "--min-share", "100"],
        &["find-regressions", "v1", "v2", "--per-run", "--shares"],
        &["explain-match", "parse"],
        &["top"],
        &["top", "v1", "--by", "luck"],
        &["top", "v1", "--format", "xml"],
        &["tree", "v1", "--min-share", "-1"],
        &["ingest", "--build", "v1"],
        &["ingest", "a.folded", "--build", ""],
        &["ingest", "a.folded", "--exe", "demo", "--split-processes"],
    ] {
        let run = sandbox.sto(wrong);
        assert_status(&run, 2);
        assert!(run.stderr.starts_with("error: "), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn without_a_command_help_is_shown_as_wrong_usage() {
    let run = Sandbox::new().sto(&[]);
    assert_status(&run, 2);
    assert!(run.stderr.contains("find-regressions"), "{run:?}");
}

#[test]
fn exits_with_0_for_help_and_version() {
    let sandbox = Sandbox::new();
    let help = sandbox.sto(&["--help"]).succeeds();
    for expected in [
        "Usage:",
        "Examples:",
        "selector",
        "Exit status",
        "STO_STORE",
    ] {
        assert!(
            help.stdout.contains(expected),
            "`{expected}` is missing in {help:?}"
        );
    }
    let version = sandbox.sto(&["--version"]).succeeds();
    assert_eq!(
        version.stdout,
        format!("sto {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn every_command_exits_with_2_for_a_failure() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    for failing in [
        &["ls"][..],
        &["top", "missing"],
        &["tree", "./missing"],
        &["flame", "missing", "-o", "x.svg"],
        &["diff", "a.folded", "missing", "-o", "x.svg"],
        &["find-regressions", "missing", "a.folded"],
        &["ingest", "missing", "--build", "v1"],
    ] {
        sandbox.sto(failing).fails_with(&[]);
    }
    assert!(!sandbox.path("x.svg").exists());
}

#[test]
fn exits_with_3_if_nothing_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let ingest = ["ingest", "a.folded", "--exe", "demo", "--build", "v1"];
    sandbox.sto(&ingest).succeeds();
    for asked in [
        &["where", "compute", "--over", "99.9"][..],
        &["regressions-over-time"],
        &["report", "-o", "report.html"],
        &["expand", "compute"],
        &["expand", "compute", "--method", "informed"],
        &["bottlenecks", "--metric", "seconds"],
        &["calibrate", "v1"],
        &["source", "compute", "v1"],
        &["find-regressions", "v1", "v1", "--benchmark", "nosuch"],
    ] {
        let run = sandbox.sto(asked);
        assert_status(&run, 3);
        assert_ne!(run.stdout, "", "{asked:?}");
        assert_eq!(run.stderr, "", "{asked:?}");
    }
    let page = std::fs::read_to_string(sandbox.path("report.html")).unwrap();
    assert!(page.contains("Nothing to expect"), "{page}");
    for answered in [
        &["where", "compute", "--over", "1"][..],
        &["series", "compute"],
        &["potential", "v1"],
    ] {
        assert_status(&sandbox.sto(answered), 0);
    }
}

#[test]
fn every_command_exits_with_2_for_an_unknown_name() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&[
        "ingest", "a.folded", "--exe", "demo", "--build", "v3", "--metric", "n=1",
    ]);
    for asked in [
        &["where", "nosuch", "--over", "1"][..],
        &["where", "re:nosuch", "--over", "1"],
        &["series", "nosuch"],
        &["expand", "nosuch"],
        &["source", "nosuch", "v1"],
        &["flame", "v1", "--focus", "nosuch", "-o", "x.svg"],
        &["diff", "v1", "v2", "--focus", "nosuch", "-o", "x.svg"],
        &["ls", "--exe", "nosuch"],
        &["runs", "--exe", "nosuch"],
        &["runs", "--benchmark", "nosuch"],
        &["series", "compute", "--exe", "nosuch"],
        &["report", "--benchmark", "nosuch", "-o", "x.html"],
        &["top", "v1", "--benchmark", "nosuch"],
        &["top", "v1", "--event", "nosuch"],
        &["tag", "nosuch", "good"],
        &["tag", "--delete", "nosuch"],
        &[
            "expand",
            "compute",
            "--method",
            "correlation",
            "--metric",
            "nosuch",
        ],
        &["find-regressions", "v1", "v2", "--per", "nosuch"],
    ] {
        sandbox.sto(asked).fails_with(&[]);
    }
}

#[test]
fn listing_an_empty_store_succeeds() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.sto(&["prune", "--keep-last", "0"]).succeeds();
    for holds in ["ls", "runs", "tag", "stats", "verify"] {
        assert_status(&sandbox.sto(&[holds]), 0);
    }
    for asked in [
        &["top", "v1"][..],
        &["where", "compute", "--over", "1"],
        &["series", "compute"],
        &["regressions-over-time"],
        &["bottlenecks", "--metric", "seconds"],
    ] {
        sandbox.sto(asked).fails_with(&[]);
    }
}

#[test]
fn a_missing_metric_is_reported_with_the_command_that_adds_it() {
    let sandbox = Sandbox::with_two_builds();
    let compare = ["find-regressions", "v1", "v2", "--per", "requests"];
    let run = sandbox
        .sto(&compare)
        .fails_with(&["`requests`", "missing in"]);
    let (_, after) = run.stderr.split_once("`printf '").unwrap();
    let (table, _) = after.split_once("' | sto annotate -`").unwrap();
    let table = table.replace("\\n", "\n").replace("NUMBER", "10");
    sandbox.write("table.csv", table);
    sandbox.sto(&["annotate", "table.csv"]).succeeds();
    let again = sandbox.sto(&compare).fails_with(&["missing in"]);
    assert!(again.stderr.contains("of demo@v2"), "{again:?}");
    assert!(!again.stderr.contains("of demo@v1"), "{again:?}");
    let hostile = ["find-regressions", "v1", "v2", "--per", "x'; rm -rf ~ #"];
    let run = sandbox.sto(&hostile).fails_with(&[]);
    assert!(run.stderr.contains("`printf 'profile,METRIC"), "{run:?}");
}
