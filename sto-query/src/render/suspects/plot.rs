//! A plot of a value of the runs over time, with the range expected from the runs before each.

use super::mean;
use crate::render::plot::{MARGIN, Percent, Point, Px, Series, vertical};
use crate::render::series::minute;
use crate::series::{LevelShift, expected};
use crate::suspects::Suspects;
use crate::text::{printable, shorten};
use maud::{Markup, html};
use std::ops::Range;

/// Height of the plot in pixels, and the margin above it. The style sheet adds a margin below for
/// builds and days.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 8.0;
/// Minimum distance of the names of builds in percent of the width, and their maximum width in
/// characters.
const LABEL_SPACE: f64 = 22.0;
const LABEL_WIDTH: usize = 11;

/// A plotted value: index of the run, number, and formatted text.
pub(super) type Value = (usize, f64, String);

/// Draws a value of the runs over time. Runs can lack the value.
pub(super) fn figure(
    title: &str,
    found: &Suspects,
    values: Vec<Value>,
    changes: &[LevelShift],
) -> Markup {
    let judged = &found.judged;
    let expected = expectations(found, &values);
    let points = values.into_iter().zip(expected);
    let points = points.map(|((at, value, text), expected)| {
        let run = &found.runs[at].run;
        Point {
            at,
            value,
            expected: expected.map(|expected| {
                let (low, high) = expected.band();
                (expected.mean, low..high)
            }),
            is_marked: judged.runs.contains(&at),
            text: format!("{} {}: {text}", run.build, minute(run.recorded.as_deref())),
        }
    });
    let series = Series {
        runs: found.runs.len(),
        points: points.collect(),
        top: TOP,
        height: HEIGHT,
    };
    let axis = series.axis();
    html! {
        figure.plot {
            figcaption { (title) }
            div {
                svg.scale aria-hidden="true" {
                    @for tick in axis.ticks() {
                        text x="100%" text-anchor="end" y=(Px(series.y(&axis, tick) + 4.0)) {
                            (short_number(tick))
                        }
                    }
                }
                svg.series role="img" {
                    title { (title) }
                    @if !judged.window.is_empty() {
                        @let first = series.x(judged.window.start);
                        @let last = series.x(judged.window.end - 1);
                        rect.window x=(Percent((first - MARGIN / 2.0).max(0.0)))
                            width=(Percent(last - first + MARGIN)) y=(Px(TOP)) height=(Px(HEIGHT)) {}
                    }
                    (series.curves(&axis))
                    @for change in changes { (series.change(change, mean)) }
                    @if series.points.iter().any(|point| point.is_marked) {
                        (vertical("judged", series.x(judged.runs.start), series.ends(), None))
                    }
                    (series.dots(&axis))
                    (builds(found, &series))
                }
            }
        }
    }
}

/// Returns the value expected for each run, given the runs of earlier builds.
fn expectations(found: &Suspects, values: &[Value]) -> Vec<Option<crate::series::Expected>> {
    let build = |value: &Value| found.build_of(value.0);
    let mut builds: Vec<Range<usize>> = Vec::new();
    for values in values.chunk_by(|a, b| build(a) == build(b)) {
        let start = builds.last().map_or(0, |last| last.end);
        builds.push(start..start + values.len());
    }
    let values: Vec<f64> = values.iter().map(|(_, value, _)| *value).collect();
    expected(&values, &builds, found.judged.window.len())
}

/// Draws the builds below their first runs, as many as there is room for, with their days.
fn builds(found: &Suspects, series: &Series) -> Markup {
    let runs = &found.runs;
    let mut taken_until = f64::NEG_INFINITY;
    let mut labelled = Vec::new();
    for (at, run) in runs.iter().enumerate() {
        let x = series.x(at);
        let is_first = at == 0 || runs[at - 1].run.build != run.run.build;
        if is_first && x >= taken_until {
            taken_until = x + LABEL_SPACE;
            labelled.push((x, &run.run));
        }
    }
    html! {
        @for (x, run) in labelled {
            @let anchor = match x {
                ..12.0 => "start",
                88.0.. => "end",
                _ => "middle",
            };
            @let day = run.recorded.as_deref().and_then(|time| time.get(..10));
            text text-anchor=(anchor) x=(Percent(x)) y=(Px(TOP + HEIGHT + 14.0)) {
                (shorten(&printable(&run.build), LABEL_WIDTH))
            }
            // The style sheet hides the inner days on narrow screens.
            text.day.inner[anchor == "middle"] text-anchor=(anchor) x=(Percent(x))
                y=(Px(TOP + HEIGHT + 28.0)) {
                (day.unwrap_or_default())
            }
        }
    }
}

/// Formats a number for the axis of a plot: `0.25`, `1,500`, `20k`, `3M`.
fn short_number(number: f64) -> String {
    // Steps have one significant digit, so their multiples have few.
    let rounded = |number: f64| ((number * 1e6).round() / 1e6).to_string();
    match number {
        ..1e4 => rounded(number),
        ..1e6 => rounded(number / 1e3) + "k",
        ..1e9 => rounded(number / 1e6) + "M",
        ..1e12 => rounded(number / 1e9) + "G",
        _ => format!("{number:.0e}"),
    }
}
