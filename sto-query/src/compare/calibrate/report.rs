//! The result of a calibration, as plain data.

use crate::answer::Answer;
use crate::compare::CompareOptions;
use crate::compare::result::{Thresholds, round_for_output};
use crate::tree::Subject;
use serde::Serialize;

/// The rates of false reports and the detectable changes of comparisons of a benchmark.
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
    /// Number of runs that have samples of the event.
    pub runs: usize,
    /// Number of runs on each side of a comparison.
    pub runs_a_side: usize,
    /// Minimum number of runs.
    pub runs_needed: usize,
    /// How often comparisons reported a function; `None` if there are too few runs.
    pub false_reports: Option<FalseReports>,
    /// The functions that were reported, most often first.
    pub reported: Vec<Reported>,
    /// How often each metric was reported that counts for the verdict, by name.
    pub metrics: Vec<ReportedMetric>,
    /// The smallest detectable changes of the functions with most samples, in this order.
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
    /// Number of comparisons with a report.
    pub reports: usize,
    /// Number of comparisons, all of different sides.
    pub comparisons: usize,
    /// `reports` / `comparisons`.
    pub share: f64,
    /// Lower end of the share's 95 % confidence interval.
    pub low: f64,
    /// Upper end of that interval.
    pub high: f64,
}

/// The 97.5 % quantile of the normal distribution.
const DEVIATE: f64 = 1.959_963_985;

impl FalseReports {
    /// Computes the share with E. B. Wilson's interval (J. Am. Stat. Assoc. 22:209, 1927), which
    /// assumes independent comparisons. Comparisons that share runs are not quite independent.
    pub(super) fn new(reports: usize, comparisons: usize) -> FalseReports {
        let (n, z2) = (comparisons as f64, DEVIATE * DEVIATE);
        let share = reports as f64 / n;
        let centre = (share + z2 / (2.0 * n)) / (1.0 + z2 / n);
        let spread = (share * (1.0 - share) / n + z2 / (4.0 * n * n)).sqrt();
        let half = DEVIATE * spread / (1.0 + z2 / n);
        FalseReports {
            reports,
            comparisons,
            share: round_for_output(share),
            low: round_for_output((centre - half).max(0.0)),
            high: round_for_output((centre + half).min(1.0)),
        }
    }
}

/// A function that comparisons of equal builds reported.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Reported {
    /// The function's symbol, as returned by [`key_symbol`](crate::functions::key_symbol).
    pub function: String,
    /// Its module.
    pub module: String,
    /// Number of comparisons in which its self or total cost had changed.
    pub comparisons: usize,
}

/// How often comparisons of equal builds reported a metric.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ReportedMetric {
    /// The metric.
    pub name: String,
    /// How often it got better or worse. Which of the two depends on which side is the baseline.
    pub false_reports: FalseReports,
}

/// The smallest detectable change of a function.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Visible {
    /// The function.
    pub function: String,
    /// Its module.
    pub module: String,
    /// Its share of all samples: those that ended in the function, or in an unchanged module that
    /// it called.
    pub share: f64,
    /// Candidate / baseline that is found in 90 % of comparisons; `None` if even the largest tried
    /// change is not found.
    pub change: Option<f64>,
}
