//! Whether a curve or its points changed from one side to another, as Perun finds it.

mod amount;
mod difference;
mod integral;
mod local;

use super::curve::Curve;
use super::model::{Model, ModelKind};
pub use amount::{average_amount, best_model_order};
pub use difference::{fast_check, linear_check, polynomial_check};
pub use integral::integral_comparison;
pub use local::{LocalRules, local_statistics, local_statistics_of};
use serde::{Deserialize, Serialize};

/// Values that a curve is taken at.
const SAMPLES: usize = 1000;

/// What happened to cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChangeKind {
    /// It grew.
    Degradation,
    /// It grew, by less than is sure.
    MaybeDegradation,
    /// It is what it was.
    NoChange,
    /// It fell, by less than is sure.
    MaybeOptimisation,
    /// It fell.
    Optimisation,
}

/// What a detector found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Change {
    /// What happened.
    pub result: ChangeKind,
    /// By how much, in the measure of the detector: 0 of the same, 1 of twice as much, unless it says another.
    pub error_rate: f64,
    /// The lower R² of both models; `null` where points are compared.
    pub confidence: Option<f64>,
    /// Kind of the baseline's model.
    pub from: Option<ModelKind>,
    /// Kind of the candidate's model.
    pub to: Option<ModelKind>,
    /// What the difference grows like, of detectors that say so.
    pub difference: Option<ModelKind>,
    /// Parts of x, of local statistics.
    pub intervals: Vec<PartialChange>,
}

/// What happened in a part of x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct PartialChange {
    /// What happened.
    pub result: ChangeKind,
    /// Statistics that grew less those that fell, half of one where it is not sure.
    pub score: f64,
    /// Mean of the relative changes of statistics.
    pub error_rate: f64,
    /// Where it begins.
    pub x_start: f64,
    /// Where it ends.
    pub x_end: f64,
}

/// What a change by `error` is: none up to `no_change` in either direction, one that is not sure up to `change`.
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

/// The x that both models have; `None` where that is one value or none.
fn shared(baseline: &Model, candidate: &Model) -> Option<(f64, f64)> {
    let from = baseline.x_start.max(candidate.x_start);
    let to = baseline.x_end.min(candidate.x_end);
    (from < to).then_some((from, to))
}

/// Where curves are compared: where the baseline's has its values, else at a thousand x of equal distance.
fn samples(baseline: &Model, (from, to): (f64, f64)) -> Vec<f64> {
    let within = |x: &f64| (from..=to).contains(x);
    match &baseline.curve {
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
    }
}

/// The change as part of the baseline; 0 where that is 0.
fn relative(baseline: f64, candidate: f64) -> f64 {
    match baseline == 0.0 {
        true => 0.0,
        false => (candidate - baseline) / baseline.abs(),
    }
}
