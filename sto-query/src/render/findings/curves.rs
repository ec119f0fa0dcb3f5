//! Functions whose growth of cost changed, for all outputs except text.

use crate::compare::Comparison;
use crate::models::{FunctionChange, ModelChange};
use crate::render::models::changes::word;

/// The change of a function's cost curve.
#[derive(Clone, Copy)]
pub(super) struct Curve<'a> {
    pub(super) change: &'a FunctionChange,
    pub(super) x: &'a str,
    /// Name in JSON, and in words.
    pub(super) kind: &'static str,
    pub(super) word: &'static str,
    pub(super) weight: Weight,
}

/// Severity of a change.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// A regression.
    Error,
    /// A possible regression.
    Warning,
    Note,
}

/// Returns the functions whose curves changed, in the order of the comparison.
pub(super) fn changed(comparison: &Comparison) -> Vec<Curve<'_>> {
    let mut changed = all(comparison);
    changed.retain(|curve| curve.change.result != ModelChange::NoChange);
    changed
}

/// Returns all functions of the comparison.
pub(super) fn all(comparison: &Comparison) -> Vec<Curve<'_>> {
    let curves = comparison.curves.iter();
    let functions = curves.flat_map(|curves| {
        let x = &*curves.candidate.x;
        curves
            .functions
            .iter()
            .map(move |change| Curve::new(change, x))
    });
    functions.collect()
}

impl<'a> Curve<'a> {
    fn new(change: &'a FunctionChange, x: &'a str) -> Curve<'a> {
        let (kind, weight) = match change.result {
            ModelChange::Degradation => ("degradation", Weight::Error),
            ModelChange::MaybeDegradation => ("maybe_degradation", Weight::Warning),
            ModelChange::MaybeOptimisation => ("maybe_optimisation", Weight::Note),
            ModelChange::Optimisation => ("optimisation", Weight::Note),
            ModelChange::NoChange => ("no_change", Weight::Note),
        };
        Curve {
            change,
            x,
            kind,
            word: word(change),
            weight: if change.ignored { Weight::Note } else { weight },
        }
    }
}
