//! One candidate: what happened, its history, and the contexts in which it happened.

use super::plot::{Plot, Point};
use super::{GRAPH_ID, Html, candidate_id, contexts, list, mean, signed};
use crate::candidates::{Candidate, Candidates};
use crate::render::html::short_name;
use crate::render::series::rests_on;
use crate::report::ScoreReport;
use crate::series::Status;
use crate::text::numbers::counted;
use crate::text::numbers::percent;
use crate::text::printable;

pub(super) fn write(html: &mut Html, found: &Candidates, number: usize, candidate: &Candidate) {
    let score = &candidate.score;
    let name = &score.function.function;
    html.raw("<article class=\"finding\" tabindex=\"-1\" id=\"")
        .text(&candidate_id(number))
        .raw("\">\n<h4>")
        .text(&number.to_string())
        .raw(". <code>")
        .text(&short_name(name))
        .raw("</code> ");
    list::status(html, score.status);
    html.raw("</h4>\n");
    if short_name(name) != printable(name) {
        html.raw("<details>\n<summary>Its whole name</summary>\n<code>")
            .text(name)
            .raw("</code>\n</details>\n");
    }
    if !score.function.module.is_empty() {
        html.raw("<p class=\"place\">")
            .text(&score.function.module)
            .raw("</p>\n");
    }
    html.raw("<p>").text(&sentence(score)).raw("</p>\n<p>");
    html.text(&own(candidate)).raw("</p>\n");
    let points = candidate.samples.iter().zip(&found.runs).enumerate();
    Plot {
        title: format!("Samples of {} in each run", short_name(name)),
        found,
        points: points
            .map(|(at, (&samples, run))| Point {
                at,
                value: samples,
                text: format!(
                    "{}, {} of the run",
                    counted(samples as u64, "sample"),
                    percent(samples / (run.whole.samples.max(1)) as f64)
                ),
            })
            .collect(),
        changes: &score.changes,
    }
    .write(html);
    for change in &score.changes {
        html.raw("<p class=\"soft\">")
            .text(&format!(
                "Changed for good with {}: {} before, {} after, on average (p {:.0e}{}).",
                change.run.build,
                mean(change.before),
                mean(change.after),
                change.p,
                rests_on(change),
            ))
            .raw("</p>\n");
    }
    if let Some(callers) = &candidate.callers {
        contexts::callers(html, callers);
    }
    if let Some(callees) = &candidate.callees {
        contexts::callees(html, callees);
    }
    html.raw("<p class=\"more\">");
    if found.stacks.is_some() {
        html.raw("<a href=\"#")
            .raw(GRAPH_ID)
            .raw("\" data-search=\"")
            .text(&short_name(name))
            .raw("\">Show it in the flame graph</a>; ");
    }
    html.raw("all its callers by <code>")
        .text(&candidate.command.to_string())
        .raw("</code></p>\n</article>\n");
}

fn sentence(score: &ScoreReport) -> String {
    match score.status {
        Status::New => format!(
            "{} in a judged run, on average, and none in the window: it is new.",
            mean_samples(score.actual)
        ),
        Status::Gone => format!(
            "{} in a run of the window, on average, and none in the judged: it is gone.",
            mean_samples(score.expected)
        ),
        Status::Known => format!(
            "{}, where {} ± {} were expected: a difference of {}, which is {} standard deviations.",
            mean_samples(score.actual),
            mean(score.expected),
            mean(score.deviation),
            signed(score.difference),
            signed(score.score),
        ),
    }
}

fn mean_samples(samples: f64) -> String {
    format!("{} samples", mean(samples))
}

/// Whether the difference is its own, or that of what it calls.
fn own(candidate: &Candidate) -> String {
    let difference = candidate.self_difference();
    format!(
        "Of the difference, {} are in its own code ({} samples, {} expected), and {} in what it calls.",
        signed(difference),
        mean(candidate.self_actual),
        mean(candidate.self_expected),
        signed(candidate.score.difference - difference),
    )
}
