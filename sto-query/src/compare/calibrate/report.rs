//! What a calibration says, as plain data.

use crate::answer::Answer;
use crate::compare::CompareOptions;
use crate::compare::result::{Thresholds, rounded};
use crate::tree::Subject;
use serde::Serialize;

/// What comparisons with a benchmark are worth.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Calibration {
    /// The build whose runs were compared with each other.
    #[serde(flatten)]
    pub subject: Subject,
    /// The thresholds of the comparisons.
    #[serde(serialize_with = "Thresholds::serialize")]
    #[cfg_attr(feature = "schemas", schemars(with = "Thresholds"))]
    pub thresholds: CompareOptions,
    /// Runs that have samples of the event.
    pub runs: usize,
    /// Runs on each side of a comparison.
    pub runs_a_side: usize,
    /// Runs that it takes at least.
    pub runs_needed: usize,
    /// How often comparisons reported a function; `None` where there are fewer runs than it takes.
    pub false_reports: Option<FalseReports>,
    /// The functions that were reported, most often first.
    pub reported: Vec<Reported>,
    /// How often each metric was reported that counts for the verdict, by name.
    pub metrics: Vec<ReportedMetric>,
    /// The smallest changes that are found, of the functions with most samples, these first.
    pub visible: Vec<Visible>,
}

impl Answer for Calibration {
    const SCHEMA: &'static str = "sto.calibrate/1";
}

/// How often comparisons of equal builds reported something.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FalseReports {
    /// Comparisons that reported it.
    pub reports: usize,
    /// Comparisons that were made: no two of the same sides.
    pub comparisons: usize,
    /// `reports` / `comparisons`.
    pub share: f64,
    /// The lower end of that share's 95 % interval.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// 97.5 % of normal deviates are below it.
const DEVIATE: f64 = 1.959_963_985;

impl FalseReports {
    /// The interval is E. B. Wilson's (J. Am. Stat. Assoc. 22:209, 1927). It takes comparisons for
    /// independent; those that share runs are less than that.
    pub(super) fn new(reports: usize, comparisons: usize) -> FalseReports {
        let (n, z2) = (comparisons as f64, DEVIATE * DEVIATE);
        let share = reports as f64 / n;
        let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let spread = (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
        let half = DEVIATE * spread / (1.0 + z2 / n);
        FalseReports {
            reports,
            comparisons,
            share: rounded(share),
            low: rounded((centre - half).max(0.0)),
            high: rounded((centre + half).min(1.0)),
        }
    }
}

/// A function that comparisons of equal builds reported.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reported {
    /// The function: its symbol as [`key_symbol`](crate::functions::key_symbol) leaves it.
    pub function: String,
    /// Its module.
    pub module: String,
    /// In how many comparisons its self or total cost had changed.
    pub comparisons: usize,
}

/// How often comparisons of equal builds reported a metric.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReportedMetric {
    /// The metric.
    pub name: String,
    /// How often it changed for the better or the worse: which, is up to which side is the baseline.
    pub false_reports: FalseReports,
}

/// The smallest change of a function that is found.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Visible {
    /// The function.
    pub function: String,
    /// Its module.
    pub module: String,
    /// Its share of all samples: those that ended in it, or in an unchanged module that it called.
    pub share: f64,
    /// Candidate / baseline that is found in 90 % of comparisons; `None` where even the largest
    /// change that was tried is not.
    pub change: Option<f64>,
}
