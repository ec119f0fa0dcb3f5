//! Ctrl-C while something is written.

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::thread;
use sto_core::store::Store;

/// From here on, this process takes its half-written files away where it is asked to end.
pub(crate) fn leave_no_drafts() {
    // Without that they stay until somebody writes again.
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM]) else {
        return;
    };
    thread::spawn(move || {
        for signal in signals.forever() {
            Store::abandon_drafts();
            // Ends the process as if nobody had waited for the signal.
            let _ = emulate_default_handler(signal);
        }
    });
}
