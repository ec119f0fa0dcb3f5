//! Signals that ask this process to end, such as Ctrl-C.

use crate::runtime::pager;
use signal_hook::consts::{SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::iterator::Signals;
use signal_hook::low_level::emulate_default_handler;
use std::sync::{Arc, Once, OnceLock, mpsc};
use std::{fs, io, thread};
use sto_core::files::TemporaryFiles;

/// The temporary files of this process, once it has any.
static TEMPORARIES: OnceLock<TemporaryFiles> = OnceLock::new();

/// The temporary files of this process.
pub(crate) fn temporaries() -> &'static TemporaryFiles {
    TEMPORARIES.get_or_init(TemporaryFiles::default)
}

/// Removes the temporary files without waiting or allocating.
pub(crate) fn try_abandon_temporaries() {
    if let Some(temporaries) = TEMPORARIES.get() {
        temporaries.try_remove_all_at_exit();
    }
}

/// Registers handlers for requests to end this process, except signals that its parent set to be ignored.
pub(crate) fn requests() -> io::Result<Signals> {
    let ignored = ignored_signals();
    let handled = [SIGINT, SIGTERM].into_iter();
    Signals::new(handled.filter(|signal| ignored >> (signal - 1) & 1 == 0))
}

/// Returns a future that is ready when this process is asked to end. A second request ends it at once.
#[cfg(feature = "serve")]
pub(crate) fn requested() -> io::Result<impl Future<Output = ()> + Send> {
    let mut requests = requests()?;
    let (sender, receiver) = tokio::sync::oneshot::channel();
    thread::Builder::new().spawn(move || {
        let mut requests = requests.forever();
        if requests.next().is_some() {
            let _ = sender.send(());
        }
        if let Some(signal) = requests.next() {
            temporaries().remove_all_at_exit();
            let _ = emulate_default_handler(signal);
        }
    })?;
    Ok(async {
        let _ = receiver.await;
    })
}

/// From now on, removes half-written files when this process is asked to end.
pub(crate) fn leave_no_temporary_files() {
    static ONCE: Once = Once::new();
    ONCE.call_once(take_requests);
}

fn take_requests() {
    let (sender, receiver) = mpsc::channel::<Signals>();
    let handle = move || {
        let Ok(mut requests) = receiver.recv() else {
            return;
        };
        for signal in requests.forever() {
            // While a pager is using the terminal, it handles Ctrl-C itself.
            if signal == SIGINT && pager::is_running() {
                continue;
            }
            temporaries().remove_all_at_exit();
            // End the process as if the signal had not been handled.
            let _ = emulate_default_handler(signal);
        }
    };
    // Without a thread or signal handlers, the files stay until the next write cleans up.
    if thread::Builder::new().spawn(handle).is_ok()
        && let Ok(requests) = requests()
    {
        let _ = sender.send(requests);
    }
}

/// From now on, a write beyond the limit on file sizes (`ulimit -f`) fails with an error, instead of
/// a signal that ends the process without a message (setrlimit(2), `RLIMIT_FSIZE`).
pub(crate) fn survive_file_size_limit() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

/// The signals that the parent of this process set to be ignored, as shells do for background
/// jobs; the lowest bit is signal 1 (proc_pid_status(5), `SigIgn`). 0 if the system
/// does not tell.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
