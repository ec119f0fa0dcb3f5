//! What a selector names.

use crate::support::{AFTER, BEFORE, Run, Sandbox};

/// Samples of the profiles that a selector names: 10,000 are `BEFORE`, 11,400 are `AFTER`.
fn samples(sandbox: &Sandbox, selector: &str) -> u64 {
    sandbox.json(&["top", selector])["samples"]
        .as_u64()
        .unwrap()
}

#[test]
fn builds_and_the_start_of_a_profiles_id_are_selectors() {
    let sandbox = Sandbox::with_two_builds();
    assert_eq!(samples(&sandbox, "v1"), 10_000);
    assert_eq!(samples(&sandbox, "demo@v2"), 11_400);
    let builds = sandbox.json(&["ls"])["builds"].clone();
    let id = builds[1]["profiles"][0]["id"].as_str().unwrap();
    assert_eq!(samples(&sandbox, id), 11_400);
    assert_eq!(samples(&sandbox, &id[..12]), 11_400);
}

#[test]
fn a_build_comes_before_a_file_of_its_name_unless_it_is_written_as_a_path() {
    let sandbox = Sandbox::with_two_builds();
    sandbox.write("v1", AFTER);
    assert_eq!(samples(&sandbox, "v1"), 10_000);
    assert_eq!(samples(&sandbox, "./v1"), 11_400);
    assert_eq!(
        samples(&sandbox, sandbox.path("v1").to_str().unwrap()),
        11_400
    );
}

#[test]
fn a_build_with_a_slash_in_its_name_is_found() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox
        .sto(&[
            "ingest",
            "a.folded",
            "--build",
            "feature/x",
            "--exe",
            "demo",
        ])
        .succeeds();
    assert_eq!(samples(&sandbox, "feature/x"), 10_000);
    sandbox.write("feature/x", AFTER);
    assert_eq!(samples(&sandbox, "feature/x"), 11_400);
    assert_eq!(samples(&sandbox, "demo@feature/x"), 10_000);
}

#[test]
fn a_file_needs_no_store_and_makes_none() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let run = sandbox.sto(&["top", "a.folded"]).succeeds();
    assert_eq!(run.stderr, "");
    assert_eq!(samples(&sandbox, "a.folded"), 10_000);
    assert!(!sandbox.path("store").exists());
}

#[test]
fn a_file_is_a_build_named_after_it() {
    let sandbox = Sandbox::new();
    sandbox.write("runs/a.folded", BEFORE);
    assert_eq!(sandbox.json(&["top", "runs/a.folded"])["build"], "a.folded");
}

#[test]
fn two_files_of_one_name_are_told_apart_by_their_folders() {
    let sandbox = Sandbox::new();
    sandbox.write("old/perf.data", BEFORE);
    sandbox.write("new/perf.data", AFTER);
    let run = sandbox.sto(&["find-regressions", "old/perf.data", "new/perf.data"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.contains("old/perf.data"), "{run:?}");
    assert!(run.stdout.contains("new/perf.data"), "{run:?}");
}

#[test]
fn a_build_is_compared_with_a_file() {
    let sandbox = Sandbox::with_two_builds();
    let report = sandbox.json(&["find-regressions", "v1", "./b.folded"]);
    assert_eq!(report["verdict"], "regression");
    assert_eq!(report["findings"][0]["function"], "doLogging");
}

#[test]
fn a_build_that_does_not_exist_is_told_with_those_that_do_and_the_closest() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.store_bytes();
    for command in ["top", "tree", "flame"] {
        let run = sandbox.sto(&[command, "demo@v3"]);
        let run = run.fails_with(&["demo@v3", "demo@v1", "demo@v2", "did you mean"]);
        assert!(
            run.stderr
                .contains("hint: there is no file `demo@v3` either"),
            "{run:?}"
        );
    }
    assert_eq!(sandbox.store_bytes(), before);
}

#[test]
fn without_a_store_a_build_cannot_be_found() {
    let sandbox = Sandbox::new();
    let store = sandbox.path("store");
    sandbox
        .sto(&["top", "v1"])
        .fails_with(&["there is no store in", store.to_str().unwrap()]);
    sandbox
        .sto(&["ls"])
        .fails_with(&["there is no store in", store.to_str().unwrap()]);
    assert!(!store.exists());
}

#[test]
fn an_event_that_was_not_recorded_is_told_with_those_that_were() {
    let sandbox = Sandbox::with_two_builds();
    assert_eq!(
        sandbox.json(&["top", "v1", "--event", "samples"])["samples"],
        10_000
    );
    let run = sandbox.sto(&["top", "v1", "--event", "cycles"]);
    let run = run.fails_with(&["demo@v1 has no event `cycles`"]);
    assert!(
        run.stderr.contains("hint: it was recorded with samples"),
        "{run:?}"
    );
}

#[test]
fn a_name_that_is_not_unicode_is_a_files() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.folded");
    std::fs::write(sandbox.path("").join(name), BEFORE).unwrap();
    let run = Run::new(sandbox.command(&["top"]).arg(name)).succeeds();
    assert!(run.stdout.contains("compute"), "{run:?}");
}

#[test]
fn builds_whose_names_begin_with_a_dash_are_compared_behind_two_dashes() {
    let sandbox = Sandbox::new();
    for build in ["-1", "--2"] {
        sandbox.write("a.folded", format!("main;work 900\nmain;{build} 9\n"));
        let named = format!("--build={build}");
        sandbox
            .sto(&["ingest", "a.folded", "--exe", "demo", &named])
            .succeeds();
    }
    for args in [
        &["find-regressions", "--", "-1", "--2"][..],
        &["find-regressions", "--baseline=-1", "--", "--2"],
        &["find-regressions", "--format", "json", "--", "-1", "--2"],
        &["find-regressions", "demo@-1", "demo@--2"],
    ] {
        let run = sandbox.sto(args);
        assert_eq!(run.status, Some(0), "{run:?}");
        assert!(run.stdout.contains("--2"), "{run:?}");
    }
    let both = ["find-regressions", "--baseline=-1", "--", "-1", "--2"];
    let run = sandbox.sto(&both);
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stderr.contains("cannot be used with"), "{run:?}");
}
