//! What `sto ingest` puts into the store, and what it says.

use crate::support::{AFTER, BEFORE, Run, Sandbox};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

#[test]
fn the_summary_says_what_went_in() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let run = sandbox
        .sto(&["ingest", "a.folded", "--build", "v1", "--exe", "demo"])
        .succeeds();
    let first = run.stdout.lines().next().unwrap();
    assert!(first.starts_with("demo@v1: profile "), "{run:?}");
    assert!(first.ends_with(" from a.folded"), "{run:?}");
    assert!(run.stdout.contains("10,000 samples"), "{run:?}");
    assert!(run.stdout.contains("5 nodes, 5 frames"), "{run:?}");
    assert!(
        run.stdout.contains("0.00% unresolved, 0.00% truncated"),
        "{run:?}"
    );
    assert!(
        run.stdout.contains(sandbox.path("store").to_str().unwrap()),
        "{run:?}"
    );
    assert_eq!(run.stderr, "");
}

#[test]
fn the_same_file_goes_in_once() {
    let sandbox = Sandbox::with_two_builds();
    let before = sandbox.sto(&["ls"]).succeeds();
    let again = sandbox
        .sto(&["ingest", "a.folded", "--build", "v1", "--exe", "demo"])
        .succeeds();
    assert!(again.stdout.contains("already stored"), "{again:?}");
    assert_eq!(sandbox.sto(&["ls"]).stdout, before.stdout);
}

#[test]
fn standard_input_is_read() {
    let sandbox = Sandbox::new();
    let stdin = std::fs::File::open(sandbox.write("a.folded", BEFORE)).unwrap();
    Run::of(
        sandbox
            .command(&["ingest", "-", "--build", "v1", "--exe", "demo"])
            .stdin(Stdio::from(stdin)),
    )
    .succeeds();
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let script = r#"cat a.folded | "$0" ingest - --build v1 --exe demo"#;
    let mut shell = sandbox.program("sh", &["-c", script, env!("CARGO_BIN_EXE_sto")]);
    Run::of(shell.env("STO_STORE", sandbox.path("store"))).succeeds();
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn what_the_user_says_of_a_run_is_kept() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let said = [
        ["--benchmark", "startup"],
        ["--label", "cpu=7950x"],
        ["--label", "flags=-O2=yes"],
        ["--metric", "seconds=1.5"],
        ["--build", "v1"],
        ["--exe", "demo"],
    ];
    sandbox
        .sto(&[&["ingest", "a.folded"], &said.concat()[..]].concat())
        .succeeds();
    let build = &sandbox.json(&["ls"])["builds"][0];
    assert_eq!(build["executable"], "demo");
    assert_eq!(build["version"], "v1");
    let profile = &build["profiles"][0];
    assert_eq!(profile["benchmark"], "startup");
    assert_eq!(
        profile["labels"],
        json!({ "cpu": "7950x", "flags": "-O2=yes" })
    );
    assert_eq!(profile["metrics"], json!({ "seconds": 1.5 }));
}

#[test]
fn labels_and_metrics_without_a_value_are_wrong_usage() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    for wrong in [
        ["--label", "cpu"],
        ["--metric", "seconds=fast"],
        ["--metric", "seconds=inf"],
    ] {
        let run = sandbox.sto(&[&["ingest", "a.folded", "--build", "v1"], &wrong[..]].concat());
        assert_eq!(run.status, Some(2), "{run:?}");
        assert!(run.stderr.contains(wrong[1]), "{run:?}");
    }
    assert!(!sandbox.path("store").exists());
}

#[test]
fn what_went_in_before_a_failure_stays_and_is_told() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox.write("empty.folded", "");
    let paths = ["a.folded", "empty.folded"];
    let run = sandbox.sto(&[&["ingest", "--build", "v1", "--exe", "demo"], &paths[..]].concat());
    assert_eq!(run.status, Some(2), "{run:?}");
    assert!(run.stdout.contains("from a.folded"), "{run:?}");
    assert!(run.stderr.starts_with("error: empty.folded: "), "{run:?}");
    assert_eq!(sandbox.json(&["top", "v1"])["samples"], 10_000);
}

#[test]
fn several_files_are_runs_of_one_build() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    sandbox.write("b.folded", AFTER);
    sandbox
        .sto(&[
            "ingest", "a.folded", "b.folded", "--build", "v1", "--exe", "demo",
        ])
        .succeeds();
    let builds = &sandbox.json(&["ls"])["builds"];
    assert_eq!(builds.as_array().unwrap().len(), 1, "{builds}");
    assert_eq!(
        builds[0]["profiles"].as_array().unwrap().len(),
        2,
        "{builds}"
    );
}

#[test]
fn json_tells_what_the_text_tells() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let ingest = ["ingest", "a.folded", "--build", "v1", "--exe", "demo"];
    let report = sandbox.json(&ingest);
    assert_eq!(report["schema"], "sto.ingest/1");
    assert_eq!(report["store"], sandbox.path("store").to_str().unwrap());
    let recording = &report["recordings"][0];
    assert_eq!(recording["path"], "a.folded");
    let profile = &recording["profiles"][0];
    assert_eq!(profile["added"], true);
    assert_eq!(profile["samples"], 10_000);
    assert_eq!(profile["nodes"], 5);
    assert_eq!(profile["source_bytes"], BEFORE.len());
    let stored = sandbox.json(&["ls"])["builds"][0]["profiles"][0].clone();
    assert_eq!(profile["id"], stored["id"]);
    // Frames and stacks were written too, and belong to all.
    let (written, own) = (&profile["stored_bytes"], &stored["own_bytes"]);
    assert!(written.as_u64() > own.as_u64() && own.as_u64() > Some(0));

    let again = &sandbox.json(&ingest)["recordings"][0]["profiles"][0];
    assert_eq!(again["added"], false);
    assert_eq!(again["stored_bytes"], 0);
}

#[test]
fn the_revision_is_what_git_describe_says_if_it_says_anything() {
    let sandbox = Sandbox::new();
    sandbox.write("a.folded", BEFORE);
    let git = sandbox.write(
        "bin/git",
        "#!/bin/sh\n[ \"$1\" = describe ] && echo v1.2-3-gabcdef\n",
    );
    std::fs::set_permissions(&git, std::fs::Permissions::from_mode(0o755)).unwrap();
    for (build, path, revision) in [
        ("described", sandbox.path("bin"), json!("v1.2-3-gabcdef")),
        ("no-git", sandbox.path("home"), json!(null)),
    ] {
        let ingest = ["ingest", "a.folded", "--build", build, "--exe", "demo"];
        Run::of(sandbox.command(&ingest).env("PATH", path)).succeeds();
        let builds = sandbox.json(&["ls"])["builds"].clone();
        let builds = builds.as_array().unwrap();
        let build = builds
            .iter()
            .find(|known| known["version"] == build)
            .unwrap();
        assert_eq!(build["revision"], revision);
    }
}
