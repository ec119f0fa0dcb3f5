//! Ending long work before it is done.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Ends long work from another thread: a clone of it goes into the options of the work, which then ends
/// with [`Cancelled`] where it next looks. What is not in the store by then does not get there.
///
/// Two are equal where both are cancelled, or neither.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<AtomicBool>);

impl Cancel {
    /// Asks the work to end.
    pub fn cancel(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work is to end.
    pub fn is_cancelled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Lets work end here by `?`.
    ///
    /// # Errors
    /// Where it is to end.
    pub fn check(&self) -> Result<(), Cancelled> {
        match self.is_cancelled() {
            true => Err(Cancelled),
            false => Ok(()),
        }
    }
}

impl PartialEq for Cancel {
    fn eq(&self, other: &Cancel) -> bool {
        self.is_cancelled() == other.is_cancelled()
    }
}

impl Eq for Cancel {}

/// A [`Cancel`] ended the work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cancelled before it was done")]
pub struct Cancelled;
