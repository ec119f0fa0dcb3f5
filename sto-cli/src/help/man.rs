//! Manual pages, in the sections of man-pages(7).

use super::text::{Block, blocks};
use super::{GROUPS, about};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::io;

/// A manual page and its file name.
pub(crate) struct Page {
    pub(crate) file_name: String,
    pub(crate) roff: Vec<u8>,
}

const ENVIRONMENT: [(&str, &str); 7] = [
    (
        "STO_STORE",
        "The folder of the store, if there is no --store.",
    ),
    (
        "NO_COLOR, CLICOLOR_FORCE",
        "Turn colours off, or turn them on even if output does not go to a terminal.",
    ),
    ("COLUMNS", "The width of output and of help."),
    (
        "STO_PAGER, PAGER",
        "The program that shows text that is longer than the terminal; by default less.",
    ),
    ("BROWSER", "The program that sto-open(1) shows pages with."),
    (
        "STO_CONFIG",
        "The configuration file, instead of the default one; if empty, there is none.",
    ),
    ("XDG_DATA_HOME", "The parent of the default store's folder."),
];

const FILES: [(&str, &str); 4] = [
    (
        ".sto/",
        "The store of a project, in the working directory or one above it.",
    ),
    ("~/.local/share/sto/", "The default store."),
    (
        "~/.config/sto/config.toml",
        "Defaults of options, aliases of commands, and colours: sto-config(1).",
    ),
    (
        "sto.toml",
        "What a release must keep: the policy that find-regressions follows, in the working directory or one above it.",
    ),
];

/// The page of sto, then one for each command.
pub(crate) fn pages(mut command: Command) -> io::Result<Vec<Page>> {
    command = command.disable_help_subcommand(true);
    command.build();
    let version = command.get_version().unwrap_or_default().to_owned();
    let mut pages = vec![page(&command, &version, None)?];
    for subcommand in command.get_subcommands() {
        pages.push(page(subcommand, &version, Some(&command))?);
    }
    Ok(pages)
}

/// The page of a command; `parent` is the sto command, for its subcommands.
fn page(command: &Command, version: &str, parent: Option<&Command>) -> io::Result<Page> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let man = Man::new(command.clone());
    let notes = command.get_after_help().map(ToString::to_string);
    let notes = blocks(notes.as_deref().unwrap_or_default());

    // No date: the roff library would omit an empty argument.
    let title = name.to_uppercase();
    let mut page = format!(".TH {title} 1 \"\" \"sto {version}\" \"User Commands\"\n").into_bytes();
    man.render_name_section(&mut page)?;
    synopsis(command).to_writer(&mut page)?;
    man.render_description_section(&mut page)?;
    paragraphs(&notes).to_writer(&mut page)?;
    if parent.is_none() {
        commands(command).to_writer(&mut page)?;
    }
    man.render_options_section(&mut page)?;
    let mut end = Roff::new();
    exit_status(&mut end, &notes);
    if parent.is_none() {
        entries(&mut end, "ENVIRONMENT", &ENVIRONMENT);
        entries(&mut end, "FILES", &FILES);
    }
    examples(&mut end, &notes);
    see_also(&mut end, command, parent);
    end.to_writer(&mut page)?;
    Ok(Page {
        file_name: format!("{name}.1"),
        roff: page,
    })
}

/// The usage as clap prints it, in the fonts that man-pages(7) asks for.
fn synopsis(command: &Command) -> Roff {
    let usage = command.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage: ");
    let mut roff = Roff::new();
    roff.control("SH", ["SYNOPSIS"]);
    for line in usage.lines() {
        let mut words: Vec<Inline> = Vec::new();
        for word in line.split_whitespace() {
            let inner = word.trim_matches(|letter| "<>[].".contains(letter));
            let at = word.find(inner).unwrap_or(0);
            let is_argument = word.starts_with(['<', '[']) && !inner.starts_with('-');
            words.push(roman(&word[..at]));
            words.push(if is_argument {
                italic(inner.to_lowercase())
            } else {
                bold(inner)
            });
            words.push(roman(format!("{} ", &word[at + inner.len()..])));
        }
        roff.text(words);
        roff.control("br", []);
    }
    roff
}

/// The notes other than examples and exit statuses; they continue the description.
fn paragraphs(notes: &[Block]) -> Roff {
    let mut roff = Roff::new();
    for block in notes {
        match block {
            Block::Paragraph(paragraph) => {
                roff.control("PP", []);
                roff.text([roman(paragraph)]);
            }
            Block::Literal(lines) => {
                roff.control("PP", []);
                literal(&mut roff, lines.iter().map(|line| line.trim()));
            }
            Block::Examples(_) | Block::ExitStatus(_) => {}
        }
    }
    roff
}

fn literal<'a>(roff: &mut Roff, lines: impl Iterator<Item = &'a str>) {
    roff.control("RS", ["4"]);
    roff.control("EX", []);
    for line in lines {
        roff.text([roman(line)]);
    }
    roff.control("EE", []);
    roff.control("RE", []);
}

fn commands(command: &Command) -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["COMMANDS"]);
    for (group, names) in GROUPS {
        roff.control("SS", [group]);
        // `help` has no manual page.
        for name in names.iter().filter(|name| **name != "help") {
            roff.control("TP", []);
            roff.text([bold(format!("sto-{name}")), roman("(1)")]);
            roff.text([roman(about(command, name))]);
        }
    }
    roff
}

fn exit_status(roff: &mut Roff, notes: &[Block]) {
    let statuses = notes.iter().find_map(|block| match block {
        Block::ExitStatus(statuses) => Some(statuses.as_str()),
        _ => None,
    });
    roff.control("SH", ["EXIT STATUS"]);
    roff.text([roman(statuses.unwrap_or(super::EXIT_STATUS))]);
}

fn entries(roff: &mut Roff, section: &str, entries: &[(&str, &str)]) {
    roff.control("SH", [section]);
    for (name, what) in entries {
        roff.control("TP", []);
        roff.text([bold(*name)]);
        roff.text([roman(*what)]);
    }
}

fn examples(roff: &mut Roff, notes: &[Block]) {
    let examples = notes.iter().filter_map(|block| match block {
        Block::Examples(examples) => Some(examples),
        _ => None,
    });
    for (index, example) in examples.flatten().enumerate() {
        if index == 0 {
            roff.control("SH", ["EXAMPLES"]);
        } else {
            roff.control("PP", []);
        }
        if !example.what.is_empty() {
            roff.text([roman(format!("{}:", example.what))]);
        }
        literal(roff, [example.command.as_str()].into_iter());
    }
}

fn see_also(roff: &mut Roff, command: &Command, parent: Option<&Command>) {
    roff.control("SH", ["SEE ALSO"]);
    let name = command.get_name();
    let of_group =
        |(_, names): &(&str, &'static [&'static str])| names.contains(&name).then_some(*names);
    let related = GROUPS.iter().find_map(of_group).unwrap_or_default();
    let related = related
        .iter()
        .filter(|other| **other != name && **other != "help");
    let mut pages: Vec<String> = related.map(|other| format!("sto-{other}")).collect();
    pages.insert(0, if parent.is_some() { "sto" } else { "perf" }.to_owned());
    let mut line = Vec::new();
    for (index, page) in pages.into_iter().enumerate() {
        line.push(roman(if index == 0 { "" } else { ", " }));
        line.push(bold(page));
        line.push(roman("(1)"));
    }
    roff.text(line);
}
