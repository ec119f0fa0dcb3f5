//! All runs over time: what each cost as a whole, and its metrics.

use super::plot::{Plot, Point};
use super::sides::measured;
use super::{Html, mean, signed};
use crate::candidates::{CandidateRun, Candidates};
use crate::text::numbers::percent;
use std::collections::BTreeSet;

/// From this score on, the whole run differs so much that all its functions may.
const FAR: f64 = 2.0;

pub(super) fn write(html: &mut Html, found: &Candidates) {
    html.raw("<h3>Overview</h3>\n");
    if let Some(text) = whole(found) {
        html.raw("<p>").text(&text).raw("</p>\n");
    }
    let point = |(at, run): (usize, &CandidateRun)| Point {
        at,
        value: run.whole.samples as f64,
        text: measured(run.whole, &found.history.sample_type),
    };
    Plot {
        title: "Samples of each run".to_owned(),
        found,
        points: found.runs.iter().enumerate().map(point).collect(),
        changes: &[],
    }
    .write(html);
    html.raw(
        "<p class=\"soft key\">In this and all plots below, each dot is a run, the oldest on the \
         left, and red ones are judged. The line through the shade is the mean of the runs of builds \
         before, as many as the window has; the shade reaches two standard deviations to either side, so a dot \
         on its upper edge has a score of 2. Runs of the window stand on grey. A dashed line is where \
         the numbers changed for good. A pointer that rests on a dot shows its run.</p>\n",
    );
    let names: BTreeSet<&String> = found
        .runs
        .iter()
        .flat_map(|run| run.metrics.keys())
        .collect();
    for name in names {
        let point = |(at, run): (usize, &CandidateRun)| {
            let value = *run.metrics.get(name)?;
            Some(Point {
                at,
                value,
                text: value.to_string(),
            })
        };
        let points: Vec<Point> = found.runs.iter().enumerate().filter_map(point).collect();
        // Of what never changes, as an exit status, the judged run tells enough.
        if points.iter().all(|point| point.value == points[0].value) {
            continue;
        }
        Plot {
            title: format!("{name}, a metric of the runs"),
            found,
            points,
            changes: &[],
        }
        .write(html);
    }
}

/// How the whole of the judged run compares, and what that means for the candidates.
fn whole(found: &Candidates) -> Option<String> {
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
        let (more, longer, samples) = match change > 0.0 {
            true => ("more", "longer", "more"),
            false => ("less", "a shorter time", "fewer"),
        };
        text += &format!(
            " A run that does {more} work, or is recorded for {longer}, has {samples} samples in every \
             function: by {} here. A difference that all functions have alike is no cause.",
            percent(change.abs()),
        );
    }
    Some(text)
}
