//! Recursion deeper than sto's own stack: every command ends quickly and prints readable output.

use crate::support::{Run, Sandbox};
use std::process::Command;

/// A recursive function of a debug build takes more than 64 bytes of stack per call, so this depth overflows 1 MiB.
const DEPTH: usize = 20_000;

/// Runs the command with stacks of 1 MiB; a debug build needs half of one to parse its arguments. Code that recurses
/// by depth overflows these stacks.
fn sto(sandbox: &Sandbox, args: &[&str]) -> Run {
    let mut sto = with_small_stack(sandbox, args);
    Run::new(sto.env("RUST_MIN_STACK", (1 << 20).to_string()))
}

/// The command with a main thread whose stack is too small to parse arguments.
fn with_small_stack(sandbox: &Sandbox, args: &[&str]) -> Command {
    let sto = sandbox.command(args);
    let mut shell = sandbox.program("sh", &["-c", "ulimit -s 256; exec \"$@\"", "sh"]);
    shell.arg(sto.get_program()).args(sto.get_args());
    shell.env("STO_STORE", sandbox.path("store"));
    shell
}

/// Two builds of a program that recurses through these functions, with `DEPTH` frames; the leaf of
/// the second is ten times as slow.
fn two_builds(functions: impl Fn(usize) -> String) -> Sandbox {
    let sandbox = Sandbox::new();
    let frames: Vec<String> = (0..DEPTH - 2).map(functions).collect();
    let stack = format!("main;{}", frames.join(";"));
    for (build, leaf) in [("v1", 500), ("v2", 5000)] {
        let text = format!("{stack} 1000\n{stack};leaf {leaf}\nmain;other 9000\nmain;more 7000\n");
        sandbox.write(build, text);
        let ingest = ["ingest", build, "--exe", "deep", "--build", build];
        sto(&sandbox, &ingest).succeeds();
    }
    sandbox
}

#[test]
fn small_stack_of_the_system_is_enough() {
    let sandbox = Sandbox::with_two_builds();
    for args in [&["top", "v2"][..], &["find-regressions", "v1", "v2"]] {
        let expected = sandbox.sto(args);
        let run = Run::new(&mut with_small_stack(&sandbox, args));
        assert_eq!((run.status, run.stdout), (expected.status, expected.stdout));
    }
}

fn assert_every_command_ends(sandbox: &Sandbox, functions: usize) {
    assert!(sto(sandbox, &["ls"]).succeeds().stdout.contains("deep@v2"));
    let top = sto(sandbox, &["top", "v2", "--format", "json"]).succeeds();
    let top: serde_json::Value = serde_json::from_str(&top.stdout).unwrap();
    assert_eq!(top["functions"].as_array().unwrap().len(), functions);

    // Frames with one callee and no self cost are folded into one line.
    let folded = sto(sandbox, &["tree", "v2"]).succeeds().stdout;
    assert!(folded.lines().count() < 20, "{folded}");
    let tree = sto(sandbox, &["tree", "v2", "--unfold"]).succeeds().stdout;
    let lines = tree.lines().count();
    assert!((100..=110).contains(&lines), "{lines} lines");
    let widest = tree.lines().map(|line| line.chars().count()).max();
    assert!(widest <= Some(80), "{widest:?}");
    assert!(
        tree.contains(" below 1.00%, or over 100 deep (…)\n"),
        "{tree}"
    );

    let all = [
        "tree",
        "v2",
        "--depth",
        "1000000",
        "--min-share",
        "0",
        "--format",
        "json",
    ];
    let all = sto(sandbox, &all).succeeds().stdout;
    let all: serde_json::Value = serde_json::from_str(&all).unwrap();
    let nodes = all["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), DEPTH + 2);
    let leaf = nodes
        .iter()
        .find(|node| node["function"] == "leaf")
        .unwrap();
    assert_eq!(leaf["depth"], DEPTH - 1);

    sto(sandbox, &["flame", "v2", "-o", "flame.svg"]).succeeds();
    sto(sandbox, &["diff", "v1", "v2", "-o", "diff.svg"]).succeeds();
    for svg in ["flame.svg", "diff.svg"] {
        let svg = std::fs::read_to_string(sandbox.path(svg)).unwrap();
        assert!(svg.contains("500 levels"), "it says what is left out");
        assert!(svg.len() < 1 << 20, "{}", svg.len());
    }

    let found = sto(
        sandbox,
        &["find-regressions", "v1", "v2", "--format", "json"],
    );
    assert_eq!(found.status, Some(1), "{}", found.stderr);
    let found: serde_json::Value = serde_json::from_str(&found.stdout).unwrap();
    assert_eq!(found["findings"][0]["function"], "leaf");
}

#[test]
fn direct_recursion() {
    assert_every_command_ends(&two_builds(|_| "fib".to_owned()), 5);
}

#[test]
fn mutual_recursion() {
    let names = ["ping", "pong"];
    assert_every_command_ends(&two_builds(|level| names[level % 2].to_owned()), 6);
}

#[test]
fn deep_chain_of_different_functions() {
    assert_every_command_ends(&two_builds(|level| format!("f{level}")), DEPTH + 2);
}
