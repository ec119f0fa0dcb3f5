//! The commands in README.md and docs/tour.md print the shown output.

use crate::support::{Run, Sandbox, repository};
use sto_test_support::{missing, skip};

/// A command of a ```` ```console ```` block, and the output shown below it.
#[derive(Debug)]
struct Shown {
    command: String,
    output: Vec<String>,
}

/// Returns README.md followed by the tour, which continues with the store that README.md fills.
fn documents() -> String {
    ["README.md", "sto-cli/docs/tour.md"]
        .map(|path| std::fs::read_to_string(repository().join(path)).unwrap())
        .concat()
}

/// Runs every `$ sto ...` and `$ cargo run --release -- ...`, in order and with one store, in a folder that has the
/// repository's `testdata`.
///
/// If output is shown below a command, it must match; `...` is any number of lines, or the rest of a
/// line. Blocks with other commands need a program to record;
/// [`shown_commands_that_build_and_record_a_program_run`] runs them.
#[test]
fn commands_print_the_shown_output() {
    let sandbox = Sandbox::new();
    let testdata = repository().join("testdata");
    std::os::unix::fs::symlink(testdata, sandbox.path("testdata")).unwrap();
    let mut blocks: Vec<Vec<Shown>> = blocks(&documents())
        .into_iter()
        .filter_map(only_sto_commands)
        .collect();
    assert!(!blocks.is_empty(), "no command is shown");
    let asks_duckdb =
        |block: &Vec<Shown>| block.iter().any(|shown| shown.command.starts_with(DUCKDB));
    if blocks.iter().any(asks_duckdb) && missing(&["duckdb"]) {
        blocks.retain(|block| !asks_duckdb(block));
    }
    for Shown { command, output } in blocks.into_iter().flatten() {
        let script = format!("exec 2>&1\nsto() {{ \"$0\" \"$@\"; }}\n{command}");
        let mut shell = sandbox.program("sh", &["-c", &script, env!("CARGO_BIN_EXE_sto")]);
        let run = Run::new(shell.env("STO_STORE", sandbox.path("store")));
        assert_ne!(run.status, Some(2), "$ {command}\n{}", run.stdout);
        let printed: Vec<&str> = run.stdout.lines().map(str::trim_end).collect();
        let expected: Vec<&str> = output.iter().map(|line| line.trim_end()).collect();
        assert!(
            output.is_empty() || matches(&expected, &printed),
            "the documents show other output than this:\n$ {command}\n{}",
            run.stdout
        );
    }
}

/// A program to build and record, which computes for a moment and ignores its arguments.
const PROGRAM: &str = "volatile long n; static void work(void) { for (long i = 0; i < 10000000; i++) n += i; }\n\
                       int main(void) { work(); return 0; }\n";
const MAKEFILE: &str = "CFLAGS = -g -fno-omit-frame-pointer\nall: server\n";

/// Runs the commands of all other blocks, in order, in a repository with a program to build and a tag `v1`. Their output
/// contains measurements, so it is not compared. Commands that build sto itself are left out.
#[test]
fn shown_commands_that_build_and_record_a_program_run() {
    if missing(&["perf", "git", "make", "cc", "bash"]) {
        return;
    }
    let sandbox = Sandbox::new();
    sandbox.write("project/server.c", PROGRAM);
    sandbox.write("project/Makefile", MAKEFILE);
    let bash = |command: &str| {
        let script = format!("exec 2>&1\ncd project\nsto() {{ \"$0\" \"$@\"; }}\n{command}");
        let mut shell = sandbox.program("bash", &["-c", &script, env!("CARGO_BIN_EXE_sto")]);
        for who in ["AUTHOR", "COMMITTER"] {
            shell.env(format!("GIT_{who}_NAME"), "a");
            shell.env(format!("GIT_{who}_EMAIL"), "a@b");
        }
        Run::new(shell.env("STO_STORE", sandbox.path("store")))
    };
    bash("git init -q . && git add . && git commit -qm one && git tag -am v1 v1").succeeds();
    let others = blocks(&documents()).into_iter();
    let others = others
        .filter(|block| !block.iter().all(is_sto_command))
        .flatten();
    let mut run_by_now = 0;
    for Shown { command, .. } in others {
        if command.starts_with("cargo test") || command.starts_with("cargo install") {
            continue;
        }
        // Recording a run takes a second.
        let fewer = command.replace("--runs 10", "--runs 2");
        let run = bash(&fewer);
        if run.stdout.contains("perf cannot record") {
            return skip("perf may not record here");
        }
        // A comparison of the program with itself may find a regression by chance, which is status 1.
        assert!(
            matches!(run.status, Some(0 | 1 | 3)),
            "$ {command}\n{}",
            run.stdout
        );
        run_by_now += 1;
        if command.starts_with("sto record --build first") {
            // README.md says to set this tag by hand.
            bash("sto tag first last-good").succeeds();
        }
    }
    assert!(run_by_now >= 6, "{run_by_now}");
}

/// Returns the commands of each ```` ```console ```` block with their output. Blocks in lists are indented.
fn blocks(markdown: &str) -> Vec<Vec<Shown>> {
    let mut blocks: Vec<Vec<Shown>> = Vec::new();
    let mut in_console = false;
    let mut indent = 0;
    for line in markdown.lines() {
        if line.trim_start().starts_with("```") {
            indent = line.len() - line.trim_start().len();
        }
        let line = line.get(indent..).unwrap_or_default();
        if line.starts_with("```") {
            in_console = !in_console && line == "```console";
            blocks.extend(in_console.then(Vec::new));
            continue;
        }
        let Some(block) = blocks.last_mut().filter(|_| in_console) else {
            continue;
        };
        if let Some(command) = line.strip_prefix("$ ") {
            block.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else if let Some(shown) = block.last_mut() {
            if shown.output.is_empty() && shown.command.ends_with('\\') {
                shown.command = format!("{}\n{line}", shown.command);
            } else {
                shown.output.push(line.to_owned());
            }
        }
    }
    for shown in blocks.iter_mut().flatten() {
        // An empty line before the next command is not output.
        while shown
            .output
            .last()
            .is_some_and(|line| line.trim().is_empty())
        {
            shown.output.pop();
        }
    }
    blocks
}

/// Returns the block with its commands as `sto ...`, or `None` if it has others.
fn only_sto_commands(block: Vec<Shown>) -> Option<Vec<Shown>> {
    let commands = block
        .iter()
        .all(is_sto_command)
        .then_some(block)?
        .into_iter();
    let as_sto = |shown: Shown| Shown {
        command: shown.command.replace(CARGO_RUN, "sto "),
        ..shown
    };
    Some(commands.map(as_sto).collect())
}

const CARGO_RUN: &str = "cargo run --release -- ";
const DUCKDB: &str = "duckdb ";

/// Returns `true` if the command only needs sto, this repository and perhaps DuckDB.
fn is_sto_command(shown: &Shown) -> bool {
    let asks_git_or_records = |part| shown.command.contains(part);
    let is_sto = ["sto ", CARGO_RUN, DUCKDB]
        .iter()
        .any(|begin| shown.command.starts_with(begin));
    is_sto
        && !["$(git ", "sto record "]
            .into_iter()
            .any(asks_git_or_records)
}

fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        [line, rest @ ..] => {
            let is_it = |printed: &&str| match line.strip_suffix("...") {
                Some(begin) => printed.starts_with(begin),
                None => printed == line,
            };
            printed.first().is_some_and(is_it) && matches(rest, &printed[1..])
        }
    }
}

#[test]
fn only_dots_match_any_lines() {
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "..."], &["a"]));
    assert!(matches(&["a b...", "d"], &["a bc", "d"]));
    assert!(!matches(&["a b..."], &["a c"]));
    assert!(!matches(&["a", "...", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}

#[test]
fn only_blocks_with_only_sto_commands_are_run() {
    let markdown = "$ sto one\n```sh\n$ sto two\n```\n```console\n$ sto \\\n  three\nout\n\n$ sto four\n```\n\
                    ```console\n$ perf record\n$ sto five\n```\n";
    let blocks: Vec<Vec<Shown>> = blocks(markdown)
        .into_iter()
        .filter_map(only_sto_commands)
        .collect();
    let [block] = &blocks[..] else {
        panic!("{blocks:?}")
    };
    assert_eq!(block.len(), 2, "{block:?}");
    assert_eq!(block[0].command, "sto \\\n  three");
    assert_eq!(block[0].output, ["out"]);
    assert_eq!(block[1].command, "sto four");
}
