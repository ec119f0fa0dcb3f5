//! The memory limit for queries.
//!
//! A few kilobytes of packed data can unpack to gigabytes, so the declared size of everything that a query unpacks
//! is checked first. This module does not count allocations: the command does that in its allocator.
//!
//! See [the manual](crate::manual::memory).

use crate::units::Bytes;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets the memory limit for each query of this process. The default is no limit.
pub fn set_limit(limit: Bytes) {
    LIMIT.store(limit.0, Relaxed);
}

/// The memory limit for each query of this process; without one, the largest number.
pub fn limit() -> Bytes {
    Bytes(LIMIT.load(Relaxed))
}

/// A query needs more memory than the limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it needs at least {} of memory, but the limit is {}", HumanBytes(.needs.0), HumanBytes(.limit.0))]
#[non_exhaustive]
pub struct MemoryLimitExceeded {
    /// A lower bound on the memory that the query needs.
    pub needs: Bytes,
    /// The limit.
    pub limit: Bytes,
}

/// Checks a lower bound on the memory that a query needs.
///
/// # Errors
/// Returns an error if it exceeds the [limit](set_limit).
pub fn check_limit(needs: Bytes) -> Result<(), MemoryLimitExceeded> {
    let limit = limit();
    if needs > limit {
        return Err(MemoryLimitExceeded { needs, limit });
    }
    Ok(())
}

/// A number of bytes that formats itself in MiB or GiB.
#[derive(Clone, Copy, Debug)]
pub struct HumanBytes(pub u64);

impl fmt::Display for HumanBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            gib @ 0x4000_0000.. => write!(f, "{:.1} GiB", gib as f64 / f64::from(1 << 30)),
            bytes => write!(f, "{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        }
    }
}
