//! Change in the growth of a function's cost.

use super::Point;
use super::detectors::ComparedCurves;
use serde::Serialize;
use sto_core::model::{Commit, CommitHash};
use sto_stats::models::{Certainty, Model};

/// The commits of a baseline and a candidate, both without uncommitted changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Commits {
    /// The baseline's commit.
    pub from: CommitHash,
    /// The candidate's commit.
    pub to: CommitHash,
    /// Whether the candidate's commit directly follows the baseline's, so that it made the change.
    pub is_next: bool,
}

impl Commits {
    pub(super) fn new(old: &Commit, new: &Commit) -> Option<Commits> {
        (old.hash != new.hash).then(|| Commits {
            from: old.hash.clone(),
            to: new.hash.clone(),
            is_next: new.parents.contains(&old.hash),
        })
    }
}

/// Change of a function's cost, in Perun's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelChange {
    /// It costs more: significantly, and by more than the minimum effect at the largest x.
    Degradation,
    /// It seems to cost more, but not significantly.
    MaybeDegradation,
    /// It seems to cost less, but not significantly.
    MaybeOptimisation,
    /// It costs less: significantly, and by more than the minimum effect at the largest x.
    Optimisation,
    /// No change was found.
    NoChange,
}

/// Growth of a function's cost with x in the baseline and the candidate.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// Outcome of the comparison.
    pub result: ModelChange,
    /// Description of the change in a sentence, with the commits if they are known.
    pub reason: String,
    /// Whether a policy excludes the function from the verdict; omitted from JSON if `false`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// Points and model of the baseline.
    pub baseline: SideModel,
    /// Points and model of the candidate.
    pub candidate: SideModel,
    /// The largest x that both sides have.
    pub largest_x: f64,
    /// Ratio of the candidate's curve to the baseline's at the largest x; `null` if the baseline's is 0.
    pub ratio: Option<f64>,
    /// The x from which the curves differ by the minimum effect; `null` if they do not at the largest x.
    pub matters_from: Option<f64>,
    /// Growth of the exponent of x; `null` if a side does not grow, or its exponent is unknown.
    pub growth: Option<Growth>,
    /// Probability that runs of the same curve differ as much; `null` if it could not be tested.
    pub p: Option<f64>,
    /// `p` adjusted for the number of functions.
    pub q: Option<f64>,
    /// Results of the requested Perun detectors, for each kind of curve.
    pub curves: Vec<ComparedCurves>,
    /// Functions that changed in the same way only because they call this one, directly or through others; they are
    /// not listed separately.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherited_by: Vec<String>,
}

impl FunctionChange {
    /// Returns `true` for a degradation that counts for the verdict.
    pub(crate) fn is_regression(&self) -> bool {
        self.result == ModelChange::Degradation && !self.ignored
    }

    /// Returns the larger of the two sides' costs at their largest x.
    pub(super) fn cost_at_largest_x(&self) -> f64 {
        let last = |side: &SideModel| side.points.last().map_or(0.0, |point| point.y);
        last(&self.baseline).max(last(&self.candidate))
    }

    pub(super) fn is_increase(&self) -> bool {
        let at = |side: &SideModel| {
            let model = side.model.as_ref();
            model.map_or(0.0, |model| model.curve.at(self.largest_x))
        };
        at(&self.candidate) > at(&self.baseline)
    }
}

/// The points and the best model of a function on one side.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct SideModel {
    /// The points, sorted by x, then y.
    pub points: Vec<Point>,
    /// The best model; `null` if none can be fitted.
    pub model: Option<Model>,
    /// Certainty of the best model; `null` if unknown.
    pub certainty: Option<Certainty>,
}

/// Growth of the exponent of x.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Growth {
    /// The baseline's exponent of x, beyond a constant cost.
    pub baseline: f64,
    /// The candidate's exponent.
    pub candidate: f64,
    /// Lower bound of the 95 % confidence interval of the difference.
    pub low: f64,
    /// Upper bound of that interval.
    pub high: f64,
}
