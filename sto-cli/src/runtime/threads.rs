//! The worker threads of this process.

use rayon::{ThreadBuilder, ThreadPoolBuilder};
use std::sync::OnceLock;
use std::sync::mpsc::{Sender, channel};
use std::{env, io, thread};

/// Whether the system allowed this process fewer threads than it has cores.
static SCARCE: OnceLock<bool> = OnceLock::new();

/// Whether [`start`] found that the system allows fewer threads than there are cores.
pub(crate) fn are_scarce() -> bool {
    SCARCE.get().is_some_and(|&scarce| scarce)
}

/// Starts a thread for each core. If the system does not allow that many (`ulimit -u`, a container's limit
/// on processes), all work is done by one thread, or by the current one.
pub(crate) fn start() {
    SCARCE.get_or_init(|| {
        // rayon tries to start its threads only once, so start them before.
        let wanted = wanted();
        let mut threads: Vec<_> = (0..wanted).map_while(|_| spawn_waiting().ok()).collect();
        let are_scarce = threads.len() < wanted;
        if are_scarce {
            // Let the others exit, because something else may need a thread.
            threads.truncate(1);
        }
        let pool = ThreadPoolBuilder::new().num_threads(threads.len().max(1));
        let started = match threads[..] {
            [] => pool.use_current_thread().build_global(),
            _ => pool
                .spawn_handler(|work| {
                    let thread = &threads[work.index()];
                    thread.send(work).map_err(|_| io::ErrorKind::Other.into())
                })
                .build_global(),
        };
        debug_assert!(started.is_ok(), "nothing has used the pool before");
        are_scarce
    });
}

/// The number of threads that rayon would start.
fn wanted() -> usize {
    let named = env::var("RAYON_NUM_THREADS").ok();
    let named = named.and_then(|number| number.parse().ok());
    let named = named.filter(|&number| number > 0);
    named.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from))
}

/// Starts a thread that waits for work, and exits when the sender is dropped.
fn spawn_waiting() -> io::Result<Sender<ThreadBuilder>> {
    let (sender, receiver) = channel::<ThreadBuilder>();
    let work = move || {
        if let Ok(work) = receiver.recv() {
            work.run();
        }
    };
    thread::Builder::new().spawn(work)?;
    Ok(sender)
}
