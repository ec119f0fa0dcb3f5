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
/// Under a command stands what it prints, where `...` is any number of lines, or nothing.
#[test]
fn readme_commands_print_what_the_readme_shows() {
    let sandbox = Sandbox::new();
    let testdata = repository().join("testdata");
    std::os::unix::fs::symlink(testdata, sandbox.path("testdata")).unwrap();
    let readme = std::fs::read_to_string(repository().join("README.md")).unwrap();
    let commands: Vec<Shown> = shown(&readme)
        .into_iter()
        .filter_map(for_this_binary)
        .collect();
    assert!(!commands.is_empty(), "README.md shows no command");
    for Shown { command, output } in commands {
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

fn shown(markdown: &str) -> Vec<Shown> {
    let mut commands: Vec<Shown> = Vec::new();
    let mut in_console = false;
    for line in markdown.lines() {
        if line.starts_with("```") {
            in_console = !in_console && line == "```console";
        } else if let Some(command) = line.strip_prefix("$ ").filter(|_| in_console) {
            commands.push(Shown {
                command: command.to_owned(),
                output: Vec::new(),
            });
        } else if in_console && let Some(last) = commands.last_mut() {
            if last.output.is_empty() && last.command.ends_with('\\') {
                last.command = format!("{}\n{line}", last.command);
            } else {
                last.output.push(line.to_owned());
            }
        }
    }
    for shown in &mut commands {
        // An empty line before the next command is no output.
        while shown
            .output
            .last()
            .is_some_and(|line| line.trim().is_empty())
        {
            shown.output.pop();
        }
    }
    commands
}

fn for_this_binary(shown: Shown) -> Option<Shown> {
    let command = shown.command.replace("cargo run --release -- ", "sto ");
    command
        .starts_with("sto ")
        .then_some(Shown { command, ..shown })
}

fn matches(expected: &[&str], printed: &[&str]) -> bool {
    match expected {
        [] => printed.is_empty(),
        ["...", rest @ ..] => (0..=printed.len()).any(|skip| matches(rest, &printed[skip..])),
        [line, rest @ ..] => printed.first() == Some(line) && matches(rest, &printed[1..]),
    }
}

#[test]
fn dots_stand_for_any_lines_and_nothing_else_does() {
    assert!(matches(&["a", "...", "d"], &["a", "b", "c", "d"]));
    assert!(matches(&["a", "..."], &["a"]));
    assert!(!matches(&["a", "...", "d"], &["a", "b"]));
    assert!(!matches(&["a"], &["a", "b"]));
}

#[test]
fn only_commands_of_console_blocks_are_run() {
    let markdown =
        "$ sto one\n```sh\n$ sto two\n```\n```console\n$ sto \\\n  three\nout\n\n$ ls\n```\n";
    let commands = shown(markdown);
    assert_eq!(commands.len(), 2, "{commands:?}");
    assert_eq!(commands[0].command, "sto \\\n  three");
    assert_eq!(commands[0].output, ["out"]);
    assert!(commands.into_iter().filter_map(for_this_binary).count() == 1);
}
