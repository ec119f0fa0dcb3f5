//! The events so far: requests, and profiles that were accepted or refused.

mod requests;
mod senders;

pub(crate) use requests::{Requests, observe};
pub(crate) use senders::{SenderState, Senders};

use crate::log::LogLine;
use std::sync::Arc;

/// The events since the server started.
pub(crate) struct Monitor {
    pub(crate) requests: Requests,
    pub(crate) senders: Senders,
    log: Arc<dyn Fn(&LogLine) + Send + Sync>,
}

impl Monitor {
    pub(crate) fn new(log: Arc<dyn Fn(&LogLine) + Send + Sync>) -> Monitor {
        Monitor {
            requests: Requests::default(),
            senders: Senders::default(),
            log,
        }
    }

    /// Records that a sender's profiles are stored.
    pub(crate) fn accepted(&self, sender: &str, profiles: u64, bytes: u64) {
        self.senders.accepted(sender, profiles, bytes);
    }

    /// Records that a sender's profile is lost, or incomplete, and why.
    pub(crate) fn refused(&self, sender: &str, reason: &str) {
        self.senders.refused(sender, reason);
    }

    /// Writes a line to the log.
    pub(crate) fn log(&self, line: &LogLine) {
        (self.log)(line);
    }
}
