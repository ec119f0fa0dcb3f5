//! Memory for bodies that are being received.

use crate::problem::Problem;
use std::sync::Arc;
use sto_core::units::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Room for a body among all that are being received.
pub(crate) struct Room {
    all: Arc<Semaphore>,
    taken: Option<OwnedSemaphorePermit>,
    /// Bytes that are taken, but do not fill a unit yet.
    rest: usize,
}

/// Bytes that one permit stands for.
const UNIT: usize = 64 << 10;

/// The permits for bodies of this size.
pub(crate) fn room_for(bodies: Bytes) -> Arc<Semaphore> {
    let units = bodies.0 as usize / UNIT;
    Arc::new(Semaphore::new(units.min(Semaphore::MAX_PERMITS)))
}

impl Room {
    pub(crate) fn new(all: &Arc<Semaphore>) -> Room {
        Room {
            all: Arc::clone(all),
            taken: None,
            rest: 0,
        }
    }

    pub(crate) fn take(&mut self, bytes: usize) -> Result<(), Problem> {
        self.rest += bytes;
        let units = (self.rest / UNIT) as u32;
        self.rest %= UNIT;
        if units == 0 {
            return Ok(());
        }
        let more = Arc::clone(&self.all).try_acquire_many_owned(units);
        let more = more.map_err(|_| Problem::busy(5, "too many large requests arrive at once"))?;
        match &mut self.taken {
            Some(taken) => taken.merge(more),
            None => self.taken = Some(more),
        }
        Ok(())
    }
}
