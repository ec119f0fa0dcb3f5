//! Shows text that is longer than the terminal in a pager, as git does.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the user turned paging off.
static IS_OFF: AtomicBool = AtomicBool::new(false);
/// Whether a pager is using the terminal.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

/// Turns paging off.
pub(crate) fn turn_off() {
    IS_OFF.store(true, Ordering::Relaxed);
}

/// Whether a pager is using the terminal, and handles Ctrl-C.
pub(crate) fn is_running() -> bool {
    IS_RUNNING.load(Ordering::Relaxed)
}

/// Shows text in a pager if standard output is a terminal with fewer lines; returns whether it did.
///
/// Leaving the pager early is not an error.
pub(crate) fn show(text: &str) -> bool {
    let Some(mut pager) = start(text) else {
        return false;
    };
    IS_RUNNING.store(true, Ordering::Relaxed);
    if let Some(mut input) = pager.stdin.take() {
        // The pager may exit before it has read everything.
        let _ = input.write_all(text.as_bytes());
    }
    let status = pager.wait();
    IS_RUNNING.store(false, Ordering::Relaxed);
    // Exit statuses of a shell for a program that does not exist or cannot be run.
    status.is_ok_and(|status| !matches!(status.code(), Some(126 | 127)))
}

/// Starts `$STO_PAGER`, `$PAGER`, or `less`, with a pipe to its input; `None` if no pager is needed or
/// wanted, or if none can be started.
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
    // As git does: keep colours, leave the screen as it is, and exit at once if the text fits.
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
