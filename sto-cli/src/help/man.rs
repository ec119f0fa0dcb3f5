//! Manual pages, in the sections of man-pages(7).

use super::text::{Block, blocks};
use super::{GROUPS, about};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};
use std::io;

/// A page, and the name of its file.
pub(crate) struct Page {
    pub(crate) file_name: String,
    pub(crate) roff: Vec<u8>,
}

const ENVIRONMENT: [(&str, &str); 7] = [
    (
        "STO_STORE",
        "The folder of the store, where no --store names one.",
    ),
    (
        "NO_COLOR, CLICOLOR_FORCE",
        "Output without colours, and with them where it goes to no terminal.",
    ),
    ("COLUMNS", "The width of output and of help."),
    (
        "STO_PAGER, PAGER",
        "What shows text that is longer than the terminal; by default less.",
    ),
    ("BROWSER", "What sto-open(1) shows pages with."),
    (
        "STO_CONFIG",
        "The configuration file, instead of the usual one; none where it is empty.",
    ),
    (
        "XDG_DATA_HOME",
        "Where the folder of the store is, where nothing else names one.",
    ),
];

const FILES: [(&str, &str); 4] = [
    (
        ".sto/",
        "The store of a project, in this folder or in one above it.",
    ),
    ("~/.local/share/sto/", "The store, where there is no other."),
    (
        "~/.config/sto/config.toml",
        "Defaults of options, other names for commands, and colours: sto-config(1).",
    ),
    (
        "sto.toml",
        "What a release must keep: the policy that find-regressions follows, in this folder or in one above it.",
    ),
];

/// The page of sto, and then one for every command.
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

/// The page of a command; `parent` is that of sto, for a command of it.
fn page(command: &Command, version: &str, parent: Option<&Command>) -> io::Result<Page> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    let man = Man::new(command.clone());
    let notes = command.get_after_help().map(ToString::to_string);
    let notes = blocks(notes.as_deref().unwrap_or_default());

    // No date: the roff library would leave an empty argument out.
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

/// The usage as clap has it, in the type that man-pages(7) asks for.
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
            words.push(match is_argument {
                true => italic(inner.to_lowercase()),
                false => bold(inner),
            });
            words.push(roman(format!("{} ", &word[at + inner.len()..])));
        }
        roff.text(words);
        roff.control("br", []);
    }
    roff
}

/// What the notes say beside examples and exit statuses: it goes on with the description.
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
        // The manual is read by man; `help` has no page.
        for name in names.iter().filter(|name| **name != "help") {
            roff.control("TP", []);
            roff.text([bold(format!("sto-{name}")), roman("(1)")]);
            roff.text([roman(about(command, name))]);
        }
    }
    roff
}

fn exit_status(roff: &mut Roff, notes: &[Block]) {
    let said = notes.iter().find_map(|block| match block {
        Block::ExitStatus(statuses) => Some(statuses.as_str()),
        _ => None,
    });
    roff.control("SH", ["EXIT STATUS"]);
    roff.text([roman(said.unwrap_or(super::EXIT_STATUS))]);
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
    let beside =
        |(_, names): &(&str, &'static [&'static str])| names.contains(&name).then_some(*names);
    let related = GROUPS.iter().find_map(beside).unwrap_or_default();
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
