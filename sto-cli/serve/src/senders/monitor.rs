//! What senders sent, and what was refused.

use crate::shared::Shared;

/// Records that a sender's profiles are stored.
pub(super) fn accepted(_shared: &Shared, _sender: &str, _profiles: u64, _bytes: u64) {}

/// Records that a sender's profile is lost, or incomplete, and why.
pub(super) fn refused(_shared: &Shared, _sender: &str, _reason: &str) {}
