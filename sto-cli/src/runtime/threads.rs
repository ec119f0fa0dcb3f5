//! The threads that there are to work with.

use rayon::{ThreadPoolBuildError, ThreadPoolBuilder};
use std::sync::OnceLock;

static ALONE: OnceLock<bool> = OnceLock::new();

/// Whether the system gives this process no thread but its first, as [`start`] found.
pub(crate) fn is_alone() -> bool {
    ALONE.get().is_some_and(|&alone| alone)
}

/// Starts a thread for each core; where the system gives no more (`ulimit -u`, a container's limit on
/// processes), all work is done by one, or by the first.
pub(crate) fn start() {
    let cores = ThreadPoolBuilder::new;
    let one = || ThreadPoolBuilder::new().num_threads(1);
    // rayon attempts to start its threads once, so it is tried with others before, which end at once.
    let is_to_be_had =
        |builder: ThreadPoolBuilder| builder.build_scoped(|thread| thread.run(), |_| ()).is_ok();
    let started: Result<(), ThreadPoolBuildError> = if is_to_be_had(cores()) {
        cores().build_global()
    } else if is_to_be_had(one()) {
        one().build_global()
    } else {
        let _ = ALONE.set(true);
        one().use_current_thread().build_global()
    };
    // It fails where a thread was taken by another process meanwhile; then rayon says so.
    let _ = started;
}
