//! What became of a function whose cost grows otherwise than it did.

use super::Point;
use super::detectors::Detected;
use serde::Serialize;
use sto_core::model::{Commit, CommitHash};
use sto_stats::models::{Certainty, Model};

/// The commits of a baseline and a candidate, neither with changes that were not committed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Commits {
    /// The baseline's.
    pub from: CommitHash,
    /// The candidate's.
    pub to: CommitHash,
    /// Whether that follows the other directly: what changed, changed with it.
    pub is_next: bool,
}

impl Commits {
    pub(super) fn of(old: &Commit, new: &Commit) -> Option<Commits> {
        (old.hash != new.hash).then(|| Commits {
            from: old.hash.clone(),
            to: new.hash.clone(),
            is_next: new.parents.contains(&old.hash),
        })
    }
}

/// What became of a function, in the words of Perun.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelChange {
    /// It costs more: by more than chance, and by more than the least effect at the largest x.
    Degradation,
    /// It seems to cost more, but chance is not excluded.
    MaybeDegradation,
    /// It seems to cost less, but chance is not excluded.
    MaybeOptimisation,
    /// It costs less.
    Optimisation,
    /// It costs the same, as far as is known.
    NoChange,
}

/// How the cost of a function went with x, and goes now.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FunctionChange {
    /// The function.
    pub function: String,
    /// The file that its code was loaded from; empty if unknown.
    pub module: String,
    /// What became of it.
    pub result: ModelChange,
    /// The same as a sentence, with the commits where they are known.
    pub reason: String,
    /// Whether it does not count for the verdict, as a policy says; JSON leaves it out where it does.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignored: bool,
    /// How it was.
    pub baseline: SideModel,
    /// How it is.
    pub candidate: SideModel,
    /// The largest x that both sides reach.
    pub largest_x: f64,
    /// What the candidate's curve says there, as a multiple of what the baseline's does; `null` where that is nothing.
    pub ratio: Option<f64>,
    /// The x from which on the curves differ by the least effect; `null` where they do not at the largest.
    pub matters_from: Option<f64>,
    /// What the exponent of x grew by; `null` where a side does not grow, or its exponent cannot be told.
    pub growth: Option<Growth>,
    /// How likely runs of one curve differ as much; `null` where it could not be tested.
    pub p: Option<f64>,
    /// The same, adjusted for the number of functions.
    pub q: Option<f64>,
    /// What Perun's detectors find, those that were asked for.
    pub detectors: Vec<Detected>,
    /// Functions that changed likewise for no more than calling this one, directly or through others; they are not
    /// listed by themselves.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inherited_by: Vec<String>,
}

impl FunctionChange {
    /// Whether it got worse, and counts.
    pub(crate) fn is_regression(&self) -> bool {
        self.result == ModelChange::Degradation && !self.ignored
    }

    /// The larger of the two sides' costs at their largest x.
    pub(super) fn at_largest(&self) -> f64 {
        let last = |side: &SideModel| side.points.last().map_or(0.0, |point| point.y);
        last(&self.baseline).max(last(&self.candidate))
    }

    pub(super) fn is_more(&self) -> bool {
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
    /// The points, in the order of x, then y.
    pub points: Vec<Point>,
    /// The best model; `null` where nothing can be fitted.
    pub model: Option<Model>,
    /// How sure it is that this one is the best; `null` where that cannot be told.
    pub certainty: Option<Certainty>,
}

/// What the exponent of a power of x grew by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Growth {
    /// The baseline's exponent, of the power of x that fits what it costs beyond a constant.
    pub baseline: f64,
    /// The candidate's.
    pub candidate: f64,
    /// Start of the interval that the difference is in with 95 %.
    pub low: f64,
    /// End of that interval.
    pub high: f64,
}
