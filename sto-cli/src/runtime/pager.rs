//! Text that is longer than the terminal, a page at a time, as git shows it.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user does not want a pager.
static IS_OFF: AtomicBool = AtomicBool::new(false);
/// Whether a pager has the terminal.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Shows no text through a pager from here on.
pub(crate) fn turn_off() {
    IS_OFF.store(true, Ordering::Relaxed);
}

/// Whether a pager has the terminal: Ctrl-C is its own then.
pub(crate) fn is_running() -> bool {
    IS_RUNNING.load(Ordering::Relaxed)
}

/// Shows text through a pager where standard output is a terminal with fewer lines; whether it did.
///
/// A reader that leaves the pager early has had enough: that is no failure.
pub(crate) fn show(text: &str) -> bool {
    let Some(mut pager) = start(text) else {
        return false;
    };
    IS_RUNNING.store(true, Ordering::Relaxed);
    if let Some(mut input) = pager.stdin.take() {
        // It may have ended before it read everything.
        let _ = input.write_all(text.as_bytes());
    }
    let status = pager.wait();
    IS_RUNNING.store(false, Ordering::Relaxed);
    // What a shell says of a program that there is not, or that it may not run.
    status.is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

/// `$STO_PAGER`, `$PAGER`, or `less`, with its input to be written; `None` where text needs none, none is
/// wanted, or there is none.
fn start(text: &str) -> Option<Child> {
    if IS_OFF.load(Ordering::Relaxed) || !io::stdout().is_terminal() || fits(text) {
        return None;
    }
    let variable = |name: &str| std::env::var_os(name);
    if variable("TERM").is_none_or(|term| term == "dumb") {
        return None;
    }
    let mut command = match variable("STO_PAGER").or_else(|| variable("PAGER")) {
        None => Command::new("less"),
        Some(named) if named.is_empty() || named == "cat" => return None,
        Some(named) => {
            let mut shell = Command::new("sh");
            shell.args([OsString::from("-c"), named]);
            shell
        }
    };
    // As git does: keep colours, leave the screen as it is, and leave at once where the text fits.
    for (name, value) in [("LESS", "FRX"), ("LV", "-c")] {
        if variable(name).is_none() {
            command.env(name, value);
        }
    }
    command.stdin(Stdio::piped()).spawn().ok()
}

/// Whether the terminal shows all of the text, with a line for the next prompt.
fn fits(text: &str) -> bool {
    let Some((_, height)) = terminal_size::terminal_size() else {
        return false;
    };
    text.lines().count() < usize::from(height.0)
}
