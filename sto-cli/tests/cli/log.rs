//! `sto log`, on a real repository.

use crate::commits::Repository;
use crate::support::{AFTER, BEFORE, Run};
use serde_json::Value;
use std::path::Path;
use sto_test_support::missing;

/// Stores a run of the checked-out commit.
fn measure(repository: &Repository, build: &str, stacks: &str) {
    let file = format!("{build}.folded");
    // Makes each recording unique.
    let stacks = format!("{stacks}main;idle;{build} 1\n");
    repository.sandbox.write(&file, stacks);
    let ingest = ["ingest", &file, "--build", build, "--exe", "demo"];
    repository.sandbox.sto(&ingest).succeeds();
}

/// A repository in which `One` is measured, `Two` is not, and `Three` is slower. `Aside` branches off `One`, and is
/// merged.
fn history() -> Option<(Repository, Vec<String>)> {
    let repository = Repository::new()?;
    let one = repository.commit("One");
    measure(&repository, "one", BEFORE);
    repository.git(&["checkout", "-q", "-b", "side"]);
    repository.sandbox.write("aside", "1");
    let aside = repository.commit("Aside");
    measure(&repository, "aside", BEFORE);
    repository.git(&["checkout", "-q", "main"]);
    let two = repository.commit("Two \u{1b}[31m");
    let three = repository.commit("Three");
    measure(&repository, "three", AFTER);
    repository.git(&["merge", "-q", "--no-ff", "-m", "Merge", "side"]);
    let merge = repository.git(&["rev-parse", "HEAD"]);
    repository.git(&["tag", "v1"]);
    measure(&repository, "merge", AFTER);
    Some((repository, vec![one, aside, two, three, merge]))
}

fn verdicts(log: &Value) -> Vec<(String, Option<String>, usize)> {
    let commits = log["commits"].as_array().unwrap().iter();
    let verdict = |commit: &Value| {
        let compared = commit["compared"].as_array().unwrap().len();
        let verdict = commit["verdict"].as_str().map(str::to_owned);
        (
            commit["subject"].as_str().unwrap().to_owned(),
            verdict,
            compared,
        )
    };
    commits.map(verdict).collect()
}

#[test]
fn commits_are_compared_with_the_nearest_measured_ancestors() {
    let Some((repository, ids)) = history() else {
        return;
    };
    let log = repository.sandbox.json(&["log"]);
    let clean = || Some("clean".to_owned());
    let expected = [
        // Slower than `Aside`, but not than `Three` on the main branch.
        ("Merge", clean(), 2),
        // Compared with `One`, because `Two` was not measured.
        ("Three", Some("regression".to_owned()), 1),
        ("Two \u{1b}[31m", None, 0),
        ("Aside", clean(), 1),
        ("One", None, 0),
    ];
    let mut found = verdicts(&log);
    // git may show either side of a merge first.
    found.sort();
    let mut expected = expected.map(|(subject, verdict, n)| (subject.to_owned(), verdict, n));
    expected.sort();
    assert_eq!(found, expected);
    let three = log["commits"].as_array().unwrap().iter();
    let three = three
        .clone()
        .find(|commit| commit["hash"] == *ids[3])
        .unwrap();
    assert_eq!(three["compared"][0]["with"], *ids[0]);
    assert_eq!(
        (&three["runs"], &three["build"]),
        (&1.into(), &"three".into())
    );
    assert!(three["cost"].as_u64().unwrap() > 10_000, "{three}");
}

#[test]
fn history_fits_a_terminal_and_subjects_are_escaped() {
    let Some((repository, ids)) = history() else {
        return;
    };
    let run = Run::new(repository.sandbox.command(&["log"]).env("COLUMNS", "80")).succeeds();
    let text = &run.stdout;
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
    for part in [
        &format!("*   {} ", &ids[4][..7]),
        "(HEAD -> main, tag: v1) Merge",
        "|\\\n",
        "|/\n",
        "REGRESSION",
        "doLogging costs 15.0 times as much",
        "first",
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn filters_hide_commits_but_not_their_baselines() {
    let Some((repository, ids)) = history() else {
        return;
    };
    let subjects = |args: &[&str]| -> Vec<String> {
        let log = repository.sandbox.json(&[&["log"], args].concat());
        verdicts(&log)
            .into_iter()
            .map(|(subject, ..)| subject)
            .collect()
    };
    assert_eq!(subjects(&["-n", "1"]), ["Merge"]);
    assert_eq!(subjects(&["aside"]), ["Aside"]);
    assert_eq!(subjects(&["--commits", "main~2..main~1"]), ["Three"]);
    assert_eq!(subjects(&["."]).len(), 5);
    let log = repository
        .sandbox
        .json(&["log", "--commits", "main~2..main~1"]);
    assert_eq!(log["commits"][0]["compared"][0]["with"], *ids[0]);
    assert_eq!(log["commits"][0]["verdict"], "regression");
}

#[test]
fn git_errors_have_hints() {
    let Some((repository, _)) = history() else {
        return;
    };
    let sandbox = &repository.sandbox;
    let log = |args: &[&str]| sandbox.sto(&[&["log"], args].concat());
    log(&["--commits", "nowhere"]).fails_with(&["git knows no commit `nowhere` here"]);
    log(&["--commits=--all"]).fails_with(&["git knows no commit `--all` here"]);
    log(&["/"]).fails_with(&["/: not a git repository"]);
    let mut command = sandbox.command(&["log"]);
    Run::new(command.env("PATH", sandbox.path("home"))).fails_with(&["cannot find `git`"]);
    let empty = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/history/history.sto");
    if empty.exists() {
        let run = log(&["--store", empty.to_str().unwrap()]).succeeds();
        assert!(
            run.stdout.contains("The store has no run of these commits"),
            "{run:?}"
        );
    }
}

/// Commit ids depend on every byte, name and date.
#[test]
fn test_repository_is_reproducible() {
    if missing(&["git"]) {
        return;
    }
    let sandbox = crate::support::Sandbox::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/commits/make.sh");
    let make = [script.to_str().unwrap(), "six"];
    Run::new(&mut sandbox.program("sh", &make)).succeeds();
    let head = ["-C", "six", "rev-parse", "HEAD", "bubbles", "list"];
    let ids = Run::new(&mut sandbox.program("git", &head))
        .succeeds()
        .stdout;
    let ids: Vec<&str> = ids.lines().map(|id| &id[..7]).collect();
    assert_eq!(ids, ["0354375", "20d006d", "7a79114"]);
}

#[test]
fn histories_can_be_ordered_by_commits() {
    let Some(repository) = Repository::new() else {
        return;
    };
    let sandbox = &repository.sandbox;
    for name in ["first", "second", "third"] {
        repository.commit(name);
        repository.git(&["tag", name]);
    }
    repository.git(&["checkout", "-q", "-b", "elsewhere", "first"]);
    repository.commit("elsewhere");
    measure(&repository, "elsewhere", BEFORE);
    // The builds are recorded in another order than their commits.
    for name in ["third", "first", "second"] {
        repository.git(&["checkout", "-q", name]);
        measure(&repository, name, BEFORE);
    }
    repository.git(&["checkout", "-q", "main"]);
    let series = ["series", "doLogging", "--by", "build", "--order", "commits"];
    let series = sandbox.json(&series);
    let points = series["points"].as_array().unwrap().iter();
    let builds: Vec<&str> = points.map(|p| p["build"].as_str().unwrap()).collect();
    assert_eq!(builds, ["first", "second", "third"]);
    let judged = sandbox.json(&["regressions-over-time", "--order", "commits"]);
    assert!(judged.to_string().contains("third"), "{judged}");
    let by_time = sandbox.json(&["series", "doLogging", "--by", "build"]);
    assert_eq!(by_time["points"].as_array().unwrap().len(), 4);
}

#[test]
fn writes_verdicts_as_notes_and_replaces_old_ones() {
    let Some((repository, ids)) = history() else {
        return;
    };
    repository.git(&["config", "user.name", "u"]);
    repository.git(&["config", "user.email", "u@example.org"]);
    let export = || {
        repository
            .sandbox
            .sto(&["export-store", "--notes"])
            .succeeds()
    };
    let output = export().stderr;
    assert!(
        output.contains("verdicts of 3 commits are in refs/notes/sto"),
        "{output}"
    );
    export();
    let note = repository.git(&["notes", "--ref", "sto", "show", &ids[3]]);
    assert!(
        note.starts_with("verdict: regression\nprogram: demo, 1 run\n"),
        "{note}"
    );
    assert!(note.contains(&format!("since {}: +", ids[0])), "{note}");
    assert_eq!(
        repository
            .git(&["notes", "--ref", "sto", "list"])
            .lines()
            .count(),
        3
    );
}
