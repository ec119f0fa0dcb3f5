//! What was judged, and against what.

use super::Html;
use crate::candidates::{CandidateRun, Candidates};
use crate::report::SampleTypeReport;
use crate::select::shortened_revision;
use crate::text::numbers::counted;
use crate::text::numbers::quantity;
use sto_core::units::Cost;

/// The window, and then the judged run.
pub(super) fn write(html: &mut Html, found: &Candidates) {
    let sample_type = &found.history.sample_type;
    let window = &found.runs[found.judged.window.clone()];
    html.raw("<div class=\"sides\">\n<section class=\"side\"><h3>Window</h3>\n<p class=\"build\">");
    html.text(&match window {
        [] => "no runs".to_owned(),
        [.., _] => builds(window),
    });
    html.raw("</p>\n<dl>\n");
    fact(html, "runs", &format!("{} before the judged", window.len()));
    if let Some(expected) = found.expected {
        let average = format!(
            "{} samples on average, ± {}",
            super::mean(expected.mean),
            super::mean(expected.deviation)
        );
        fact(html, "measured", &average);
    }
    if let [first, .., last] = window {
        recorded(html, first, last);
    }
    html.raw("</dl>\n</section>\n<section class=\"side\"><h3>Judged</h3>\n<p class=\"build\">");
    let run = found.run();
    html.text(&format!("{}@{}", found.history.executable, run.run.build))
        .raw("</p>\n<dl>\n");
    if let Some(benchmark) = &found.history.benchmark {
        fact(html, "benchmark", benchmark);
    }
    let judged = &found.runs[found.judged.runs.clone()];
    match judged {
        [only] => fact(html, "measured", &measured(only.whole, sample_type)),
        [..] => {
            fact(html, "runs", &judged.len().to_string());
            let average = format!("{} samples on average", super::mean(found.actual()));
            fact(html, "measured", &average);
        }
    }
    recorded(html, &judged[0], run);
    if let Some(host) = &run.host {
        fact(html, "host", host);
    }
    if let Some(revision) = &run.revision {
        fact(html, "revision", &shortened_revision(revision));
    }
    fact(html, "profile", &run.run.profile);
    for (key, value) in &run.labels {
        fact(html, key, value);
    }
    for (name, value) in &run.metrics {
        fact(html, name, &value.to_string());
    }
    html.raw("</dl>\n</section>\n</div>\n");
}

/// `v1 to v3`, by the first and the last run.
fn builds(window: &[CandidateRun]) -> String {
    let (first, last) = (&window[0].run.build, &window[window.len() - 1].run.build);
    match first == last {
        true => first.clone(),
        false => format!("{first} to {last}"),
    }
}

fn recorded(html: &mut Html, first: &CandidateRun, last: &CandidateRun) {
    let text = match (&first.run.recorded, &last.run.recorded) {
        (Some(first), Some(last)) if first != last => format!("{first} to {last}"),
        (Some(first), _) => first.clone(),
        (None, _) => "at an unknown time".to_owned(),
    };
    fact(html, "recorded", &text);
}

fn fact(html: &mut Html, name: &str, value: &str) {
    html.raw("<dt>")
        .text(name)
        .raw("</dt><dd>")
        .text(value)
        .raw("</dd>\n");
}

/// `1,234 samples of cpu-clock, 1.23 s`.
pub(super) fn measured(cost: Cost, sample_type: &SampleTypeReport) -> String {
    let mut text = counted(cost.samples, "sample");
    // Folded stacks name no event: "samples of samples" would tell nothing.
    if sample_type.event != "samples" {
        text += &format!(" of {}", sample_type.event);
    }
    if let Some(quantity) = quantity(cost.value, sample_type.unit) {
        text += &format!(", {quantity}");
    }
    text
}
