//! The time by the system's clock.

use std::time::{Duration, SystemTime, UNIX_EPOCH};
use sto_core::units::UnixSeconds;

/// The time since 1970; 0 if the clock is set to an earlier one.
pub(crate) fn since_1970() -> Duration {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default()
}

/// The current second.
pub(crate) fn now() -> UnixSeconds {
    UnixSeconds(since_1970().as_secs())
}
