//! The capabilities of the terminal, and messages on standard error.

use crate::runtime::{WORDS, hints};
use clap::ColorChoice;
#[cfg(feature = "serve")]
use serde::Serialize;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use sto_core::Notice;
use sto_core::store::Waiting;
use sto_query::text::{Colors, Style, printable};

/// Style of text on standard output: as wide as the terminal and coloured; without limit and
/// plain if output goes elsewhere.
pub(crate) fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let (choice, colors) = COLORS.get().copied().unwrap_or_default();
    Style {
        width: columns().or_else(|| terminal.then(|| terminal_width().unwrap_or(80))),
        colors: wants_color(choice, terminal).then_some(colors),
        full_names: FULL_NAMES.load(Ordering::Relaxed),
        words: WORDS,
    }
}

/// Style of text that goes into a file.
pub(crate) fn plain() -> Style {
    Style {
        full_names: FULL_NAMES.load(Ordering::Relaxed),
        words: WORDS,
        ..Style::default()
    }
}

/// The width of help in columns, if known.
pub(crate) fn help_width() -> Option<usize> {
    columns().or_else(terminal_width)
}

/// The value of `$COLUMNS`.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok();
    columns.filter(|&width| width > 0)
}

fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size()?;
    Some(usize::from(width.0)).filter(|&width| width > 0)
}

/// The choices of `--color` and the configuration.
static COLORS: OnceLock<(ColorChoice, Colors)> = OnceLock::new();

/// Whether `--full-names` was given.
static FULL_NAMES: AtomicBool = AtomicBool::new(false);

/// Makes all text show names of functions in full.
pub(crate) fn show_full_names() {
    FULL_NAMES.store(true, Ordering::Relaxed);
}

/// Sets the user's choice, once.
pub(crate) fn set_colors(choice: ColorChoice, colors: Colors) {
    let _ = COLORS.set((choice, colors));
}

/// Whether output is coloured: the user's choice, otherwise the rules of <https://no-color.org> and
/// <https://bixense.com/clicolors/>.
pub(crate) fn wants_color(choice: ColorChoice, is_terminal: bool) -> bool {
    wants_color_by(choice, is_terminal, &|name| std::env::var_os(name))
}

fn wants_color_by(
    choice: ColorChoice,
    terminal: bool,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> bool {
    match choice {
        ColorChoice::Always => return true,
        ColorChoice::Never => return false,
        ColorChoice::Auto => {}
    }
    let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    if set("NO_COLOR") {
        return false;
    }
    if variable("CLICOLOR_FORCE").is_some_and(|value| !value.is_empty() && value != "0") {
        return true;
    }
    terminal && variable("TERM").is_none_or(|term| term != "dumb")
}

/// Prints a line on standard error, such as `warning: ...`.
///
/// Errors are ignored, as they could not be reported.
pub(crate) fn print_message(kind: &str, message: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {}", printable(message));
}

/// Prints data as a line of JSON on standard error.
#[cfg(feature = "serve")]
pub(crate) fn print_json(data: &impl Serialize) {
    if let Ok(line) = serde_json::to_string(data) {
        let _ = writeln!(io::stderr(), "{line}");
    }
}

/// Maximum number of names in a list.
const LISTED: usize = 20;

/// Prints a line on standard error, and below it names that can be pasted into a command.
pub(crate) fn print_list(message: &str, names: &[String]) {
    let mut text = format!("{}:\n", printable(message));
    for name in names.iter().take(LISTED) {
        text += &format!("  {}\n", printable(name));
    }
    if let Some(more @ 1..) = names.len().checked_sub(LISTED) {
        text += &format!("  and {more} more\n");
    }
    print_text(&text);
}

/// Writes text to standard error; errors are ignored.
pub(crate) fn print_text(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Notes which process this command waits for.
pub(crate) fn note_waiting(waiting: &Waiting) {
    let by = waiting.holders.as_deref().unwrap_or("another process");
    let locked = waiting.path.display();
    print_message(
        "note",
        &format!("waiting for {by}, which has {locked} locked"),
    );
}

/// Prints warnings about a file that was read nevertheless.
pub(crate) fn warn(file: &Path, warnings: &[Notice]) {
    for warning in warnings {
        let warning = hints::notice_text(warning);
        print_message("warning", &format!("{}: {warning}", file.display()));
    }
}

/// Shows which of several runs is being made: in one line on a terminal, unless the program prints there
/// itself; otherwise with one line per run.
pub(crate) struct Counter {
    is_one_line: bool,
}

impl Counter {
    /// `is_silent` tells whether the program prints nothing on standard output.
    pub(crate) fn new(is_silent: bool) -> Counter {
        let prints = io::stdout().is_terminal() && !is_silent;
        Counter {
            is_one_line: io::stderr().is_terminal() && !prints,
        }
    }

    pub(crate) fn show(&self, text: &str) {
        let text = printable(text);
        if self.is_one_line {
            // A wrapped line could not be erased.
            let width = terminal_size::terminal_size_of(io::stderr());
            let width = width.map_or(80, |(width, _)| usize::from(width.0));
            let text: String = text.chars().take(width.saturating_sub(1)).collect();
            print_text(&format!("\r\x1b[K{text}"));
        } else {
            print_text(&format!("{text}\n"));
        }
    }

    /// Clears the line for other messages.
    pub(crate) fn end(&self) {
        if self.is_one_line {
            print_text("\r\x1b[K");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(terminal: bool, variables: &[(&str, &str)]) -> bool {
        wants_color_by(ColorChoice::Auto, terminal, &|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn no_color_wins_over_force_and_terminal() {
        assert!(!color(true, &[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")]));
        assert!(color(true, &[("NO_COLOR", "")]));
    }

    #[test]
    fn the_option_wins_over_all_variables() {
        let forced = |name: &str| (name == "CLICOLOR_FORCE").then(|| OsString::from("1"));
        let plain = |name: &str| (name == "NO_COLOR").then(|| OsString::from("1"));
        assert!(wants_color_by(ColorChoice::Always, false, &plain));
        assert!(!wants_color_by(ColorChoice::Never, true, &forced));
    }

    #[test]
    fn force_colors_a_pipe_but_zero_does_not() {
        assert!(color(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!color(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!color(false, &[]));
    }

    #[test]
    fn a_dumb_terminal_is_not_coloured() {
        assert!(!color(true, &[("TERM", "dumb")]));
        assert!(color(true, &[("TERM", "xterm")]));
    }
}
