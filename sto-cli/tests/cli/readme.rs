//! README.md shows what the command really prints.

use crate::support::{Run, Sandbox, repository};

/// A command of a ```` ```console ```` block, and the output that stands under it.
#[derive(Debug)]
struct Shown {
    command: String,
    output: Vec<String>,
}

/// Runs every `$ sto ...` and `$ cargo run --release -- ...` of README.md, in order and with one
/// store, in a folder that has the repository's `testdata`.
///
/// Under a command stands what it prints, where `...` is any number of lines or the rest of one, or nothing at all.
/// A block with any other command in it (`perf record`, say) needs more than this repository has,
/// and is not run.
#[test]
fn readme_commands_print_what_the_readme_shows() {
    let sandbox = Sandbox::new();
    let testdata = repository().join("testdata");
    std::os::unix::fs::symlink(testdata, sandbox.path("testdata")).unwrap();
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let blocks: Vec<Vec<Shown>> = blocks(&readme).into_iter().filter_map(ours).collect();
    assert!(!blocks.is_empty(), "README.md shows no command");
    for Shown { command, output } in blocks.into_iter().flatten() {
        let script = format!("exec 2>&1\nsto() {{ \"$0\" \"$@\"; }}\n{command}");
        let mut shell = sandbox.program("sh", &["-c", &script, env!("CARGO_BIN_EXE_sto")]);
        let run = Run::of(shell.env("STO_STORE", sandbox.path("store")));
        assert_ne!(run.status, Some(2), "$ {command}\n{}", run.stdout);
        let printed: Vec<&str> = run.stdout.lines().map(str::trim_end).collect();
        let expected: Vec<&str> = output.iter().map(|line| line.trim_end()).collect();
        assert!(
            output.is_empty() || matches(&expected, &printed),
            "README.md shows other output than this:\n$ {command}\n{}",
            run.stdout
        );
    }
}

/// The commands of each ```` ```console ```` block, with their output.
fn blocks(markdown: &str) -> Vec<Vec<Shown>> {
    let mut blocks: Vec<Vec<Shown>> = Vec::new();
    let mut in_console = false;
    for line in markdown.lines() {
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
        // An empty line before the next command is no output.
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

/// The block with its commands as `sto ...`, if it has no others.
fn ours(block: Vec<Shown>) -> Option<Vec<Shown>> {
    let ours = block.into_iter().map(|shown| {
        let command = shown.command.replace("cargo run --release -- ", "sto ");
        command
            .starts_with("sto ")
            .then_some(Shown { command, ..shown })
    });
    ours.collect()
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
fn dots_stand_for_any_lines_and_nothing_else_does() {
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "..."], &["a"]));
    assert!(matches(&["a b...", "d"], &["a bc", "d"]));
    assert!(!matches(&["a b..."], &["a c"]));
    assert!(!matches(&["a", "...", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}

#[test]
fn only_console_blocks_of_nothing_but_sto_are_run() {
    let markdown = "$ sto one\n```sh\n$ sto two\n```\n```console\n$ sto \\\n  three\nout\n\n$ sto four\n```\n\
                    ```console\n$ perf record\n$ sto five\n```\n";
    let blocks: Vec<Vec<Shown>> = blocks(markdown).into_iter().filter_map(ours).collect();
    let [block] = &blocks[..] else {
        panic!("{blocks:?}")
    };
    assert_eq!(block.len(), 2, "{block:?}");
    assert_eq!(block[0].command, "sto \\\n  three");
    assert_eq!(block[0].output, ["out"]);
    assert_eq!(block[1].command, "sto four");
}
