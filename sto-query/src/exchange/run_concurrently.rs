//! Concurrent execution of slow operations.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Number of threads, which hide the latency of the other end.
const WORKERS: usize = 8;

/// Does some work for each element concurrently. If several fail, returns the error of the first in order; elements
/// not yet started are then skipped.
pub(crate) fn run_concurrently<T: Sync, E: Send>(
    all: &[T],
    work: impl Fn(&T) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let failed: Mutex<Option<(usize, E)>> = Mutex::default();
    let failure = || failed.lock().unwrap_or_else(PoisonError::into_inner);
    let work_on = || {
        while failure().is_none() {
            let number = next.fetch_add(1, Relaxed);
            let Some(one) = all.get(number) else { break };
            if let Err(error) = work(one) {
                let mut failure = failure();
                if failure.as_ref().is_none_or(|&(known, _)| number < known) {
                    *failure = Some((number, error));
                }
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..WORKERS.min(all.len()) {
            // If no thread can be started, it takes longer.
            let _ = thread::Builder::new().spawn_scoped(scope, work_on);
        }
        work_on();
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(_, error)| Err(error))
}
