//! Which run of a history a command judges, and by what.

use clap::Args;
use sto_query::history::{History, HistoryError};

/// The run that a command judges, and the runs that tell what to expect of it.
#[derive(Debug, Args)]
pub(crate) struct JudgedArgs {
    /// Judge this profile instead of the newest: its id, or the start of it
    #[arg(long, value_name = "ID")]
    at: Option<String>,

    /// Expect what this many runs before show
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(2..))]
    window: u16,
}

impl JudgedArgs {
    /// The place of the run in its history.
    pub(crate) fn place(&self, history: &History) -> Result<usize, HistoryError> {
        history.judged(self.at.as_deref())
    }

    /// Number of runs before it that tell what to expect.
    pub(crate) fn window(&self) -> usize {
        usize::from(self.window)
    }
}
