//! Finds runs in which a function takes more than a share.

use super::{HistorySubject, RunSummary};
use crate::answer::Answer;
use crate::history::{History, HistoryError};
use crate::tree::share;
use serde::Serialize;

/// The runs in which a function takes more than a share.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Occurrences {
    /// The function as the user typed it.
    pub function: String,
    /// The matching functions, in order; several only for a regular expression. A sample counts
    /// once, whichever of them its stack contains.
    pub functions: Vec<String>,
    /// Threshold of the share, from 0 to 1.
    pub over: f64,
    /// The runs, largest share first, then oldest.
    pub runs: Vec<Occurrence>,
    /// Number of runs that were searched.
    pub looked_at: usize,
}

impl Answer for Occurrences {
    const SCHEMA: &'static str = "sto.where/1";
}

/// A run in which the function takes more than the share.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Occurrence {
    /// The program.
    pub executable: String,
    /// The benchmark.
    pub benchmark: Option<String>,
    /// The event.
    pub event: String,
    /// The run.
    #[serde(flatten)]
    pub run: RunSummary,
    /// Samples whose stacks contain the function, each counted once.
    pub samples: u64,
    /// Share of these samples in the run.
    pub share: f64,
}

/// Finds the runs of these histories in which a function takes more than a share of all samples.
///
/// # Errors
/// Returns an error if no run has such a function, or if several functions match.
pub fn occurrences(
    histories: &[History],
    function: &str,
    over: f64,
) -> Result<Occurrences, HistoryError> {
    let found = History::find_in(histories, function)?;
    let mut runs = Vec::new();
    for (history, functions) in histories.iter().zip(found.by_history) {
        let event = HistorySubject::from(history).sample_type.event;
        for (run, total) in history.runs.iter().zip(history.totals_of(&functions)) {
            let share = share(total, run.whole);
            if share > over {
                runs.push(Occurrence {
                    executable: history.executable.clone(),
                    benchmark: run.profile.profile.benchmark.clone(),
                    event: event.clone(),
                    run: run.into(),
                    samples: total.samples,
                    share,
                });
            }
        }
    }
    // The sort is stable, and runs of a history are sorted oldest first.
    runs.sort_by(|a, b| b.share.total_cmp(&a.share));
    Ok(Occurrences {
        function: function.to_owned(),
        functions: found.keys,
        over,
        runs,
        looked_at: histories.iter().map(|history| history.runs.len()).sum(),
    })
}
