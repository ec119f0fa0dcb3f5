//! Which build of a history is judged, and by which before it.

use super::{History, HistoryError, HistoryRun};
use crate::text::printable;
use std::ops::Range;

/// The runs that are judged, and those that say what to expect of them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Judged {
    /// The indices of the runs that are judged: all of a build, or one of the only build. Not empty.
    pub(crate) runs: Range<usize>,
    /// The indices of the runs that say what to expect: right before those.
    pub(crate) window: Range<usize>,
    /// The same by build, oldest first; where there is one build alone, each run is one of its own.
    pub(crate) builds: Vec<Range<usize>>,
}

impl Judged {
    /// The index of the newest of the runs that are judged.
    pub fn newest(&self) -> usize {
        self.runs.end - 1
    }

    /// The mean of a number a run over the runs that are judged.
    pub(crate) fn actual(&self, numbers: &[f64]) -> f64 {
        let runs = &numbers[self.runs.clone()];
        runs.iter().sum::<f64>() / runs.len() as f64
    }

    /// The indices of all runs that are looked at.
    pub(crate) fn all(&self) -> Range<usize> {
        self.window.start..self.runs.end
    }
}

impl History {
    /// The indices of each build's runs, oldest build first.
    pub(crate) fn builds(&self) -> Vec<Range<usize>> {
        let mut builds = Vec::new();
        for runs in self.runs.chunk_by(|a, b| a.build == b.build) {
            let start = builds.last().map_or(0, |last: &Range<usize>| last.end);
            builds.push(start..start + runs.len());
        }
        builds
    }

    /// What is an observation of its own: the builds, or of one build alone its runs.
    pub(crate) fn observations(&self) -> Vec<Range<usize>> {
        let builds = self.builds();
        match builds.len() {
            1 => builds[0].clone().map(|run| run..run + 1).collect(),
            _ => builds,
        }
    }

    /// Judges the build of the run whose profile's id begins like this, or the newest build, by up to
    /// `window` builds before it; a run of the oldest build, by the runs of it before.
    ///
    /// # Errors
    /// Where no run, or several, have such an id.
    pub fn judged(&self, id: Option<&str>, window: usize) -> Result<Judged, HistoryError> {
        let index = match id {
            Some(prefix) => self.with_id(&prefix.to_ascii_lowercase())?,
            None => self.runs.len() - 1,
        };
        let mut observations = self.builds();
        if observations[0].contains(&index) {
            observations = observations[0].clone().map(|run| run..run + 1).collect();
        }
        let at = observations.iter().position(|runs| runs.contains(&index));
        let at = at.expect("each run is of a build");
        let builds = observations[at.saturating_sub(window)..at].to_vec();
        let runs = observations[at].clone();
        Ok(Judged {
            window: builds.first().map_or(runs.start, |first| first.start)..runs.start,
            runs,
            builds,
        })
    }

    fn with_id(&self, prefix: &str) -> Result<usize, HistoryError> {
        let is_meant = |run: &HistoryRun| run.profile.id.to_string().starts_with(prefix);
        let mut found = (0..self.runs.len()).filter(|&run| is_meant(&self.runs[run]));
        match (found.next(), found.next()) {
            (Some(run), None) => Ok(run),
            (first, _) => Err(HistoryError::NoRun {
                prefix: printable(prefix).into_owned(),
                several: first.is_some(),
            }),
        }
    }
}
