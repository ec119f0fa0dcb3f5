//! Functions whose growth of cost changed.

use crate::compare::Comparison;
use crate::models::ModelChanges;
use crate::render::findings::curves::{Weight, changed};
use crate::render::models::figures;
use crate::text::format_count;
use maud::{Markup, html};

/// Returns the changed functions, and the number of unchanged ones.
pub(super) fn section(comparison: &Comparison, curves: &ModelChanges) -> Markup {
    let changed = changed(comparison);
    let same = curves.functions.len() - changed.len() + curves.unchanged;
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
        @if same > 0 {
            p { "The cost of " (format_count(same as u64, "function")) " grows with " (curves.candidate.x) " as before." }
        }
    }
}
