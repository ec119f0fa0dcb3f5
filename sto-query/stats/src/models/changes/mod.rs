//! Detectors of changes between two curves or sets of points, as in Perun.

mod amount;
mod difference;
mod integral;
mod local;

use super::curve::Curve;
use super::model::{Model, ModelKind};
pub use amount::{average_amount, best_model_order};
pub use difference::{fast_check, linear_check, polynomial_check};
pub use integral::integral_comparison;
pub use local::{local_statistics, local_statistics_of};
use serde::{Deserialize, Serialize};

/// Number of values at which a curve is compared.
const SAMPLES: usize = 1000;

/// Thresholds of [`integral_comparison`] and [`local_statistics`], and the parts of the latter.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(default)]
#[non_exhaustive]
pub struct DetectorRules {
    /// Relative change up to which nothing changed.
    pub no_change: f64,
    /// Relative change above which a change is certain.
    pub change: f64,
    /// Number of parts of x: fewer if a part would have only one value, more if the values cannot be divided equally.
    pub parts: u32,
}

impl Default for DetectorRules {
    fn default() -> DetectorRules {
        DetectorRules {
            no_change: 0.10,
            change: 0.25,
            parts: 20,
        }
    }
}

/// Outcome of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// Cost grew.
    Degradation,
    /// Cost may have grown.
    MaybeDegradation,
    /// Cost did not change.
    NoChange,
    /// Cost may have fallen.
    MaybeOptimisation,
    /// Cost fell.
    Optimisation,
}

/// Result of a detector.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// Outcome of the comparison.
    pub result: ChangeKind,
    /// Size of the change in the detector's measure. Unless the detector says otherwise, this is the relative change:
    /// 0 means equal, 1 means twice as much.
    pub error_rate: f64,
    /// The lower R² of the two models; `null` if points are compared.
    pub confidence: Option<f64>,
    /// Kind of the baseline's model.
    pub from: Option<ModelKind>,
    /// Kind of the candidate's model.
    pub to: Option<ModelKind>,
    /// Kind of growth of the difference; `null` if the detector does not determine it.
    pub difference: Option<ModelKind>,
    /// Results by part of x, for local statistics.
    pub intervals: Vec<PartialChange>,
}

/// Outcome in one part of x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PartialChange {
    /// Outcome of the comparison.
    pub result: ChangeKind,
    /// Number of statistics that grew minus those that fell; uncertain changes count half.
    pub score: f64,
    /// Mean relative change of the statistics.
    pub error_rate: f64,
    /// Start of the part.
    pub x_start: f64,
    /// End of the part.
    pub x_end: f64,
}

/// Classifies a relative change: no change up to `no_change` in either direction, a possible change up to `change`,
/// and a certain one above.
pub fn classify(error: f64, no_change: f64, change: f64) -> ChangeKind {
    let size = error.abs();
    match (size <= no_change, size <= change, error < 0.0) {
        (true, _, _) => ChangeKind::NoChange,
        (_, true, true) => ChangeKind::MaybeOptimisation,
        (_, true, false) => ChangeKind::MaybeDegradation,
        (_, false, true) => ChangeKind::Optimisation,
        (_, false, false) => ChangeKind::Degradation,
    }
}

impl Change {
    fn of_models(
        baseline: &Model,
        candidate: &Model,
        result: ChangeKind,
        error_rate: f64,
    ) -> Change {
        Change {
            result,
            error_rate,
            confidence: Some(baseline.r_square.min(candidate.r_square)),
            from: Some(baseline.kind),
            to: Some(candidate.kind),
            difference: None,
            intervals: Vec::new(),
        }
    }
}

/// Returns the range of x that both models cover; `None` if it is empty or a single value.
fn shared(baseline: &Model, candidate: &Model) -> Option<(f64, f64)> {
    let from = baseline.x_start.max(candidate.x_start);
    let to = baseline.x_end.min(candidate.x_end);
    (from < to).then_some((from, to))
}

/// Returns the distinct x at which curves are compared: the x of the baseline's values if it has any, otherwise a
/// thousand evenly spaced x.
fn samples(baseline: &Model, (from, to): (f64, f64)) -> Vec<f64> {
    let within = |x: &f64| (from..=to).contains(x);
    let mut x: Vec<f64> = match &baseline.curve {
        Curve::Steps { edges, .. } => {
            let middles = edges.windows(2).map(|edge| (edge[0] + edge[1]) / 2.0);
            middles.filter(within).collect()
        }
        Curve::Samples { x, .. } => x.iter().copied().filter(within).collect(),
        _ => {
            let last = (SAMPLES - 1) as f64;
            let at = |ix: usize| from + (to - from) * ix as f64 / last;
            (0..SAMPLES).map(at).collect()
        }
    };
    x.dedup();
    x
}

/// Returns the change relative to the baseline, or 0 if the baseline is 0.
fn relative(baseline: f64, candidate: f64) -> f64 {
    if baseline == 0.0 {
        0.0
    } else {
        (candidate - baseline) / baseline.abs()
    }
}
