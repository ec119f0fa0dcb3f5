//! Chooses the build of a history to judge, and the builds that it is compared with.

use super::{History, HistoryError, HistoryRun};
use crate::text::printable;
use serde::Serialize;
use std::ops::Range;

/// The runs to judge, and the preceding runs that expectations are based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Judged {
    /// Indices of the runs to judge: all runs of a build, or one run of the only build. Not empty.
    pub(crate) runs: Range<usize>,
    /// Indices of the runs that expectations are based on, directly before `runs`.
    pub(crate) window: Range<usize>,
    /// `window` by build, oldest first. If there is only one build, each run counts as a build.
    pub(crate) builds: Vec<Range<usize>>,
    /// Whether expectations are based on the part of the window since the last level shift.
    pub(crate) restarts_at_shifts: bool,
}

/// The runs before the judged ones that expectations are based on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JudgedWindow {
    /// The runs of up to this many builds, since the last level shift among them.
    Builds(usize),
    /// Up to this many runs.
    Runs(usize),
}

impl Judged {
    /// Returns the index of the newest run that is judged.
    pub fn newest(&self) -> usize {
        self.runs.end - 1
    }

    /// Returns the mean of per-run values over the runs that are judged.
    pub(crate) fn judged_mean(&self, numbers: &[f64]) -> f64 {
        let runs = &numbers[self.runs.clone()];
        runs.iter().sum::<f64>() / runs.len() as f64
    }

    /// Returns the indices of the window and the judged runs.
    pub(crate) fn all(&self) -> Range<usize> {
        self.window.start..self.runs.end
    }
}

impl History {
    /// Returns the indices of each build's runs, oldest build first.
    pub(crate) fn builds(&self) -> Vec<Range<usize>> {
        let mut builds = Vec::new();
        for runs in self.runs.chunk_by(|a, b| a.build == b.build) {
            let start = builds.last().map_or(0, |last: &Range<usize>| last.end);
            builds.push(start..start + runs.len());
        }
        builds
    }

    /// Returns the observations: the builds, or the runs if there is only one build.
    pub(crate) fn observations(&self) -> Vec<Range<usize>> {
        let builds = self.builds();
        match builds.len() {
            1 => builds[0].clone().map(|run| run..run + 1).collect(),
            _ => builds,
        }
    }

    /// Chooses the build to judge: the build of the run whose profile id begins with `id`, or the
    /// newest build. It is compared with a window of runs before it. A run of the oldest build is
    /// compared with the runs before it, which count as builds.
    ///
    /// # Errors
    /// Returns an error if no run, or several, have such an id.
    pub fn choose_judged(
        &self,
        id: Option<&str>,
        window: JudgedWindow,
    ) -> Result<Judged, HistoryError> {
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
        let runs = observations[at].clone();
        let start = match window {
            JudgedWindow::Builds(count) => observations[at.saturating_sub(count)].start,
            JudgedWindow::Runs(count) => runs.start.saturating_sub(count),
        };
        let builds = observations[..at].iter().filter(|build| build.end > start);
        Ok(Judged {
            window: start..runs.start,
            builds: builds
                .map(|build| build.start.max(start)..build.end)
                .collect(),
            restarts_at_shifts: matches!(window, JudgedWindow::Builds(_)),
            runs,
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
