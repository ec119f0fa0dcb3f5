//! How much counts vary from run to run, beyond what sampling alone does.

use super::counts::{Counts, FunctionCounts};
use crate::statistics::{Design, Variation};

/// Assumed where no side has several runs: functions vary by 10 % from run to run. Published
/// deviations of whole benchmarks on shared machines are 2 to 5 %; single functions vary more.
const ASSUMED: f64 = 0.01;
/// Mean samples a run that a function needs to tell about variation.
const MIN_MEAN: u64 = 10;
/// With fewer functions than this, agreement between runs may be luck.
const MIN_FUNCTIONS: usize = 3;

/// What self (attributed or not) and total counts vary by.
pub(super) struct Variations {
    pub(super) self_: Variation,
    pub(super) total: Variation,
    /// Whether runs of one build told; else it is an assumption.
    pub(super) estimated: bool,
}

impl Variations {
    pub(super) fn of(counts: &FunctionCounts, design: &Design) -> Variations {
        let self_ = estimate(&counts.attributed, design);
        let total = estimate(&counts.total, design);
        Variations {
            estimated: self_.is_some(),
            self_: self_.unwrap_or_else(|| Variation::assumed(ASSUMED)),
            total: total.unwrap_or_else(|| Variation::assumed(ASSUMED)),
        }
    }
}

fn estimate(counts: &Counts, design: &Design) -> Option<Variation> {
    let least = MIN_MEAN.saturating_mul(counts.runs.len() as u64);
    let tells = |&function: &usize| {
        let sums = counts.sums(function);
        sums.baseline.saturating_add(sums.candidate) >= least
    };
    let rows: Vec<Vec<f64>> = (0..counts.functions())
        .filter(tells)
        .map(|function| counts.row(function))
        .collect();
    if rows.len() < MIN_FUNCTIONS {
        return None;
    }
    Some(Variation::estimate(&rows, design)?.cautious())
}
