//! The exit status tells scripts how a command ended.

use crate::support::{BEFORE, Run, Sandbox};

#[track_caller]
fn status(run: &Run, expected: i32) {
    assert_eq!(run.status, Some(expected), "{run:?}");
}

#[test]
fn no_regression_is_0_and_a_regression_is_1() {
    let sandbox = Sandbox::with_two_builds();
    status(&sandbox.sto(&["find-regressions", "v1", "v1"]), 0);
    let run = sandbox.sto(&["find-regressions", "v1", "v2"]);
    status(&run, 1);
    assert!(run.stdout.contains("doLogging"), "{run:?}");
    assert_eq!(run.stderr, "");
    status(&sandbox.sto(&["find-regressions", "v2", "v1"]), 0);
}

#[test]
fn too_little_data_is_3() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;work 3\n");
    sandbox.write("b.folded", "main;work 2\nmain;other 1\n");
    status(
        &sandbox.sto(&["find-regressions", "a.folded", "b.folded"]),
        3,
    );
}

#[test]
fn thresholds_decide_what_counts() {
    let sandbox = Sandbox::with_two_builds();
    status(
        &sandbox.sto(&["find-regressions", "v1", "v2", "--min-effect", "100000"]),
        0,
    );
    status(
        &sandbox.sto(&["find-regressions", "v1", "v2", "--min-samples", "1000000"]),
        1,
    );
    status(
        &sandbox.sto(&["find-regressions", "v1", "v1", "--min-samples", "1000000"]),
        3,
    );
}

#[test]
fn symbols_that_match_are_0_and_others_1() {
    let sandbox = Sandbox::new();
    let run = sandbox.sto(&["explain-match", "parse.part.0", "parse.cold"]);
    status(&run, 0);
    assert!(run.stdout.contains("MATCH"), "{run:?}");
    let differ = ["explain-match", "parse<Json>", "parse<Xml>"];
    status(&sandbox.sto(&differ), 1);
    let ignored = [&differ[..], &["--ignore-template-arguments"]].concat();
    status(&sandbox.sto(&ignored), 0);
    let none = std::fs::read_dir(sandbox.path("store"));
    assert!(none.is_err(), "no store is made");
}

#[test]
fn template_arguments_are_ignored_if_asked_for() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", "main;parse<Json> 900\nmain;idle 900\n");
    sandbox.write("b.folded", "main;parse<Xml> 900\nmain;idle 900\n");
    let functions = |args: &[&str]| {
        let compare = ["find-regressions", "a.folded", "b.folded"];
        let comparison = sandbox.json(&[&compare[..], args].concat());
        comparison["statistics"]["tested"]["functions"].clone()
    };
    assert_eq!(functions(&[]), 4);
    assert_eq!(functions(&["--ignore-template-arguments"]), 3);
}

#[test]
fn wrong_usage_is_2() {
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
        status(&run, 2);
        assert!(run.stderr.starts_with("error: "), "{run:?}");
        assert_eq!(run.stdout, "");
    }
}

#[test]
fn without_a_command_help_is_shown_as_wrong_usage() {
    let run = Sandbox::new().sto(&[]);
    status(&run, 2);
    assert!(run.stderr.contains("find-regressions"), "{run:?}");
}

#[test]
fn help_and_version_are_0() {
    let sandbox = Sandbox::new();
    let help = sandbox.sto(&["--help"]).succeeds();
    for told in [
        "Usage:",
        "Examples:",
        "selector",
        "Exit status",
        "STO_STORE",
    ] {
        assert!(
            help.stdout.contains(told),
            "`{told}` is missing in {help:?}"
        );
    }
    let version = sandbox.sto(&["--version"]).succeeds();
    assert_eq!(
        version.stdout,
        format!("sto {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn a_failure_is_2_whatever_the_command() {
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
