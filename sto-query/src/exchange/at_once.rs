//! Waiting for several answers at once.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How many are waited for: to each, the other end takes some time for the way there and back.
const WORKERS: usize = 8;

/// Does some work for each of these. Of several that fail, it is the first one's error that comes back; those that
/// were not begun then are left.
pub(crate) fn at_once<T: Sync, E: Send>(
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
            // Without another thread it takes longer.
            let _ = thread::Builder::new().spawn_scoped(scope, work_on);
        }
        work_on();
    });
    let failed = failed.into_inner().unwrap_or_else(PoisonError::into_inner);
    failed.map_or(Ok(()), |(_, error)| Err(error))
}
