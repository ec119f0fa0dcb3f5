//! The thread that writes to the store: new windows, longer ones instead of them, and removals.

use super::ledger::{Ledger, add};
use super::windows::Windows;
use super::{spool, steps};
use crate::clock::now;
use crate::services::Retention;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};
use sto_core::StoreError;
use sto_core::store::{NewProfile, Store};
use tokio::sync::oneshot;

/// A segment that takes no further records, and its windows.
pub(super) struct Closed {
    pub(super) segment: Option<(PathBuf, u64)>,
    pub(super) windows: Windows,
    pub(super) done: Option<oneshot::Sender<()>>,
}

/// The thread that writes to the store.
pub(super) struct Storing {
    store: Store,
    ledger: Arc<Ledger>,
    retention: Retention,
    /// When windows are merged next, and when the oldest are removed next.
    merge_at: Instant,
    expire_at: Instant,
}

/// Time after which storing windows is tried again, and a lock on the spool.
pub(super) const RETRY: Duration = Duration::from_secs(1);
/// Time between rounds of merging.
const MERGE_EVERY: Duration = Duration::from_secs(30);
/// Time between removals of old windows. Each removal rewrites the store.
const EXPIRE_EVERY: Duration = Duration::from_secs(6 * 3600);

impl Storing {
    pub(super) fn new(ledger: Arc<Ledger>, store: Store, retention: Retention) -> Storing {
        let soon = Instant::now() + MERGE_EVERY;
        Storing {
            store,
            ledger,
            retention,
            merge_at: soon,
            expire_at: soon,
        }
    }

    /// Runs until no further segments can come.
    pub(super) fn run(mut self, closed: &Receiver<Closed>) {
        loop {
            let wait = self.merge_at.saturating_duration_since(Instant::now());
            match closed.recv_timeout(wait) {
                Ok(closed) => self.empty(closed),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
            if self.merge_at <= Instant::now() {
                self.maintain();
            }
        }
    }

    /// Stores the windows of a segment, and deletes it.
    fn empty(&self, closed: Closed) {
        let windows = closed.windows.finish();
        self.store(&windows);
        if let Some((path, bytes)) = closed.segment {
            while let Err(error) = spool::delete(&path) {
                let why = format!("cannot delete {}: {error}", path.display());
                self.ledger.set_problem(Some(why));
                thread::sleep(RETRY);
            }
            self.ledger.spool_bytes.fetch_sub(bytes, Relaxed);
        }
        self.ledger.waiting.fetch_sub(1, Relaxed);
        if let Some(done) = closed.done {
            let _ = done.send(());
        }
    }

    /// Stores windows, as soon as that is possible.
    fn store(&self, windows: &[NewProfile]) {
        loop {
            let refused = match self.store.writer().add_all(windows) {
                Ok(added) => {
                    self.ledger.set_problem(None);
                    return add(&self.ledger.windows, added as u64);
                }
                Err(StoreError::Refused { why, .. }) => why,
                Err(error) => {
                    self.ledger.set_problem(Some(error.to_string()));
                    thread::sleep(RETRY);
                    continue;
                }
            };
            let [window] = windows else {
                // Only some of them break a rule.
                let (some, others) = windows.split_at(windows.len() / 2);
                self.store(some);
                return self.store(others);
            };
            let what = format!("a window of {}: {refused}", window.build.executable);
            return self.ledger.quarantine(what);
        }
    }

    /// Merges older windows, and removes the oldest. A failure is tried again in the next round.
    fn maintain(&mut self) {
        let now = now();
        match steps::merge_some(&self.store, now) {
            Ok(true) => {}
            merged => {
                self.merge_at = Instant::now() + MERGE_EVERY;
                self.ledger
                    .set_problem(merged.err().map(|error| error.to_string()));
            }
        }
        if self.expire_at <= Instant::now() {
            self.expire_at = Instant::now() + EXPIRE_EVERY;
            let expired = steps::expire(&self.store, &self.retention, now);
            let problem = expired.err().map(|error| error.to_string());
            self.ledger.set_problem(problem);
        }
    }
}
