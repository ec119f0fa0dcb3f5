//! Help: clap's help, with grouped commands on the front page and notes wrapped for
//! the terminal, and manual pages with the same text.

pub(crate) mod man;
mod text;

use crate::runtime::ui;
use clap::builder::Styles;
use clap::{ColorChoice, Command, Error};
use std::io::{self, IsTerminal, Write};
use std::process;
use text::{blocks, entry, lay_out, with_usage_in};
use unicode_width::UnicodeWidthStr;

/// Maximum width of help: long lines are hard to read.
const WIDEST: usize = 100;

/// Exit statuses of commands whose help does not list them.
const EXIT_STATUS: &str = "0 success, 2 wrong usage or failure.";

/// The commands by purpose.
const GROUPS: [(&str, &[&str]); 6] = [
    (
        "Record and import",
        &[
            "record",
            "ingest",
            "annotate",
            "symbolize",
            "merge",
            "pull",
            "import-parquet",
        ],
    ),
    (
        "Look",
        &[
            "ls",
            "runs",
            "log",
            "show",
            "top",
            "tree",
            "timeline",
            "phases",
            "outliers",
            "waits",
            "source",
            "hot",
            "blame",
            "flame",
            "open",
            "ui",
            "serve",
            "lsp",
            "potential",
            "model",
            "sql",
            "export",
        ],
    ),
    (
        "Compare",
        &[
            "find-regressions",
            "bisect",
            "diff",
            "compare-models",
            "average",
            "calibrate",
            "explain-match",
        ],
    ),
    (
        "Over time",
        &[
            "series",
            "where",
            "regressions-over-time",
            "report",
            "evolve",
            "expand",
            "bottlenecks",
            "correlate",
            "align",
        ],
    ),
    (
        "Keep",
        &[
            "tag",
            "prune",
            "compact",
            "stats",
            "verify",
            "push",
            "export-store",
        ],
    ),
    ("Other", &["config", "completions", "man", "help"]),
];

/// The command with its help laid out for the terminal.
pub(crate) fn for_terminal(command: Command) -> Command {
    for_width(command, width())
}

/// Prints clap's output (help, the version, or an error in the arguments) and ends the process.
pub(crate) fn exit(error: &Error, color: ColorChoice) -> ! {
    let is_failure = error.use_stderr();
    let is_terminal = if is_failure {
        io::stderr().is_terminal()
    } else {
        io::stdout().is_terminal()
    };
    let text = error.render();
    let text = if ui::wants_color(color, is_terminal) {
        text.ansi().to_string()
    } else {
        text.to_string()
    };
    let text = with_usage_in(&text, width());
    // Errors are ignored, as they could not be reported.
    let _ = if is_failure {
        io::stderr().write_all(text.as_bytes())
    } else {
        io::stdout().write_all(text.as_bytes())
    };
    process::exit(error.exit_code())
}

fn width() -> usize {
    ui::help_width().unwrap_or(WIDEST).min(WIDEST)
}

fn for_width(command: Command, width: usize) -> Command {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{options}}{{after-help}}",
        groups(&command, width)
    );
    // For clap, 0 means no limit.
    let command = with_notes(command, width).term_width(width.max(1));
    command
        .help_template(template)
        .mut_subcommands(|subcommand| with_notes(subcommand, width))
}

fn with_notes(command: Command, width: usize) -> Command {
    match command.get_after_help().map(ToString::to_string) {
        Some(notes) => {
            let notes = lay_out(&blocks(&notes), width);
            // clap replaces `{n}` with a line break.
            command.after_help(notes.replace("{n}", "{\u{1b}[0mn}"))
        }
        None => command,
    }
}

/// The list of commands by group, up to the heading of the options.
fn groups(command: &Command, width: usize) -> String {
    let header = *Styles::styled().get_header();
    let literal = *Styles::styled().get_literal();
    let names = GROUPS.iter().flat_map(|(_, names)| names.iter());
    let column = 2 + names.map(|name| name.width()).max().unwrap_or(0) + 2;
    let mut text = String::new();
    for (group, names) in GROUPS {
        text += &format!("{header}{group}:{header:#}\n");
        for name in names {
            let mut lines = Vec::new();
            let what = about(command, name);
            // Use the same layout as clap for options.
            if column * 2 <= width {
                entry(&mut lines, name, &what, column, width);
            } else {
                lines.push(format!("  {name}"));
                let below = text::fill(&what, width.saturating_sub(6));
                lines.extend(below.iter().map(|line| format!("      {line}")));
            }
            let styled = format!("{literal}{name}{literal:#}");
            lines[0] = lines[0].replacen(name, &styled, 1);
            text += &(lines.join("\n") + "\n");
        }
        text.push('\n');
    }
    text + &format!("{header}Options:{header:#}\n")
}

/// A command's description, in one sentence.
fn about(command: &Command, name: &str) -> String {
    match command.find_subcommand(name).and_then(Command::get_about) {
        Some(about) => about.to_string(),
        // clap adds `help` later.
        None => "Show the help of a command".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::Cli;
    use clap::CommandFactory;
    use std::fs;
    use std::path::{Path, PathBuf};

    #[test]
    fn every_command_is_in_one_group() {
        let mut grouped: Vec<&str> = GROUPS
            .iter()
            .flat_map(|(_, names)| *names)
            .copied()
            .collect();
        grouped.sort_unstable();
        let command = Cli::command();
        let mut commands: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
        commands.push("help");
        commands.sort_unstable();
        assert_eq!(grouped, commands);
    }

    #[test]
    fn help_fits_the_terminal_at_any_width() {
        for width in [40, 80, 100] {
            let mut command = for_width(Cli::command(), width);
            command.build();
            let mut pages = vec![command.render_long_help().to_string()];
            for subcommand in command.get_subcommands_mut() {
                pages.push(subcommand.render_long_help().to_string());
                pages.push(subcommand.render_help().to_string());
            }
            for page in pages {
                for line in with_usage_in(&page, width).lines() {
                    let is_one_word = line.split_whitespace().count() < 2;
                    assert!(line.width() <= width || is_one_word, "at {width}: {line}");
                }
            }
        }
    }

    #[test]
    fn examples_keep_the_placeholder_n() {
        let mut command = for_width(Cli::command(), 80);
        command.build();
        let record = command.find_subcommand_mut("record").unwrap();
        let help = record.render_long_help().to_string();
        assert!(
            help.contains("--scale n=1000,2000,4000 ./sort {n} "),
            "{help}"
        );
    }

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                found.push(path);
            }
        }
    }

    /// Whether a line contains a word, and not only as a part of a longer word.
    fn says(line: &str, what: &str) -> bool {
        let is_word = |c: char| c.is_alphanumeric() || "-_".contains(c);
        line.match_indices(what).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + what.len()..].chars().next();
            !before.is_some_and(is_word) && !after.is_some_and(is_word)
        })
    }

    #[test]
    fn the_libraries_name_no_option_and_no_subcommand() {
        let mut names = Vec::new();
        let mut command = Cli::command();
        command.build();
        for subcommand in command.get_subcommands() {
            names.push(format!("sto {}", subcommand.get_name()));
            let options = subcommand.get_arguments().filter_map(clap::Arg::get_long);
            names.extend(options.map(|option| format!("--{option}")));
        }
        // This option belongs to perf.
        names.retain(|option| option != "--call-graph");
        let mut files = Vec::new();
        for library in ["sto-core", "sto-query"] {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
            sources(&folder.join(library).join("src"), &mut files);
        }
        // These run git, with its options.
        files.retain(|file| {
            !["work_tree.rs", "file_changes.rs"]
                .iter()
                .any(|name| file.ends_with(name))
        });
        let mut known = Vec::new();
        for file in &files {
            let text = fs::read_to_string(file).unwrap();
            let text = text.split("#[cfg(test)]").next().unwrap();
            // Advice about other tools names them in the same line.
            let is_of_others = |line: &str| {
                ["perf", "-Wl", "arg("]
                    .iter()
                    .any(|name| line.contains(name))
            };
            let lines = text.lines().filter(|line| !is_of_others(line));
            known.extend(
                lines
                    .filter(|line| names.iter().any(|what| says(line, what)))
                    .map(|line| format!("{}: {}", file.display(), line.trim())),
            );
        }
        assert!(known.is_empty(), "{known:#?}");
    }
}
