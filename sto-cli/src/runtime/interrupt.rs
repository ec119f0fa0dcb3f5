//! Requests to end this process, as by Ctrl-C.

use crate::runtime::pager;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::{Arc, Once, OnceLock, mpsc};
use std::{fs, io, thread};
use sto_core::files::Temporaries;

/// The temporary files of this process, once it works on any.
static TEMPORARIES: OnceLock<Temporaries> = OnceLock::new();

/// The temporary files of this process.
pub(crate) fn temporaries() -> &'static Temporaries {
    TEMPORARIES.get_or_init(Temporaries::default)
}

/// Removes them for who ends the process and may neither wait nor allocate.
pub(crate) fn try_abandon_temporaries() {
    if let Some(temporaries) = TEMPORARIES.get() {
        temporaries.try_abandon();
    }
}

/// Waits for requests to end this process, but for those that whoever started it had it ignore.
pub(crate) fn requests() -> io::Result<Signals> {
    let ignored = ignored_signals();
    let heeded = [SIGINT, SIGTERM].into_iter();
    Signals::new(heeded.filter(|signal| ignored >> (signal - 1) & 1 == 0))
}

/// From here on, this process takes its half-written files away where it is asked to end.
pub(crate) fn leave_no_temporary_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(take_requests);
}

fn take_requests() {
    let (give, take) = mpsc::channel::<Signals>();
    let handle = move || {
        let Ok(mut requests) = take.recv() else {
            return;
        };
        for signal in requests.forever() {
            // The pager has the terminal then, and does with Ctrl-C what its user wants.
            if signal == SIGINT && pager::is_running() {
                continue;
            }
            temporaries().abandon();
            // Ends the process as if nobody had waited for the signal.
            let _ = emulate_default_handler(signal);
        }
    };
    // Without a thread to handle requests, or them, the files stay until somebody writes again.
    if thread::Builder::new().spawn(handle).is_ok()
        && let Ok(requests) = requests()
    {
        let _ = give.send(requests);
    }
}

/// From here on, a write beyond the limit on the size of files (`ulimit -f`) fails, and is reported, where the
/// system would end this process without a word (setrlimit(2), `RLIMIT_FSIZE`).
pub(crate) fn survive_file_size_limit() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// The signals that whoever started this process had it ignore, as a shell does for what it runs in
/// the background; the lowest bit is signal 1 (proc_pid_status(5), `SigIgn`). None where the system
/// does not say.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
