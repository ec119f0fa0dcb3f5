//! A suspect: its scores, its history, and the contexts in which it differs.

use super::plot::figure;
use super::{GRAPH_ID, contexts, list, mean, signed, suspect_id};
use crate::render::html::{name, short_name, whole_name};
use crate::render::series::single_run_warning;
use crate::series::{FunctionScore, Status};
use crate::suspects::{Suspect, Suspects};
use crate::text::{format_count, percent};
use maud::{Markup, html};

pub(super) fn article(found: &Suspects, number: usize, suspect: &Suspect) -> Markup {
    let score = &suspect.score;
    let function = &score.function.function;
    let samples = suspect.samples.iter().zip(&found.runs).enumerate();
    let samples = samples.map(|(at, (&samples, run))| {
        let part = samples / (run.whole.samples.max(1)) as f64;
        let counted = format_count(samples as u64, "sample");
        (
            at,
            samples,
            format!("{counted}, {} of the run", percent(part)),
        )
    });
    let title = format!("Samples of {} in each run", short_name(function));
    html! {
        article.finding tabindex="-1" id=(suspect_id(number)) {
            h4 { (number) ". " (name(function)) " " (list::status(score.status)) }
            (whole_name(function))
            @if !score.function.module.is_empty() { p.place { (score.function.module) } }
            p { (sentence(score)) }
            @if let Some(was) = &score.moved_from { p { "It was called " (name(&was.function)) " before." } }
            p { (own(suspect)) }
            (figure(&title, found, samples.collect(), &score.changes))
            @for change in &score.changes {
                p.soft {
                    "Level shift at " (change.run.build) ": " (mean(change.before)) " before, "
                    (mean(change.after)) " after, on average (p " (format!("{:.0e}", change.p))
                    (single_run_warning(change)) ")."
                }
            }
            @if let Some(callers) = &suspect.callers { (contexts::callers(callers)) }
            @if let Some(callees) = &suspect.callees { (contexts::callees(callees)) }
            p.more {
                @if found.stacks.is_some() {
                    a href={ "#" (GRAPH_ID) } data-search=(short_name(function)) {
                        "Show it in the flame graph"
                    }
                    @if suspect.command.line().is_some() { "; " }
                }
                @if let Some(command) = suspect.command.line() {
                    "all its callers by " code { (command) }
                }
            }
        }
    }
}

fn sentence(score: &FunctionScore) -> String {
    match score.status {
        Status::New => format!(
            "{} in a judged run, on average, and none in the window: it is new.",
            mean_samples(score.actual)
        ),
        Status::Gone => format!(
            "{} in a run of the window, on average, and none in the judged: it is gone.",
            mean_samples(score.expected)
        ),
        Status::Known | Status::Moved => format!(
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

/// Returns whether the difference is in the function's own code or in its callees.
fn own(suspect: &Suspect) -> String {
    let difference = suspect.self_difference();
    format!(
        "Of the difference, {} are in its own code ({} samples, {} expected), and {} in what it calls.",
        signed(difference),
        mean(suspect.self_actual),
        mean(suspect.self_expected),
        signed(suspect.score.difference - difference),
    )
}
