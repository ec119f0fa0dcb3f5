//! What was compared with what.

use crate::compare::{Comparison, Side};
use crate::render::html::Html;
use crate::select::shortened_revision;
use crate::text::numbers::counted;
use crate::text::numbers::{grouped, percent, quantity};

/// Both sides, the baseline first.
pub(super) fn write(html: &mut Html, comparison: &Comparison) {
    html.raw("<div class=\"sides\">\n<section class=\"side\"><h3>Baseline</h3>\n");
    side(html, comparison, &comparison.baseline);
    html.raw("</section>\n<section class=\"side\"><h3>Candidate</h3>\n");
    side(html, comparison, &comparison.candidate);
    html.raw("</section>\n</div>\n");
}

fn side(html: &mut Html, comparison: &Comparison, side: &Side) {
    html.raw("<p class=\"build\">")
        .text(&format!("{}@{}", side.executable, side.build))
        .raw("</p>\n<dl>\n");
    let mut fact = |name: &'static str, value: &str| {
        html.raw("<dt>")
            .raw(name)
            .raw("</dt><dd>")
            .text(value)
            .raw("</dd>\n");
    };
    let mut measured = counted(side.samples, "sample");
    if let Some(sample_type) = &comparison.sample_type {
        // Folded stacks name no event: "samples of samples" would tell nothing.
        if sample_type.event != "samples" {
            measured += &format!(" of {}", sample_type.event);
        }
        if let Some(quantity) = quantity(side.value, sample_type.unit) {
            measured += &format!(", {quantity}");
        }
    }
    fact("runs", &grouped(side.runs as u64));
    fact("measured", &measured);
    match (&side.first_recorded, &side.last_recorded) {
        (Some(first), Some(last)) if first != last => {
            fact("recorded", &format!("{first} to {last}"));
        }
        (Some(first), _) => fact("recorded", first),
        _ => fact("recorded", "at an unknown time"),
    }
    match side.hosts.is_empty() {
        true => fact("host", "unknown"),
        false => fact("host", &side.hosts.join(", ")),
    }
    if let Some(revision) = &side.revision {
        fact("revision", &shortened_revision(revision));
    }
    if let Some(id) = &side.gnu_build_id {
        fact("build id", id);
    }
    let quality = [
        ("without symbol", side.unresolved_share),
        ("cut stacks", side.truncated_share),
        ("lost events", side.lost_share),
    ];
    for (name, share) in quality {
        if share > 0.0 {
            fact(name, &percent(share));
        }
    }
    html.raw("</dl>\n");
}
