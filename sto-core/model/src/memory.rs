//! How much memory the answer to a question may take.
//!
//! Packed numbers of some kilobytes can stand for gigabytes. So what they claim is checked before it is unpacked,
//! all that a question unpacks together. Nothing is counted here: who has to be certain limits the process itself,
//! as the command does.
//!
#![doc = include_str!("memory.md")]

use crate::units::Bytes;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// Sets how much memory one question may take in this process; at first, there is no limit.
pub fn set_limit(limit: Bytes) {
    LIMIT.store(limit.0, Relaxed);
}

/// More memory than one question may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it takes {} of memory or more, and may take {}", Size(.needs.0), Size(.limit.0))]
#[non_exhaustive]
pub struct TooMuch {
    /// What it needs at least.
    pub needs: Bytes,
    /// What it may take.
    pub limit: Bytes,
}

/// Checks what a question will take at least.
///
/// # Errors
/// Where that is more than it [may](set_limit).
pub fn check(needs: Bytes) -> Result<(), TooMuch> {
    let limit = Bytes(LIMIT.load(Relaxed));
    match needs > limit {
        true => Err(TooMuch { needs, limit }),
        false => Ok(()),
    }
}

/// A number of bytes, as people read it.
#[derive(Clone, Copy, Debug)]
pub struct Size(pub u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            gib @ 0x4000_0000.. => write!(f, "{:.1} GiB", gib as f64 / f64::from(1 << 30)),
            bytes => write!(f, "{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
        }
    }
}
