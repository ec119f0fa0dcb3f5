//! The sides of a comparison.

use crate::compare::{self, Comparison};
use crate::render::header::window_text;
use crate::render::html::{Side, measured, recorded, sides};
use crate::select::shortened_revision;
use crate::text::{group_digits, percent};
use maud::Markup;
use sto_core::units::Cost;

/// Returns both sides, baseline first.
pub(super) fn section(comparison: &Comparison) -> Markup {
    sides([
        side("Baseline", comparison, &comparison.baseline),
        side("Candidate", comparison, &comparison.candidate),
    ])
}

fn side(heading: &'static str, comparison: &Comparison, side: &compare::Side) -> Side {
    let mut shown = Side {
        heading,
        build: format!("{}@{}", side.executable, side.build),
        facts: Vec::new(),
    };
    let cost = Cost {
        samples: side.samples,
        value: side.value,
    };
    shown.fact("runs", group_digits(side.runs as u64));
    shown.fact("time", window_text(&side.windows()));
    shown.fact("measured", measured(cost, comparison.sample_type.as_ref()));
    let (first, last) = (&side.first_recorded, &side.last_recorded);
    shown.fact("recorded", recorded(first.as_ref(), last.as_ref()));
    shown.fact(
        "host",
        if side.hosts.is_empty() {
            "unknown".to_owned()
        } else {
            side.hosts.join(", ")
        },
    );
    shown.fact("revision", side.revision.as_deref().map(shortened_revision));
    shown.fact("build id", side.gnu_build_id.clone());
    for (name, share) in [
        ("without symbol", side.unresolved_share),
        ("cut stacks", side.truncated_share),
        ("lost events", side.lost_share),
    ] {
        shown.fact(name, (share > 0.0).then(|| percent(share)));
    }
    shown
}
