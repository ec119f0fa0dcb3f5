//! `sto bisect` and `sto record --commits`, in real repositories. A script replaces perf: the
//! program prints its own stacks, so that the results depend little on the machine's speed.

use crate::commits::Repository;
use crate::support::{Run, Sandbox};
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use sto_test_support::{missing, skip};

/// Writes the program's output to the recording; no two runs are equal.
const PERF: &str = "#!/bin/sh
case \"$*\" in *probe*) exit 0;; esac
while [ \"$1\" != -o ]; do shift; done; file=$2
while [ \"$1\" != -- ]; do shift; done; shift
trap 'exit 130' INT
\"$@\" > \"$file\" &
wait $! || exit
echo \"main;run$$ 1\" >> \"$file\"
";

/// Counts the iterations of each function's loops, and prints them as stacks instead of the C program's output.
const COUNTING: &str = r#"
#include <stdio.h>
#include <stdlib.h>
static struct { const char *function; unsigned long turns; } counts[8];
static void print_counts(void) {
    for (int i = 0; counts[i].function; i++) printf("main;%s %lu\n", counts[i].function, counts[i].turns);
}
static void count_turn(const char *function) {
    int i = 0;
    while (counts[i].function && counts[i].function != function) i++;
    if (!counts[0].function) atexit(print_counts);
    counts[i].function = function;
    counts[i].turns++;
}
#define while(...) while (count_turn(__func__), (__VA_ARGS__))
#define for(...) for (__VA_ARGS__) if (count_turn(__func__), 0) {} else
#define printf(...) fprintf(stderr, __VA_ARGS__)
"#;

/// A history of commits with these costs of the program; a commit without a cost cannot be built.
fn history(costs: &[Option<u32>]) -> Option<Repository> {
    let repository = Repository::new()?;
    let exclude = "/store\n/home\n/bin\n/tmp\n/bench\n";
    repository.sandbox.write(".git/info/exclude", exclude);
    write_perf(&repository.sandbox);
    for (number, cost) in costs.iter().enumerate() {
        let program = match cost {
            Some(cost) => {
                format!("printf 'main;idle 9000\\nmain;work;parse {cost}\\n' > bench.out")
            }
            None => "echo 'parse.c: no such thing' >&2; exit 3".to_owned(),
        };
        repository
            .sandbox
            .write("build.sh", format!("# {number}\n{program}\n"));
        repository.commit(&format!("Commit {number}"));
        repository.git(&["tag", &format!("c{number}")]);
    }
    Some(repository)
}

fn write_perf(sandbox: &Sandbox) {
    use std::os::unix::fs::PermissionsExt;
    let perf = sandbox.write("bin/perf", PERF);
    std::fs::set_permissions(perf, PermissionsExt::from_mode(0o755)).unwrap();
    sandbox.write("tmp/empty", "");
}

fn command(repository: &Repository, args: &[&str]) -> Command {
    with_perf(&repository.sandbox, args)
}

fn with_perf(sandbox: &Sandbox, args: &[&str]) -> Command {
    let path = std::env::var("PATH").unwrap();
    let mut command = sandbox.command(args);
    command
        .env("PATH", format!("{}:{path}", sandbox.path("bin").display()))
        .env("TMPDIR", sandbox.path("tmp"));
    command
}

fn sto(repository: &Repository, args: &[&str]) -> Run {
    Run::new(&mut command(repository, args))
}

const LINE: &str = "sh build.sh && cat bench.out";

fn bisect(repository: &Repository, more: &[&str]) -> Run {
    let bisect = ["bisect", "--exe", "demo", "--good", "c0"];
    sto(repository, &[&bisect, more, &["--", LINE]].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error} in {run:?}"))
}

/// Checks that no work trees are left.
#[track_caller]
fn assert_removed(repository: &Repository) {
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
    let left = repository.sandbox.path("tmp").read_dir().unwrap();
    let left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["empty"]);
}

#[test]
fn finds_the_first_slower_commit_and_reuses_its_runs() {
    let costs: Vec<_> = (0..33)
        .map(|c| Some(if c < 21 { 1000 } else { 3000 }))
        .collect();
    let Some(repository) = history(&costs) else {
        return;
    };
    let run = bisect(&repository, &["--format", "json"]);
    assert_eq!(run.status, Some(0), "{run:?}");
    let found = json(&run);
    let first = repository.git(&["rev-parse", "c21"]);
    assert_eq!(found["state"]["found"], first, "{run:?}");
    assert_eq!(found["finding"]["function"], "parse");
    let commits = found["commits"].as_array().unwrap();
    let runs: u64 = commits
        .iter()
        .map(|commit| commit["runs"].as_u64().unwrap())
        .sum();
    // Two runs of each end, and 5 steps; the last step may need a second run.
    assert!(runs + 2 <= 14, "{runs} runs");
    assert_removed(&repository);
    assert_eq!(repository.git(&["status", "--porcelain"]), "");
    let again = bisect(&repository, &["--format", "json", "--budget", "1"]);
    assert_eq!(json(&again), found, "what was measured is known");
    assert_eq!(again.stderr.matches("measuring").count(), 0, "{again:?}");
    let text = bisect(&repository, &[]).succeeds().stdout;
    assert!(
        text.contains("(Commit 21) is the first bad commit, with"),
        "{text}"
    );
    assert!(text.contains("parse costs 3.0 times as much"), "{text}");
}

#[test]
fn reports_and_skips_commits_that_cannot_be_built() {
    let costs = [Some(1000), Some(1000), None, Some(3000), Some(3000)];
    let Some(repository) = history(&costs) else {
        return;
    };
    let run = bisect(&repository, &["--format", "json"]);
    // Either the commit that cannot be built or the one after it may be the first slow one.
    assert_eq!(run.status, Some(3), "{run:?}");
    let why = "its build ended with status 3: parse.c: no such thing";
    assert!(run.stderr.contains(why), "{run:?}");
    let found = json(&run);
    assert_eq!(found["state"], "undecided");
    let commits = found["commits"].as_array().unwrap();
    let first = |ix: usize| commits[ix]["first"].as_f64().unwrap();
    assert_eq!(commits[2]["skipped"], why);
    assert!(first(1) > 0.4 && first(2) > 0.4, "{found}");
    assert_removed(&repository);
}

#[test]
fn no_slowdown_or_an_exhausted_budget_exits_with_3() {
    let Some(repository) = history(&[Some(1000), Some(1000), Some(1000)]) else {
        return;
    };
    let run = bisect(&repository, &["--budget", "3"]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(run.stdout.contains("too few runs to compare"), "{run:?}");
    let run = bisect(&repository, &[]);
    assert_eq!(run.status, Some(3), "{run:?}");
    assert!(
        run.stdout
            .contains("do not show that the bad commit is worse"),
        "{run:?}"
    );
    assert_removed(&repository);
}

#[test]
fn rejects_invalid_searches_before_building() {
    let Some(repository) = history(&[Some(1000), Some(3000)]) else {
        return;
    };
    repository.git(&["checkout", "-q", "--orphan", "other"]);
    repository.commit("Other");
    repository.git(&["checkout", "-q", "main"]);
    bisect(&repository, &["--bad", "nowhere"]).fails_with(&["git knows no commit `nowhere` here"]);
    let run = bisect(&repository, &["--bad", "other"]);
    run.fails_with(&["`other` is not a descendant of `c0`: they have no common ancestor"]);
    let run = sto(
        &repository,
        &["bisect", "--good", "c1", "--bad", "c0", "--", LINE],
    );
    run.fails_with(&["`c0` is not a descendant of `c1`: their last common commit is"]);
    bisect(&repository, &["--bad", "c0"]).fails_with(&["there is no commit between"]);
    repository.sandbox.write("build.sh", "changed");
    bisect(&repository, &[]).fails_with(&["the work tree has uncommitted changes"]);
    repository.git(&["checkout", "-q", "build.sh"]);
    let mut command = command(&repository, &["bisect", "--good", "c0", "--", LINE]);
    Run::new(command.env("PATH", repository.sandbox.path("home")))
        .fails_with(&["cannot find `git`"]);
    let clone = [
        "clone",
        "-q",
        "--depth",
        "1",
        "file:///proc/self/cwd/.git",
        "home/shallow",
    ];
    repository.git(&clone);
    let mut command = self::command(&repository, &["bisect", "--good", "HEAD~1", "--", LINE]);
    let run = Run::new(command.current_dir(repository.sandbox.path("home/shallow")));
    let run = run.fails_with(&["git knows no commit `HEAD~1` here"]);
    assert!(run.stderr.contains("git fetch --unshallow"), "{run:?}");
    let Some(broken) = history(&[None, Some(1000)]) else {
        return;
    };
    let run = bisect(&broken, &[]);
    assert_eq!(run.status, Some(2), "{run:?}");
    let why = "is one end of the search and cannot be measured";
    assert!(run.stderr.contains(why), "{run:?}");
    assert_removed(&broken);
}

#[test]
fn a_signal_removes_work_trees_and_keeps_measurements() {
    let Some(repository) = history(&[Some(1000), Some(3000)]) else {
        return;
    };
    let args = ["bisect", "--exe", "demo", "--good", "c0", "--budget", "2"];
    let run = sto(&repository, &[&args[..], &["--", LINE]].concat());
    assert_eq!(run.status, Some(3), "{run:?}");
    // The program sends sto a signal: its parent is the script that replaces perf, whose parent is sto.
    let stop = "read -r _ _ _ sto _ < /proc/$PPID/stat; kill -TERM $sto; \
                while kill -0 $PPID 2> /dev/null; do :; done";
    let line = format!("sh build.sh && {{ {stop}; }}");
    let args = ["bisect", "--exe", "demo", "--good", "c0"];
    let args = [&args[..], &["--", &line]].concat();
    // A shell in the background starts programs with SIGINT ignored.
    let command = command(&repository, &args);
    let mut env = Command::new("env");
    env.arg("--default-signal=INT")
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command
        .get_envs()
        .filter_map(|(name, value)| Some((name, value?)))
    {
        env.env(name, value);
    }
    let run = Run::new(env.current_dir(repository.sandbox.path("")));
    assert_eq!(run.status, Some(143), "{run:?}");
    assert!(
        run.stderr.contains("the same command resumes from there"),
        "{run:?}"
    );
    assert_removed(&repository);
    let runs = repository.sandbox.json(&["runs"])["runs"]
        .as_array()
        .unwrap()
        .len();
    assert_eq!(runs, 2);
}

#[test]
fn record_commits_runs_once_and_bisect_reuses_the_runs() {
    let costs = [Some(1000), Some(1000), None, Some(3000), Some(3000)];
    let Some(repository) = history(&costs) else {
        return;
    };
    let fill = [
        "record",
        "--exe",
        "demo",
        "--runs",
        "2",
        "--commits",
        "c0..c4",
        "--jobs",
        "2",
    ];
    let fill = [
        &fill[..],
        &["--build-with", "sh build.sh", "--", "cat", "bench.out"],
    ]
    .concat();
    let run = sto(&repository, &fill).succeeds();
    assert!(
        run.stderr
            .contains("is skipped: its build ended with status 3"),
        "{run:?}"
    );
    assert_removed(&repository);
    let log = repository.sandbox.json(&["log"]);
    let commits = log["commits"].as_array().unwrap().iter();
    let runs: Vec<u64> = commits
        .map(|commit| commit["runs"].as_u64().unwrap())
        .collect();
    assert_eq!(runs, [2, 2, 0, 2, 0]);
    assert_eq!(log["commits"][1]["verdict"], "regression");
    assert_eq!(log["commits"][1]["build"], "c3");
    let again = sto(&repository, &fill).succeeds();
    assert!(
        again
            .stderr
            .contains("3 of 4 commits have 2 runs or more already"),
        "{again:?}"
    );
    let run = bisect(&repository, &["--format", "json"]);
    let made = run.stderr.matches("measuring").count();
    // Two runs of the good commit, and the commit that cannot be built.
    assert!(made <= 4, "{run:?}");
}

#[test]
fn record_commits_runs_once_for_each_size() {
    let Some(repository) = history(&[Some(1000), Some(3000)]) else {
        return;
    };
    let fill = |sizes: &str, place: &str| {
        let record = [
            "record",
            "--exe",
            "demo",
            "--commits",
            "main",
            "--runs",
            "2",
        ];
        let program = format!("cat bench.out # {place}");
        let scale = [
            "--scale",
            sizes,
            "--build-with",
            "sh build.sh",
            "--",
            "sh",
            "-c",
            &program,
        ];
        sto(&repository, &[&record[..], &scale].concat())
    };
    let of_each = || {
        let runs = repository.sandbox.json(&["runs"]);
        let runs = runs["runs"].as_array().unwrap().iter();
        let mut sizes: Vec<_> = runs
            .map(|run| run["metrics"]["n"].as_f64().unwrap())
            .collect();
        sizes.sort_by(f64::total_cmp);
        sizes
    };
    fill("n=10,20", "n").fails_with(&["has no placeholder `{n}`"]);
    fill("n=10,20", "{n}").succeeds();
    assert_eq!(of_each(), [10.0, 10.0, 10.0, 10.0, 20.0, 20.0, 20.0, 20.0]);
    let again = fill("n=20,10", "{n}").succeeds();
    let known = "4 of 4 commands have 2 runs or more already";
    assert!(again.stderr.contains(known), "{again:?}");
    let other = fill("n=10,30", "{n}").succeeds();
    let known = "2 of 4 commands have 2 runs or more already";
    assert!(other.stderr.contains(known), "{other:?}");
    let expected = [[10.0; 4], [20.0; 4], [30.0; 4]].concat();
    assert_eq!(of_each(), expected);
    assert_removed(&repository);
}

#[test]
fn finds_a_bubble_sort_and_a_list_in_a_real_program() {
    if missing(&["git", "perf", "cc", "make"]) {
        return;
    }
    let sandbox = Sandbox::new();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/commits/make.sh");
    Run::new(&mut sandbox.program("sh", &[script.to_str().unwrap(), "six"])).succeeds();
    for (function, tag) in [("sort_numbers", "bubbles"), ("count_distinct", "list")] {
        let args = [
            "bisect",
            "--good",
            "main~5",
            "--function",
            function,
            "--format",
            "json",
        ];
        let args = [&args[..], &["--", "make && ./bench 400 1000"]].concat();
        let mut command = sandbox.command(&args);
        let run = Run::new(command.current_dir(sandbox.path("six")));
        if run.stderr.contains("perf cannot record") {
            return skip("perf may not record here");
        }
        let head = ["-C", "six", "rev-parse", tag];
        let expected = Run::new(&mut sandbox.program("git", &head))
            .succeeds()
            .stdout;
        assert_eq!(json(&run)["state"]["found"], expected.trim(), "{run:?}");
    }
}

#[test]
fn names_only_commits_that_made_functions_grow_faster() {
    if missing(&["git", "cc", "make"]) {
        return;
    }
    let sandbox = Sandbox::new();
    write_perf(&sandbox);
    let counting = sandbox.write("counting.h", COUNTING);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/commits/make.sh");
    Run::new(&mut sandbox.program("sh", &[script.to_str().unwrap(), "six"])).succeeds();
    let sto = |args: &str| {
        let args: Vec<&str> = args.split(' ').collect();
        let mut command = with_perf(&sandbox, &args);
        command
            .env("CC", format!("cc -include {}", counting.display()))
            .current_dir(sandbox.path("six"));
        Run::new(&mut command)
    };
    let sizes = "--scale n=200,400,800,1600 --runs 2";
    let fill = format!("record --commits main --build-with make {sizes} -- ./bench 20 {{n}}");
    sto(&fill).succeeds();
    for (before, slower) in [
        None,
        Some("count_distinct"),
        None,
        Some("sort_numbers"),
        None,
    ]
    .into_iter()
    .enumerate()
    {
        let sides = format!("git:main~{} git:main~{before}", before + 1);
        let run = sto(&format!(
            "find-regressions {sides} --x n --all --format json"
        ));
        let found = json(&run);
        let functions = found["curves"]["functions"].as_array().unwrap();
        for function in ["count_distinct", "sort_numbers"] {
            let change = functions.iter().find(|of| of["function"] == function);
            let is_worse = change.is_some_and(|change| change["result"] == "degradation");
            assert_eq!(is_worse, slower == Some(function), "{sides}: {change:#?}");
            if is_worse {
                let reason = change.unwrap()["reason"].as_str().unwrap();
                let commit = found["curves"]["commits"]["to"].as_str().unwrap();
                let with = format!(" with commit {};", &commit[..12]);
                let went = reason.starts_with(&format!("{function} went from O("));
                assert!(went && reason.contains(&with), "{reason}");
            }
        }
    }
}
