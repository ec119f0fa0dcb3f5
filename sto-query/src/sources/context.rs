//! The circumstances under which a question is asked.

use crate::text::Date;
use std::fmt;
use std::sync::Arc;
use sto_core::units::UnixSeconds;
use sto_core::{CancelToken, Cancelled};

/// The circumstances under which a question is asked: who may cancel it, who follows its progress, and the time.
///
/// The default is never cancelled, reports nothing, and knows no time.
#[derive(Clone, Default)]
#[non_exhaustive]
pub struct Context {
    /// Cancels the question: it fails with [`QueryError::Cancelled`](crate::QueryError::Cancelled) after the current step.
    pub cancel: CancelToken,
    /// Called before each step of questions with several: the benchmarks of a check, and the commits of a log.
    pub on_step: Option<OnStep>,
    /// The current time, which decides whether an ignored finding has expired; if `None`, nothing has.
    pub now: Option<UnixSeconds>,
}

/// A callback that receives the number of finished steps and the number of all steps.
pub type OnStep = Arc<dyn Fn(usize, usize) + Send + Sync>;

impl Context {
    /// The current day in UTC.
    pub(crate) fn today(&self) -> Option<Date> {
        self.now.map(Date::from_time)
    }

    /// Begins a step: reports progress, unless the question was cancelled.
    pub(crate) fn begin_step(&self, done: usize, all: usize) -> Result<(), Cancelled> {
        self.cancel.check()?;
        if let Some(on_step) = &self.on_step {
            on_step(done, all);
        }
        Ok(())
    }
}

impl fmt::Debug for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Context")
            .field("cancel", &self.cancel)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}
