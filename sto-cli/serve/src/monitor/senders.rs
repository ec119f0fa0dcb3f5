//! The senders of profiles, with the losses of each.

use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;
use sto_core::units::UnixSeconds;

/// Number of senders that are remembered. If there are more, those that were silent for longest are forgotten.
const MAX_SENDERS: usize = 1000;

/// Number of the newest reasons that are remembered of each sender.
const MAX_REASONS: usize = 10;

/// Length of a remembered name or reason in bytes.
const MAX_TEXT: usize = 500;

/// The senders of profiles.
#[derive(Default)]
pub(crate) struct Senders {
    by_name: Mutex<BTreeMap<String, SenderState>>,
    accepted: AtomicU64,
    bytes: AtomicU64,
    refused: AtomicU64,
}

/// Sums over all senders, including those that are forgotten.
pub(crate) struct Totals {
    pub(crate) accepted: u64,
    pub(crate) bytes: u64,
    pub(crate) refused: u64,
}

/// The profiles of a sender: counts, and reasons for losses.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct SenderState {
    /// The time of its last request.
    pub(crate) last_seen: UnixSeconds,
    /// The number of its profiles that are stored.
    pub(crate) accepted: u64,
    /// Their size as received.
    pub(crate) bytes: u64,
    /// The number of its profiles that were refused, lost, or stored in part.
    pub(crate) refused: u64,
    /// The newest reasons, oldest first.
    pub(crate) reasons: VecDeque<Reason>,
}

/// The reason why a profile was refused.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Reason {
    /// The last time.
    pub(crate) time: UnixSeconds,
    /// The number of times.
    pub(crate) count: u64,
    /// A sentence for the user.
    pub(crate) reason: String,
}

impl Senders {
    pub(crate) fn totals(&self) -> Totals {
        Totals {
            accepted: self.accepted.load(Relaxed),
            bytes: self.bytes.load(Relaxed),
            refused: self.refused.load(Relaxed),
        }
    }

    /// All senders by name.
    pub(crate) fn all(&self) -> BTreeMap<String, SenderState> {
        self.by_name
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    pub(super) fn accepted(&self, sender: &str, profiles: u64, bytes: u64) {
        self.accepted.fetch_add(profiles, Relaxed);
        self.bytes.fetch_add(bytes, Relaxed);
        self.update(sender, |state| {
            state.accepted += profiles;
            state.bytes += bytes;
        });
    }

    pub(super) fn refused(&self, sender: &str, reason: &str) {
        self.refused.fetch_add(1, Relaxed);
        let reason = shortened(reason);
        self.update(sender, |state| {
            state.refused += 1;
            let known = state
                .reasons
                .iter()
                .position(|known| known.reason == reason);
            let known = known.and_then(|at| state.reasons.remove(at));
            if known.is_none() && state.reasons.len() == MAX_REASONS {
                state.reasons.pop_front();
            }
            state.reasons.push_back(Reason {
                time: state.last_seen,
                count: known.map_or(0, |known| known.count) + 1,
                reason: reason.to_owned(),
            });
        });
    }

    fn update(&self, sender: &str, change: impl FnOnce(&mut SenderState)) {
        let sender = shortened(sender);
        let mut senders = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if !senders.contains_key(sender) && senders.len() == MAX_SENDERS {
            let oldest = senders.iter().min_by_key(|(_, state)| state.last_seen);
            if let Some(name) = oldest.map(|(name, _)| name.clone()) {
                senders.remove(&name);
            }
        }
        let state = senders.entry(sender.to_owned()).or_default();
        state.last_seen = now();
        change(state);
    }
}

fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(MAX_TEXT)]
}

fn now() -> UnixSeconds {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    UnixSeconds(since.map_or(0, |since| since.as_secs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_senders_is_bounded() {
        let senders = Senders::default();
        let long = "x".repeat(10_000);
        for i in 0..2 * MAX_SENDERS {
            senders.refused(&format!("{i}{long}"), &long);
        }
        for i in 0..2 * MAX_REASONS {
            senders.refused("one", &format!("reason {i}"));
        }
        let all = senders.all();
        assert_eq!(all.len(), MAX_SENDERS);
        assert!(all.keys().all(|name| name.len() <= MAX_TEXT));
        assert_eq!(all["one"].refused, 2 * MAX_REASONS as u64);
        assert_eq!(all["one"].reasons.len(), MAX_REASONS);
    }

    #[test]
    fn the_same_reason_is_counted_once() {
        let senders = Senders::default();
        senders.refused("a", "too large");
        senders.refused("a", "no samples");
        senders.refused("a", "too large");
        let reasons = &senders.all()["a"].reasons;
        let reasons: Vec<_> = reasons.iter().map(|r| (&*r.reason, r.count)).collect();
        assert_eq!(reasons, [("no samples", 1), ("too large", 2)]);
    }
}
