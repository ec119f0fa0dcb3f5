//! Selection of builds by age or git revision, in a real repository.

use crate::support::{BEFORE, Run, Sandbox};
use sto_test_support::missing;

#[track_caller]
fn git(sandbox: &Sandbox, arguments: &[&str]) {
    let identity = ["-c", "user.name=u", "-c", "user.email=u@example.org"];
    Run::new(&mut sandbox.program("git", &[&identity, arguments].concat())).succeeds();
}

fn commit(sandbox: &Sandbox, what: &str) {
    sandbox.write("source", what);
    git(sandbox, &["add", "source"]);
    git(sandbox, &["commit", "-q", "-m", what]);
}

fn ingest(sandbox: &Sandbox, build: &str, more: &str) {
    let file = format!("{build}.folded");
    sandbox.write(&file, format!("{BEFORE}main;{more} 1\n"));
    let ingest = ["ingest", &file, "--build", build, "--exe", "demo"];
    sandbox.sto(&ingest).succeeds();
}

/// Returns the version of the selected build.
fn named(sandbox: &Sandbox, selector: &str) -> String {
    let shown = sandbox.json(&["show", selector]);
    shown["version"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn git_revision_selects_the_build_of_its_commit() {
    if missing(&["git"]) {
        return;
    }
    let sandbox = Sandbox::new();
    git(&sandbox, &["init", "-q", "-b", "main"]);
    commit(&sandbox, "one");
    git(&sandbox, &["tag", "v1.0"]);
    ingest(&sandbox, "first", "a");
    commit(&sandbox, "two");
    ingest(&sandbox, "second", "b");
    sandbox.write("source", "changed");
    ingest(&sandbox, "changed", "c");

    assert_eq!(named(&sandbox, "git:HEAD~1"), "first");
    assert_eq!(named(&sandbox, "git:v1.0"), "first");
    assert_eq!(named(&sandbox, "demo@git:main"), "second");
    commit(&sandbox, "three");
    sandbox
        .sto(&["top", "git:main"])
        .fails_with(&["no build is of `main`", "demo@first (v1.0)"]);
    let run = sandbox.sto(&["top", "git:nosuch"]);
    run.fails_with(&["git knows no revision `nosuch`"]);
    let listed = sandbox.sto(&["ls"]).succeeds().stdout;
    assert!(listed.contains("  revision v1.0\n"), "{listed}");
}

#[test]
fn baseline_can_be_the_previous_build() {
    let sandbox = Sandbox::new();
    for (build, time) in [("a", "2026-03-01 10:00"), ("b", "2026-03-01 11:00")] {
        let file = sandbox.write(&format!("{build}.perf.data"), perf_data());
        let touch = ["-d", time, file.to_str().unwrap()];
        Run::new(&mut sandbox.program("touch", &touch)).succeeds();
        let file = file.to_str().unwrap();
        sandbox
            .sto(&["ingest", file, "--build", build, "--exe", "demo"])
            .succeeds();
    }
    assert_eq!(named(&sandbox, "@newest"), "b");
    assert_eq!(named(&sandbox, "@previous"), "a");
    let sides = sandbox.json(&["find-regressions", "--baseline", "@previous", "@newest"]);
    assert_eq!(sides["baseline"]["build"], "a", "{sides}");
    let listed = sandbox.sto(&["ls", "-n", "1"]).succeeds().stdout;
    assert!(listed.starts_with("demo@b\n"), "{listed}");
    assert!(
        listed.contains("\n1 more build not shown\n2 builds"),
        "{listed}"
    );
    let since = ["runs", "--since", "2026-03-01 10:30"];
    assert!(sandbox.sto(&since).succeeds().stdout.ends_with("\n1 run\n"));
    sandbox
        .sto(&["runs", "--since", "1h"])
        .fails_with(&["no run was recorded since then", "2026-03-01T11:00:00Z"]);
    sandbox
        .sto(&["ls", "--exe", "nosuch"])
        .fails_with(&["no run of `nosuch`", "demo"]);
}

fn perf_data() -> Vec<u8> {
    let file = crate::support::repository().join("testdata/demo/v1.perf.data");
    std::fs::read(file).unwrap()
}

#[test]
fn bottlenecks_need_runs_with_the_metric() {
    let sandbox = Sandbox::with_two_builds();
    let run = sandbox.sto(&["bottlenecks", "--metric", "seconds"]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(
        run.stdout
            .contains("No benchmark has 5 runs with this metric")
    );
}
