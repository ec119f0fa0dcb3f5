//! The total cost and the metrics of all runs over time.

use super::plot::{Value, figure};
use super::{mean, signed};
use crate::render::html::measured;
use crate::suspects::{SuspectRun, Suspects};
use crate::text::percent;
use maud::{Markup, html};
use std::collections::BTreeSet;

/// Minimum score of the whole run at which its difference may explain the scores of its functions.
const FAR: f64 = 2.0;

pub(super) fn section(found: &Suspects) -> Markup {
    let of_runs = |number: &dyn Fn(&SuspectRun) -> Option<(f64, String)>| -> Vec<Value> {
        let values = found.runs.iter().enumerate();
        let values =
            values.filter_map(|(at, run)| number(run).map(|(value, text)| (at, value, text)));
        values.collect()
    };
    let samples = of_runs(&|run| {
        let text = measured(run.whole, Some(&found.history.sample_type));
        Some((run.whole.samples as f64, text))
    });
    let names: BTreeSet<&String> = found
        .runs
        .iter()
        .flat_map(|run| run.metrics.keys())
        .collect();
    let metrics = names.into_iter().map(|name| {
        let metric = |run: &SuspectRun| {
            run.metrics
                .get(name)
                .map(|value| (*value, value.to_string()))
        };
        (format!("{name}, a metric of the runs"), of_runs(&metric))
    });
    // Metrics that never change, such as an exit status, are only shown for the judged run.
    let metrics = metrics.filter(|(_, values)| values.iter().any(|value| value.1 != values[0].1));
    html! {
        h3 { "Overview" }
        @if let Some(text) = whole(found) { p { (text) } }
        (figure("Samples of each run", found, samples, &[]))
        p.soft.key {
            "In this and all plots below, each dot is a run, the oldest on the left, and red ones are \
             judged. The line through the shade is the mean of the runs of builds before, as many as the \
             window has; the shade reaches two standard deviations to either side, so a dot on its upper \
             edge has a score of 2. Runs of the window have a grey background. A dashed line is a level shift. A pointer that \
             rests on a dot shows its run."
        }
        @for (title, values) in metrics { (figure(&title, found, values, &[])) }
    }
}

/// Returns the score of the whole judged run, and how it affects the scores of functions.
fn whole(found: &Suspects) -> Option<String> {
    let (expected, score) = (found.expected?, found.score()?);
    let actual = found.actual();
    let mut text = format!(
        "A judged run has {} samples, where {} were expected ({} standard deviations).",
        mean(actual),
        mean(expected.mean),
        signed(score),
    );
    if score.abs() >= FAR && expected.mean > 0.0 {
        let change = actual / expected.mean - 1.0;
        let (more, longer, samples) = if change > 0.0 {
            ("more", "longer", "more")
        } else {
            ("less", "a shorter time", "fewer")
        };
        text += &format!(
            " A run that does {more} work, or is recorded for {longer}, has {samples} samples in every \
             function: by {} here. A difference that all functions share is not a cause.",
            percent(change.abs()),
        );
    }
    Some(text)
}
