//! The events so far: requests, and profiles that were accepted or refused.

mod requests;
mod senders;

pub(crate) use requests::{Requests, observe};
pub(crate) use senders::{SenderState, Senders, Totals};

use crate::log::LogLine;
use crate::problem::Problem;
use senders::Loss;
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

    /// Records that a sender's profile was refused.
    pub(crate) fn refused(&self, sender: &str, problem: &Problem) {
        self.senders
            .lost(sender, Loss::of(problem), &problem.detail);
    }

    /// Records that a part of a sender's profile is not stored, and why.
    pub(crate) fn left_out(&self, sender: &str, reason: &str) {
        self.senders.lost(sender, Loss::Incomplete, reason);
    }

    /// Writes a line to the log.
    pub(crate) fn log(&self, line: &LogLine) {
        (self.log)(line);
    }
}
