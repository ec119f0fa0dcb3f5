//! The senders of profiles, with the losses of each.

use crate::clock::now;
use crate::problem::Problem;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use sto_core::units::UnixSeconds;

/// Number of senders that are remembered. If there are more, those that were silent for longest are forgotten.
const MAX_SENDERS: usize = 1000;

/// Number of the newest reasons that are remembered of each sender.
const MAX_REASONS: usize = 10;

/// Length of a remembered name or reason in bytes.
const MAX_TEXT: usize = 500;

/// The senders of profiles.
///
/// A name is `KIND` or `KIND: NAME`, such as `otlp: shop`.
#[derive(Default)]
pub(crate) struct Senders {
    by_name: Mutex<BTreeMap<String, SenderState>>,
    by_kind: Mutex<BTreeMap<String, Totals>>,
}

/// Sums over all senders of a kind, including those that are forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) accepted: u64,
    pub(crate) bytes: u64,
    /// Profiles that were refused or stored in part.
    pub(crate) lost: BTreeMap<Loss, u64>,
}

/// Why a profile, or a part of it, is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Loss {
    Access,
    Busy,
    Conflict,
    Incomplete,
    Internal,
    Invalid,
    TooLarge,
    Unavailable,
}

impl Loss {
    pub(super) fn of(problem: &Problem) -> Loss {
        match problem.status {
            401 | 403 => Loss::Access,
            409 => Loss::Conflict,
            413 => Loss::TooLarge,
            429 => Loss::Busy,
            503 => Loss::Unavailable,
            500.. => Loss::Internal,
            _ => Loss::Invalid,
        }
    }

    /// The value of a label in `/metrics`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Loss::Access => "access",
            Loss::Busy => "busy",
            Loss::Conflict => "conflict",
            Loss::Incomplete => "incomplete",
            Loss::Internal => "internal",
            Loss::Invalid => "invalid",
            Loss::TooLarge => "too_large",
            Loss::Unavailable => "unavailable",
        }
    }
}

/// The profiles of a sender: counts, and reasons for losses.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
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
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Reason {
    /// The last time.
    pub(crate) time: UnixSeconds,
    /// The number of times.
    pub(crate) count: u64,
    /// A sentence for the user.
    pub(crate) reason: String,
}

impl Senders {
    /// Sums over all senders of each kind.
    pub(crate) fn totals(&self) -> BTreeMap<String, Totals> {
        lock(&self.by_kind).clone()
    }

    /// All senders by name.
    pub(crate) fn all(&self) -> BTreeMap<String, SenderState> {
        lock(&self.by_name).clone()
    }

    pub(super) fn accepted(&self, sender: &str, profiles: u64, bytes: u64) {
        self.add(sender, |totals| {
            totals.accepted += profiles;
            totals.bytes += bytes;
        });
        self.update(sender, |state| {
            state.accepted += profiles;
            state.bytes += bytes;
        });
    }

    pub(super) fn lost(&self, sender: &str, loss: Loss, reason: &str) {
        self.add(sender, |totals| *totals.lost.entry(loss).or_default() += 1);
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

    fn add(&self, sender: &str, change: impl FnOnce(&mut Totals)) {
        let kind = sender.split(':').next().unwrap_or_default();
        change(lock(&self.by_kind).entry(kind.to_owned()).or_default());
    }

    fn update(&self, sender: &str, change: impl FnOnce(&mut SenderState)) {
        let sender = shortened(sender);
        let mut senders = lock(&self.by_name);
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

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_of_senders_is_bounded() {
        let senders = Senders::default();
        let long = "x".repeat(10_000);
        for i in 0..2 * MAX_SENDERS {
            senders.lost(&format!("test: {i}{long}"), Loss::Invalid, &long);
        }
        for i in 0..2 * MAX_REASONS {
            senders.lost("one", Loss::Invalid, &format!("reason {i}"));
        }
        let all = senders.all();
        assert_eq!(all.len(), MAX_SENDERS);
        assert!(all.keys().all(|name| name.len() <= MAX_TEXT));
        assert_eq!(all["one"].refused, 2 * MAX_REASONS as u64);
        assert_eq!(all["one"].reasons.len(), MAX_REASONS);
        let kinds: Vec<String> = senders.totals().into_keys().collect();
        assert_eq!(kinds, ["one", "test"]);
    }

    #[test]
    fn the_same_reason_is_counted_once() {
        let senders = Senders::default();
        senders.lost("a", Loss::Invalid, "too large");
        senders.lost("a", Loss::Invalid, "no samples");
        senders.lost("a", Loss::Invalid, "too large");
        let reasons = &senders.all()["a"].reasons;
        let reasons: Vec<_> = reasons.iter().map(|r| (&*r.reason, r.count)).collect();
        assert_eq!(reasons, [("no samples", 1), ("too large", 2)]);
    }
}
