//! `sto record --scale` with the real perf.

use crate::record::{profiles, record};
use crate::support::{Run, Sandbox};

/// A loop of `{n}` turns that prints its arguments.
const LOOP: &str = "i=0; while [ $i -lt {n} ]; do i=$((i+1)); done; echo {n} {word}";

/// Records the loop as a build with these words, separated by spaces, before the command.
fn record_loop(sandbox: &Sandbox, options: &str) -> Option<Run> {
    let options: Vec<&str> = options.split(' ').collect();
    record(sandbox, &[&options, &["sh", "-c", LOOP][..]].concat())
}

#[test]
fn sizes_alternate_and_are_stored_with_their_runs() {
    let sandbox = Sandbox::new();
    let script = "i=0; while [ $i -lt {n} ]; do i=$((i+1)); done; echo {n}";
    let args = ["--scale", "n=20000,80000", "--runs", "2", "--build", "v1"];
    let args = [&args[..], &["sh", "-c", script]].concat();
    let Some(run) = record(&sandbox, &args) else {
        return;
    };
    assert_eq!(run.status, Some(0), "{run:?}");
    assert_eq!(run.stdout, "20000\n80000\n80000\n20000\n");
    let sizes = profiles(&sandbox)
        .iter()
        .map(|run| run["metrics"]["n"].as_f64().unwrap())
        .collect::<Vec<_>>();
    assert_eq!(sizes.iter().sum::<f64>(), 200_000.0, "{sizes:?}");
}

#[test]
fn several_scales_give_all_combinations() {
    let sandbox = Sandbox::new();
    let scales = "--scale n=20000,40000 --scale word=a/x,b --benchmark loop-{word}";
    let Some(run) = record_loop(&sandbox, scales) else {
        return;
    };
    let printed = run.succeeds().stdout;
    assert_eq!(printed, "20000 a/x\n20000 b\n40000 a/x\n40000 b\n");
    let mut stored: Vec<String> = profiles(&sandbox)
        .iter()
        .map(|run| {
            let (n, word) = (&run["metrics"]["n"], &run["labels"]["word"]);
            assert_eq!(run["metrics"]["word"], serde_json::Value::Null);
            format!("{n} {word} {}", run["benchmark"])
        })
        .collect();
    stored.sort();
    let expected = [
        r#"20000.0 "a/x" "loop-a/x""#,
        r#"20000.0 "b" "loop-b""#,
        r#"40000.0 "a/x" "loop-a/x""#,
        r#"40000.0 "b" "loop-b""#,
    ];
    assert_eq!(stored, expected);
    let listed = sandbox.sto(&["runs"]).succeeds().stdout;
    assert!(
        listed.contains(" word=a/x exit_status=0 n=40000"),
        "{listed}"
    );
}

#[test]
fn a_scale_may_name_the_program() {
    let sandbox = Sandbox::new();
    let script = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done; echo ran";
    let args = ["--scale", "shell=sh,/bin/sh", "--", "{shell}", "-c", script];
    if let Some(run) = record(&sandbox, &args) {
        assert_eq!(run.succeeds().stdout, "ran\nran\n");
    }
    let args = [
        "record",
        "--scale",
        "shell=sh,/no/sh",
        "{shell}",
        "-c",
        script,
    ];
    sandbox
        .sto(&args)
        .fails_with(&["/no/sh: there is no such program"]);
}

#[test]
fn commands_with_enough_runs_of_the_build_are_skipped() {
    let sandbox = Sandbox::new();
    let scales = "--scale n=20000,40000 --scale word=a,b";
    if record_loop(&sandbox, &format!("--build v1 {scales}")).is_none() {
        return;
    }
    let printed = |options: &str| {
        let run = record_loop(&sandbox, options).unwrap().succeeds();
        (run.stdout, run.stderr)
    };
    let (stdout, stderr) = printed("--build v1 --scale n=40000,60000 --scale word=b,c");
    assert_eq!(stdout, "40000 c\n60000 b\n60000 c\n");
    let note = "note: 1 of 4 commands have a run or more already\n";
    assert!(stderr.contains(note), "{stderr}");
    let (stdout, stderr) = printed(&format!("--build v1 {scales}"));
    assert_eq!(stdout, "");
    let note = "note: 4 of 4 commands have a run or more already\n";
    assert_eq!(stderr, note);
    // Another build, an unnamed one, more runs, and another label.
    for other in [
        "--build v2",
        "--frequency 999",
        "--build v1 --runs 2",
        "--build v1 --label cpu=7950x",
    ] {
        let (stdout, stderr) = printed(&format!("{other} {scales}"));
        assert!(stdout.lines().count() >= 4, "{other}: {stdout}");
        assert!(!stderr.contains("already"), "{other}: {stderr}");
    }
    // Another command with the same values.
    let script = format!("{LOOP}; echo other");
    let other = ["--build", "v1", "--scale", "n=20000", "--scale", "word=a"];
    let other = record(&sandbox, &[&other[..], &["sh", "-c", &script]].concat());
    assert_eq!(other.unwrap().succeeds().stdout, "20000 a\nother\n");
}

#[test]
fn rejects_scales_without_placeholder_and_names_used_twice() {
    let sandbox = Sandbox::new();
    for (args, message) in [
        ("--scale n=1 echo n", "`echo n` has no placeholder `{n}`"),
        ("--scale n=1 --metric n=2 echo {n}", "the metric `n`"),
        ("--scale n=a --label n=b echo {n}", "the label `n`"),
        ("--scale n=1 --scale n=a echo {n}", "the scale `n`"),
    ] {
        let args: Vec<&str> = args.split(' ').collect();
        let run = sandbox.sto(&[&["record"], &args[..]].concat());
        run.fails_with(&[message]);
    }
}
