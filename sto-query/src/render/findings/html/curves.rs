//! Functions whose growth of cost changed.

use crate::compare::Comparison;
use crate::models::ModelChanges;
use crate::render::findings::curves::{Weight, changed};
use crate::render::models::changes::as_before;
use crate::render::models::figures;
use maud::{Markup, html};

/// Returns the changed functions, and the number of unchanged ones.
pub(super) fn section(comparison: &Comparison, curves: &ModelChanges) -> Markup {
    let changed = changed(comparison);
    html! {
        h3 { "Cost by " (curves.candidate.x) }
        @if !changed.is_empty() {
            ul.curves {
                @for curve in &changed {
                    li {
                        span.kind.worse[curve.weight == Weight::Error] { (curve.word) } " "
                        (curve.change.reason)
                        (figures(curves, curve.change))
                    }
                }
            }
        }
        @if let Some(sentence) = as_before(curves) { p { (sentence) } }
    }
}
