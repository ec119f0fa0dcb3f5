//! The data that the worker loaded.

use super::worker::Report;
use std::sync::Arc;
use sto_query::check::Check;
use sto_query::internal::hot::{FunctionNo, HotChanges, HotHistory, HotIndex, PlacedFiles};
use sto_query::results::Finding;

/// The costs of a build.
pub(super) struct Costs {
    pub(super) index: Arc<HotIndex>,
    pub(super) placed: PlacedFiles,
    pub(super) history: Option<HotHistory>,
    changes: Option<HotChanges>,
    check: Option<Check>,
}

impl Costs {
    pub(super) fn new(index: Arc<HotIndex>, placed: PlacedFiles) -> Costs {
        Costs {
            index,
            placed,
            history: None,
            changes: None,
            check: None,
        }
    }

    /// Adds a later report.
    pub(super) fn add(&mut self, report: Report) {
        match report {
            Report::Placed(placed) => self.placed = placed,
            Report::History(history) => self.history = Some(history),
            Report::Compared(check) => {
                let first = check.comparisons.first();
                self.changes = first.map(|first| HotChanges::from_comparison(&self.index, first));
                self.check = Some(check);
            }
            _ => {}
        }
    }

    /// The ratio of a function's cost to the baseline, and the baseline's name.
    pub(super) fn change(&self, function: FunctionNo) -> Option<(f64, &str)> {
        let changes = self.changes.as_ref()?;
        Some((changes.change(function)?, &changes.since))
    }

    /// The regressions, each with the name of the baseline.
    pub(super) fn regressions(&self) -> impl Iterator<Item = (&Finding, &str)> {
        let comparisons = self.check.iter().flat_map(|check| &check.comparisons);
        comparisons.flat_map(|comparison| {
            let findings = comparison.findings.iter();
            let found = findings.filter(|finding| finding.is_regression());
            found.map(|finding| (finding, &*comparison.baseline.build))
        })
    }
}
