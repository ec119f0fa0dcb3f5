//! What the terminal can do, and what is said on standard error.

use crate::args::inputs::Input;
use crate::runtime::threads;
use clap::ColorChoice;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use std::ffi::OsString;
use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use sto_core::ingest::Stage;
use sto_query::render::{Style, printable};

/// How text on standard output is laid out: as wide as the terminal and in colour, or as wide as
/// it gets and plain where it goes elsewhere.
pub(crate) fn style() -> Style {
    let terminal = io::stdout().is_terminal();
    let choice = COLOR.get().copied().unwrap_or(ColorChoice::Auto);
    Style {
        width: columns().or_else(|| terminal.then(|| terminal_width().unwrap_or(80))),
        color: wants_color(choice, terminal, &|name| std::env::var_os(name)),
    }
}

/// The columns that help has, where that is known.
pub(crate) fn help_width() -> Option<usize> {
    columns().or_else(terminal_width)
}

/// What `$COLUMNS` says.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok();
    columns.filter(|&width| width > 0)
}

fn terminal_width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size()?;
    Some(usize::from(width.0)).filter(|&width| width > 0)
}

/// What `--color` says.
static COLOR: OnceLock<ColorChoice> = OnceLock::new();

/// Takes the user's choice, once.
pub(crate) fn set_color(choice: ColorChoice) {
    let _ = COLOR.set(choice);
}

/// The user's choice, and else the rules of <https://no-color.org> and
/// <https://bixense.com/clicolors/>.
fn wants_color(
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

/// Says a line on standard error, such as `warning: ...`.
///
/// Nobody is left to be told where standard error itself cannot be written.
pub(crate) fn say(kind: &str, message: &str) {
    let _ = writeln!(io::stderr(), "{kind}: {}", printable(message));
}

/// Names that a list shows at most.
const LISTED: usize = 20;

/// Says a line on standard error, and under it names that can be pasted into a command.
pub(crate) fn list(message: &str, names: &[String]) {
    let mut text = format!("{}:\n", printable(message));
    for name in names.iter().take(LISTED) {
        text += &format!("  {}\n", printable(name));
    }
    if let Some(more @ 1..) = names.len().checked_sub(LISTED) {
        text += &format!("  and {more} more\n");
    }
    tell(&text);
}

/// Writes text to standard error, where standard output is another program's.
pub(crate) fn tell(text: &str) {
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Says whom this command waits for.
pub(crate) fn tell_wait(locked: &Path, by: Option<&str>) {
    let by = by.unwrap_or("another process");
    say(
        "note",
        &format!("waiting for {by}, which has {} locked", locked.display()),
    );
}

/// Says what a user should know of a file that was read all the same.
pub(crate) fn warn(file: &Path, warnings: &[String]) {
    for warning in warnings {
        say("warning", &format!("{}: {warning}", file.display()));
    }
}

/// Says which of several runs is made: on a terminal in one line, where what is run does not print there
/// itself; else in a line each.
pub(crate) struct Counter {
    is_one_line: bool,
}

impl Counter {
    /// `is_silent` is whether what is run prints nothing on standard output.
    pub(crate) fn new(is_silent: bool) -> Counter {
        let prints = io::stdout().is_terminal() && !is_silent;
        Counter {
            is_one_line: io::stderr().is_terminal() && !prints,
        }
    }

    pub(crate) fn show(&self, text: &str) {
        let text = printable(text);
        match self.is_one_line {
            // A line that is broken in two would stay.
            true => {
                let width = terminal_size::terminal_size_of(io::stderr());
                let width = width.map_or(80, |(width, _)| usize::from(width.0));
                let text: String = text.chars().take(width.saturating_sub(1)).collect();
                tell(&format!("\r\x1b[K{text}"));
            }
            false => tell(&format!("{text}\n")),
        }
    }

    /// Leaves the line to what is said next.
    pub(crate) fn end(&self) {
        if self.is_one_line {
            tell("\r\x1b[K");
        }
    }
}

/// Shows on a terminal what is worked on where that takes more than a second: a bar with the rate and the
/// time left where it is known how much there is to do, and else the time it has taken.
pub(crate) struct Progress {
    bar: ProgressBar,
    name: String,
    /// How much of the work each file is.
    files: Vec<u64>,
    begun: Instant,
    /// Begins to show it in time, unless the sender is gone by then.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work that takes less is done before a display could be read.
    const WORTH_SHOWING: Duration = Duration::from_secs(1);

    /// Of a file that is read.
    pub(crate) fn new(file: &Path) -> Progress {
        Progress::begin(Vec::new(), file)
    }

    /// Of files that are read: how many bytes of them are done, or how many files where one has no size.
    pub(crate) fn of_files(files: &[Input]) -> Progress {
        if let [file] = files {
            return Progress::new(&file.path);
        }
        let size = |file: &Input| {
            let found = file.path.metadata().ok()?;
            found.is_file().then_some(found.len())
        };
        let sizes: Option<Vec<u64>> = files.iter().map(size).collect();
        let template = match sizes {
            Some(_) => "{wide_bar} {msg}, {bytes} of {total_bytes}, {bytes_per_sec}{left}",
            None => "{wide_bar} {msg}, {rate} files/s{left}",
        };
        let progress =
            Progress::begin(sizes.unwrap_or_else(|| vec![1; files.len()]), Path::new(""));
        progress.bar.set_length(progress.files.iter().sum());
        progress.bar.set_style(bar_style(template));
        progress.files_done(0);
        progress
    }

    /// Of a store that is worked on.
    pub(crate) fn of_store(doing: &str, path: &Path) -> Progress {
        let progress = Progress::begin(Vec::new(), path);
        progress
            .bar
            .set_message(format!("{doing} {}", progress.name));
        progress
    }

    /// So many of the files are done, the first ones.
    pub(crate) fn files_done(&self, done: usize) {
        self.bar.set_position(self.files.iter().take(done).sum());
        self.bar
            .set_message(format!("{done} of {} files", self.files.len()));
        self.show_if_late();
    }

    /// Says a line above the display.
    pub(crate) fn say(&self, kind: &str, message: &str) {
        self.bar.suspend(|| say(kind, message));
    }

    fn begin(files: Vec<u64>, path: &Path) -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})");
        bar.set_style(style.expect("the template is well-formed"));
        let shown = bar.clone();
        let wait = move |ended: Receiver<()>| {
            if ended.recv_timeout(Self::WORTH_SHOWING) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                // It moves by a thread of its own.
                shown.enable_steady_tick(Duration::from_millis(100));
            }
        };
        let is_seen = io::stderr().is_terminal() && !threads::is_alone();
        let waiting = is_seen.then(|| {
            let (end, ended) = channel();
            let thread = thread::Builder::new().spawn(move || wait(ended)).ok()?;
            Some((end, thread))
        });
        Progress {
            bar,
            name: printable(&path.display().to_string()).into_owned(),
            files,
            begun: Instant::now(),
            waiting: waiting.flatten(),
        }
    }

    /// Without a thread that does it, it is shown as the work goes on.
    fn show_if_late(&self) {
        let is_late = self.begun.elapsed() >= Self::WORTH_SHOWING;
        if self.waiting.is_none() && is_late && self.bar.is_hidden() && io::stderr().is_terminal() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// What is done with the file; several are in work at once, of which it is not shown.
    pub(crate) fn stage(&self, stage: Stage) {
        let doing = match stage {
            Stage::Reading => "reading",
            Stage::Symbolizing => "looking up symbols of",
            Stage::Interning => "building the tree of",
            Stage::Storing => "storing",
        };
        if self.files.is_empty() {
            self.bar.set_message(format!("{doing} {}", self.name));
            self.show_if_late();
        }
    }

    /// So many of the store's profiles are merged, or need not be.
    pub(crate) fn merged(&self, done: usize, profiles: usize) {
        if self.bar.length().is_none() {
            self.bar.set_style(bar_style(
                "{wide_bar} {msg}: {pos} of {len} profiles, {rate}/s{left}",
            ));
            self.bar.set_length(profiles as u64);
            // What need not be merged says nothing of the rate.
            self.bar.set_position(done as u64);
            self.bar.reset_eta();
        }
        self.bar.set_position(done as u64);
        self.show_if_late();
    }
}

fn bar_style(template: &str) -> ProgressStyle {
    let style = ProgressStyle::with_template(template).expect("the template is well-formed");
    let rate = |state: &ProgressState, to: &mut dyn fmt::Write| {
        let _ = write!(to, "{:.1}", state.per_sec());
    };
    // It is not known before something is done.
    let left = |state: &ProgressState, to: &mut dyn fmt::Write| {
        if state.per_sec() > 0.0 {
            let _ = write!(to, ", {:#} left", HumanDuration(state.eta()));
        }
    };
    style
        .with_key("rate", rate)
        .with_key("left", left)
        .progress_chars("=> ")
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.waiting.take() {
            drop(end);
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(terminal: bool, variables: &[(&str, &str)]) -> bool {
        wants_color(ColorChoice::Auto, terminal, &|name| {
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
        assert!(wants_color(ColorChoice::Always, false, &plain));
        assert!(!wants_color(ColorChoice::Never, true, &forced));
    }

    #[test]
    fn force_colors_a_pipe_but_zero_does_not() {
        assert!(color(false, &[("CLICOLOR_FORCE", "1")]));
        assert!(!color(false, &[("CLICOLOR_FORCE", "0")]));
        assert!(!color(false, &[]));
    }

    #[test]
    fn a_dumb_terminal_stays_plain() {
        assert!(!color(true, &[("TERM", "dumb")]));
        assert!(color(true, &[("TERM", "xterm")]));
    }
}
