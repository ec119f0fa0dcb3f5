//! The suspects of a run as a page: the runs that were compared, all runs over time, the suspects
//! with their history and contexts, and the stacks of both sides.

mod contexts;
mod list;
mod method;
mod overview;
mod plot;
mod sides;
mod suspect;

use super::flame::{FlameGraph, FlameSides, MAX_FRAMES};
use super::html::{Page, short_name};
use super::series::minute;
use crate::suspects::Suspects;
use crate::text::{Style, Words, format_count, group_digits, paragraph, printable};
use maud::{Markup, html};

/// Returns the suspects of a run as a self-contained HTML page that loads nothing and runs only its
/// own scripts. Without scripts, all of it can be read.
pub fn html(found: &Suspects, words: Words) -> String {
    let title = format!("{}: {}", verdict(found), subject(found));
    let page = Page {
        title: &title,
        style: include_str!("suspects.css"),
        script: include_str!("suspects.js"),
    };
    let color = match (found.suspects.is_empty(), found.expected) {
        (true, None) => "unsure",
        (true, Some(_)) => "fine",
        (false, _) => "worse",
    };
    page.render(&html! {
        header {
            h1 { span.verdict.(color) { (verdict(found)) } }
            p.reason { (reason(found)) }
        }
        main.judged {
            h2 { (subject(found)) }
            (sides::section(found))
            (overview::section(found))
            (list::table(found, words))
            @for (number, suspect) in (1..).zip(&found.suspects) {
                (suspect::article(found, number, suspect))
            }
            (list::changed(found))
            (flame_graph(found))
            (method::method_section(found, words))
        }
    })
}

/// Returns the verdict and the reason, as on the page, as text of two lines.
pub fn text(found: &Suspects, style: Style) -> String {
    let verdict = format!("{}: {}", verdict(found), subject(found));
    format!(
        "{}\n{}",
        style.bold(&printable(&verdict)),
        paragraph(style, "", &reason(found), 0)
    )
}

fn verdict(found: &Suspects) -> String {
    match (found.expected, found.suspects.len() + found.omitted) {
        (None, _) => "Nothing to expect".to_owned(),
        (Some(_), 0) => "As expected".to_owned(),
        (Some(_), number) => {
            let functions = format_count(number as u64, "function");
            format!("{functions} far from expected")
        }
    }
}

/// Formats `demo, startup`.
fn subject(found: &Suspects) -> String {
    let benchmark = found.history.benchmark.iter();
    let benchmark: String = benchmark.map(|name| format!(", {name}")).collect();
    format!("{}{benchmark}", found.history.executable)
}

fn reason(found: &Suspects) -> String {
    let before = runs_before(found);
    let judged = &found.run().run;
    let run = match (found.judged.runs.len(), judged.recorded.as_deref()) {
        (1, Some(_)) => format!(
            "the run of {} at {}",
            judged.build,
            minute(judged.recorded.as_deref())
        ),
        (1, None) => format!("the run of {}", judged.build),
        (runs, _) => format!("the {runs} runs of {}", judged.build),
    };
    let Some(first) = found.suspects.first() else {
        return match found.expected {
            None => {
                "At least two earlier runs are needed to predict a run, so nothing can be said about this one."
                    .to_owned()
            }
            Some(_) => {
                format!(
                    "In {run}, none of {} deviated from the mean of the {before} by more than chance explains.",
                    format_count(found.tested as u64, "function"),
                )
            }
        };
    };
    let functions = match found.suspects.len() + found.omitted {
        1 => "one function".to_owned(),
        number => format_count(number as u64, "function"),
    };
    format!(
        "In {run}, {functions} of {} deviated from the mean of the {before} by more than chance explains. \
         The first is {}: {} samples, where {} were expected.",
        found.tested,
        short_name(&first.score.function.function),
        mean(first.score.actual),
        mean(first.score.expected),
    )
}

/// Formats `10 runs before it`.
fn runs_before(found: &Suspects) -> String {
    format!(
        "{} before it",
        format_count(found.judged.window.len() as u64, "run")
    )
}

fn flame_graph(found: &Suspects) -> Markup {
    html! {
        @if let Some(stacks) = &found.stacks {
            h3 { "Flame graph of the judged runs against the average of their window" }
            (FlameGraph {
                id: GRAPH_ID,
                stacks,
                sides: FlameSides {
                    runs: [found.judged.window.len(), found.judged.runs.len()],
                    names: ["average of the window", "judged"],
                    unit: "an average run",
                    colors: "Red, or orange, has more samples in a judged run than in an average run of the window, \
                             blue fewer",
                },
                min_share: found.options.min_share,
                max_frames: MAX_FRAMES,
            }.figure())
        }
    }
}

const GRAPH_ID: &str = "graph";

fn suspect_id(number: usize) -> String {
    format!("suspect-{number}")
}

/// Formats a mean number of samples with one decimal; further digits would be noise.
fn mean(samples: f64) -> String {
    let tenths = (samples * 10.0).round() as u64;
    match tenths % 10 {
        0 => group_digits(tenths / 10),
        tenth => format!("{}.{tenth}", group_digits(tenths / 10)),
    }
}

/// Formats `+1,205.6`, `−12`, `0`.
fn signed(number: f64) -> String {
    let text = mean(number.abs());
    match text.as_str() {
        "0" => text,
        _ if number < 0.0 => format!("−{text}"),
        _ => format!("+{text}"),
    }
}
