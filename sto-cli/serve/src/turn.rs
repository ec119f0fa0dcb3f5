//! Turns of work that takes a core.

use crate::problem::Problem;
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::spawn_blocking;

/// Works on a thread that may block. The turn is taken until the work is done, also if nobody waits for it any more.
pub(crate) async fn work<T: Send + 'static>(
    turn: OwnedSemaphorePermit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    let working = spawn_blocking(move || {
        let outcome = work();
        drop(turn);
        outcome
    });
    working.await.map_err(|_| Problem::internal())
}
