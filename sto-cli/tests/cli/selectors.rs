//! Selection of builds, profiles and files.

use crate::support::{AFTER, BEFORE, Run, Sandbox};

/// Returns the number of samples of the selected profiles: 10,000 are `BEFORE`, 11,400 are `AFTER`.
fn samples(sandbox: &Sandbox, selector: &str) -> u64 {
    sandbox.json(&["top", selector])["samples"]
        .as_u64()
        .unwrap()
}

#[test]
fn selects_by_build_and_prefix_of_profile_id() {
    let sandbox = Sandbox::with_two_builds();
    assert_eq!(samples(&sandbox, "v1"), 10_000);
    assert_eq!(samples(&sandbox, "demo@v2"), 11_400);
    let builds = sandbox.json(&["ls"])["builds"].clone();
    let id = builds[1]["profiles"][0]["id"].as_str().unwrap();
    assert_eq!(samples(&sandbox, id), 11_400);
    assert_eq!(samples(&sandbox, &id[..12]), 11_400);
}

#[test]
fn build_precedes_file_unless_written_as_a_path() {
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
fn finds_build_with_a_slash_in_its_name() {
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
fn files_need_no_store_and_create_none() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let run = sandbox.sto(&["top", "a.folded"]).succeeds();
    assert_eq!(run.stderr, "");
    assert_eq!(samples(&sandbox, "a.folded"), 10_000);
    assert!(!sandbox.path("store").exists());
}

#[test]
fn files_are_builds_with_the_name_of_the_file() {
    let sandbox = Sandbox::new();
    sandbox.write("runs/a.folded", BEFORE);
    assert_eq!(sandbox.json(&["top", "runs/a.folded"])["build"], "a.folded");
}

#[test]
fn folders_distinguish_files_of_one_name() {
    let sandbox = Sandbox::new();
    sandbox.write("old/perf.data", BEFORE);
    sandbox.write("new/perf.data", AFTER);
    let run = sandbox.sto(&["find-regressions", "old/perf.data", "new/perf.data"]);
    assert_eq!(run.status, Some(1), "{run:?}");
    assert!(run.stdout.contains("old/perf.data"), "{run:?}");
    assert!(run.stdout.contains("new/perf.data"), "{run:?}");
}

#[test]
fn builds_can_be_compared_with_files() {
    let sandbox = Sandbox::with_two_builds();
    let report = sandbox.json(&["find-regressions", "v1", "./b.folded"]);
    assert_eq!(report["verdict"], "regression");
    assert_eq!(report["findings"][0]["function"], "doLogging");
}

#[test]
fn unknown_build_lists_builds_and_the_closest_name() {
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
fn builds_need_a_store() {
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
fn unknown_event_lists_recorded_events() {
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
fn names_that_are_not_unicode_are_files() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::new();
    let name = std::ffi::OsStr::from_bytes(b"caf\xe9.folded");
    std::fs::write(sandbox.path("").join(name), BEFORE).unwrap();
    let run = Run::new(sandbox.command(&["top"]).arg(name)).succeeds();
    assert!(run.stdout.contains("compute"), "{run:?}");
}

#[test]
fn names_with_a_leading_dash_follow_two_dashes() {
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
