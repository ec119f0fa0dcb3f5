//! What was drawn into a file.

use super::Subject;
use crate::tree::View;
use serde::Serialize;

/// What a drawing in a file shows; schema `sto.drawing/1`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DrawingReport {
    /// `sto.drawing/1`.
    pub schema: &'static str,
    /// The file.
    pub file: String,
    /// What was drawn: one selection, or a baseline and a candidate.
    pub subjects: Vec<Subject>,
}

/// Reports a drawing of these views, each in its sample type.
pub fn drawing(file: String, views: &[(&View, usize)]) -> DrawingReport {
    let subject = |&(view, sample_type): &(&View, usize)| {
        let whole = view.self_costs(sample_type).into_iter().sum();
        Subject::new(view, sample_type, whole)
    };
    DrawingReport {
        schema: "sto.drawing/1",
        file,
        subjects: views.iter().map(subject).collect(),
    }
}
