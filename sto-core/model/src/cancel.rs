//! Cancellation of long operations.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A token that cancels a long operation from another thread.
///
/// Pass a clone in the options of the operation, which then returns [`Cancelled`] at its next check. Data that
/// is not in the store at that time is not added. Two tokens are equal if both are cancelled, or neither is.
#[derive(Clone, Debug, Default)]
pub struct CancelToken(Arc<AtomicBool>);

impl CancelToken {
    /// Cancels the operation.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns `true` if the operation was cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Checks for cancellation, so that an operation can return early with `?`.
    ///
    /// # Errors
    /// Returns an error if the operation was cancelled.
    pub fn check(&self) -> Result<(), Cancelled> {
        if self.is_cancelled() {
            return Err(Cancelled);
        }
        Ok(())
    }
}

impl PartialEq for CancelToken {
    fn eq(&self, other: &CancelToken) -> bool {
        self.is_cancelled() == other.is_cancelled()
    }
}

impl Eq for CancelToken {}

/// The operation was cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled before it was done")]
pub struct Cancelled;
