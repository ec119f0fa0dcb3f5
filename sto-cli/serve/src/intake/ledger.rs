//! Counts of the intake, which the handlers and its threads share.

use crate::problem::Problem;
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sto_core::units::Bytes;

/// Number of segments that wait for the store at which senders are asked to wait.
const MAX_WAITING: u64 = 3;

/// State that the threads and the handlers share.
#[derive(Default)]
pub(super) struct Ledger {
    max_spool: u64,
    pub(super) accepted: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) refused: AtomicU64,
    pub(super) throttled: AtomicU64,
    pub(super) windows: AtomicU64,
    pub(super) spool_bytes: AtomicU64,
    /// Number of closed segments whose windows are not in the store.
    pub(super) waiting: AtomicU64,
    /// Whether profiles that an earlier server acknowledged are still being read.
    pub(super) is_replaying: AtomicBool,
    problem: Mutex<Option<String>>,
    quarantined: Mutex<Vec<String>>,
    pulled: Mutex<BTreeMap<String, Option<String>>>,
}

/// Counts of arrived and stored profiles, and current problems.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct IntakeStatus {
    /// Acknowledged profiles.
    pub(crate) accepted: u64,
    /// Profiles that were sent again, and counted once.
    pub(crate) repeated: u64,
    /// Profiles that could not be read.
    pub(crate) refused: u64,
    /// Profiles whose senders were asked to wait.
    pub(crate) throttled: u64,
    /// Windows that were stored.
    pub(crate) windows: u64,
    /// Bytes of acknowledged profiles that are not in the store yet.
    pub(crate) spool_bytes: u64,
    /// Number of segments of the spool whose windows are not in the store yet.
    pub(crate) waiting_segments: u64,
    /// Whether profiles that an earlier server acknowledged are still being read.
    pub(crate) is_replaying: bool,
    /// Why windows cannot be stored now.
    pub(crate) problem: Option<String>,
    /// Acknowledged profiles that cannot be stored, and the files that have them.
    pub(crate) quarantined: Vec<String>,
    /// The addresses from which profiles are fetched, each with the problem of the last time.
    pub(crate) pulled: BTreeMap<String, Option<String>>,
}

pub(super) fn add(counter: &AtomicU64, count: u64) {
    counter.fetch_add(count, Relaxed);
}

impl Ledger {
    pub(super) fn new(max_spool: Bytes) -> Ledger {
        Ledger {
            max_spool: max_spool.0,
            ..Ledger::default()
        }
    }

    /// Asks a sender to wait.
    pub(super) fn busy(&self, why: &str) -> Problem {
        add(&self.throttled, 1);
        Problem::new(
            StatusCode::TOO_MANY_REQUESTS,
            format!("{why}; try again later"),
        )
    }

    /// Returns an error if the spool is full.
    pub(super) fn check_room(&self) -> Result<(), Problem> {
        let waiting = self.waiting.load(Relaxed);
        if self.spool_bytes.load(Relaxed) < self.max_spool && waiting < MAX_WAITING {
            return Ok(());
        }
        Err(self.busy("profiles arrive faster than they can be stored"))
    }

    /// Returns an error while new profiles would have to wait for those that an earlier server acknowledged.
    pub(super) fn check_ready(&self) -> Result<(), Problem> {
        if !self.is_replaying.load(Relaxed) {
            return Ok(());
        }
        Err(Problem::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "the server is still reading the profiles in the spool that an earlier one acknowledged; try again later",
        ))
    }

    /// Whether storing takes longer than receiving, so that windows should become larger instead of more.
    pub(super) fn is_behind(&self) -> bool {
        self.waiting.load(Relaxed) > 1
    }

    pub(super) fn count_refused(&self) {
        add(&self.refused, 1);
    }

    pub(super) fn status(&self) -> IntakeStatus {
        let count = |counter: &AtomicU64| counter.load(Relaxed);
        IntakeStatus {
            accepted: count(&self.accepted),
            repeated: count(&self.repeated),
            refused: count(&self.refused),
            throttled: count(&self.throttled),
            windows: count(&self.windows),
            spool_bytes: count(&self.spool_bytes),
            waiting_segments: count(&self.waiting),
            is_replaying: self.is_replaying.load(Relaxed),
            problem: lock(&self.problem).clone(),
            quarantined: lock(&self.quarantined).clone(),
            pulled: lock(&self.pulled).clone(),
        }
    }

    pub(super) fn note_pull(&self, address: String, problem: Option<String>) {
        lock(&self.pulled).insert(address, problem);
    }

    pub(super) fn set_problem(&self, problem: Option<String>) {
        *lock(&self.problem) = problem;
    }

    pub(super) fn quarantine(&self, what: String) {
        lock(&self.quarantined).push(what);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
