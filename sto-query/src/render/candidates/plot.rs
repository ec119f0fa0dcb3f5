//! A number of the runs over time, with what the runs before each lead to expect.
//!
//! Positions across are in percent, so that the plot takes the width that there is, while its text and
//! its dots keep their size; lines are in a picture of their own, which is stretched.

use super::Html;
use crate::candidates::Candidates;
use crate::render::html::{Axis, coordinate};
use crate::render::series::minute;
use crate::report::ChangePointReport;
use crate::series::{Expected, expected};
use crate::text::{printable, shorten};
use std::ops::Range;

/// Pixels of the plot itself, and above it; the style sheet has room below it for builds and days.
const HEIGHT: f64 = 150.0;
const TOP: f64 = 8.0;
/// Percent of the width that stay free at each end, for the dots there.
const MARGIN: f64 = 2.0;
/// Percent of the width that a build's name takes at the least, and columns that it takes at the most.
const LABEL_SPACE: f64 = 22.0;
const LABEL_WIDTH: usize = 11;

/// A run in a plot.
pub(super) struct Point {
    /// Its place in the history.
    pub(super) at: usize,
    /// What is plotted.
    pub(super) value: f64,
    /// The same for people.
    pub(super) text: String,
}

/// A number of the runs over time; some runs may have none.
pub(super) struct Plot<'a> {
    pub(super) title: String,
    pub(super) found: &'a Candidates,
    pub(super) points: Vec<Point>,
    pub(super) changes: &'a [ChangePointReport],
}

impl Plot<'_> {
    /// Draws it as a figure.
    pub(super) fn write(&self, html: &mut Html) {
        let values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        let bands = self.bands();
        let upper = bands.iter().flatten().map(|band| band.band().1);
        let axis = Axis::over(values.iter().copied().chain(upper).fold(0.0, f64::max));
        html.raw("<figure class=\"plot\">\n<figcaption>")
            .text(&self.title)
            .raw("</figcaption>\n<div>\n<svg class=\"scale\" aria-hidden=\"true\">");
        for tick in axis.ticks() {
            html.raw("<text x=\"100%\" text-anchor=\"end\" y=\"")
                .text(&coordinate(y(&axis, tick) + 4.0))
                .raw("\">")
                .text(&short_number(tick))
                .raw("</text>");
        }
        html.raw("</svg>\n<svg class=\"series\" role=\"img\">\n<title>")
            .text(&self.title)
            .raw("</title>\n");
        self.window(html);
        for tick in axis.ticks() {
            html.raw("<line class=\"grid\" x2=\"100%\"");
            attribute(html, " y1=\"", y(&axis, tick), "");
            attribute(html, " y2=\"", y(&axis, tick), "");
            html.raw("/>\n");
        }
        self.curves(html, &axis, &bands);
        for change in self.changes {
            let x = (self.x(change.at) + self.x(change.at.saturating_sub(1))) / 2.0;
            vertical(html, "change", x);
        }
        if self
            .points
            .iter()
            .any(|point| self.found.judged.runs.contains(&point.at))
        {
            vertical(html, "judged-run", self.x(self.found.judged.runs.start));
        }
        for point in &self.points {
            self.dot(html, &axis, point);
        }
        self.builds(html);
        html.raw("</svg>\n</div>\n</figure>\n");
    }

    /// What the runs before each point's build lead to expect of it.
    fn bands(&self) -> Vec<Option<Expected>> {
        let values: Vec<f64> = self.points.iter().map(|point| point.value).collect();
        let build = |point: &Point| self.found.build_of(point.at);
        let mut builds: Vec<Range<usize>> = Vec::new();
        for points in self.points.chunk_by(|a, b| build(a) == build(b)) {
            let start = builds.last().map_or(0, |last| last.end);
            builds.push(start..start + points.len());
        }
        expected(&values, &builds, self.found.judged.window.len())
    }

    /// Percent of the width.
    fn x(&self, at: usize) -> f64 {
        let steps = self.found.runs.len().saturating_sub(1).max(1) as f64;
        MARGIN + (100.0 - 2.0 * MARGIN) * at as f64 / steps
    }

    fn window(&self, html: &mut Html) {
        let window = &self.found.judged.window;
        if window.is_empty() {
            return;
        }
        let (first, last) = (self.x(window.start), self.x(window.end - 1));
        html.raw("<rect class=\"window\"");
        attribute(html, " x=\"", (first - MARGIN / 2.0).max(0.0), "%");
        attribute(html, " width=\"", last - first + MARGIN, "%");
        attribute(html, " y=\"", TOP, "");
        attribute(html, " height=\"", HEIGHT, "");
        html.raw("/>\n");
    }

    /// The band and the mean that the runs before lead to expect, and the line through the dots.
    fn curves(&self, html: &mut Html, axis: &Axis, bands: &[Option<Expected>]) {
        html.raw("<svg viewBox=\"0 0 100 ")
            .text(&coordinate(TOP + HEIGHT))
            .raw("\" preserveAspectRatio=\"none\" height=\"")
            .text(&coordinate(TOP + HEIGHT))
            .raw("\">\n");
        let known = || {
            let bands = self.points.iter().zip(bands);
            bands.filter_map(|(point, band)| Some((point.at, (*band)?)))
        };
        let lower = known().map(|(at, band)| (at, band.band().0.max(0.0)));
        let upper = known().map(|(at, band)| (at, band.band().1));
        html.raw("<polygon class=\"band\" points=\"");
        self.coordinates(html, axis, lower.rev().chain(upper));
        html.raw("\"/>\n<polyline class=\"mean\" points=\"");
        self.coordinates(html, axis, known().map(|(at, band)| (at, band.mean)));
        html.raw("\"/>\n<polyline class=\"values\" points=\"");
        let points = self.points.iter().map(|point| (point.at, point.value));
        self.coordinates(html, axis, points);
        html.raw("\"/>\n</svg>\n");
    }

    fn coordinates(
        &self,
        html: &mut Html,
        axis: &Axis,
        points: impl Iterator<Item = (usize, f64)>,
    ) {
        for (at, value) in points {
            html.text(&coordinate(self.x(at)))
                .raw(",")
                .text(&coordinate(y(axis, value)))
                .raw(" ");
        }
    }

    fn dot(&self, html: &mut Html, axis: &Axis, point: &Point) {
        let is_judged = self.found.judged.runs.contains(&point.at);
        html.raw("<circle");
        if is_judged {
            html.raw(" class=\"judged-run\"");
        }
        attribute(html, " cx=\"", self.x(point.at), "%");
        attribute(html, " cy=\"", y(axis, point.value), "");
        attribute(html, " r=\"", if is_judged { 5.0 } else { 3.0 }, "");
        let run = &self.found.runs[point.at].run;
        let about = format!(
            "{} {}: {}",
            run.build,
            minute(run.recorded.as_deref()),
            point.text
        );
        html.raw("><title>").text(&about).raw("</title></circle>\n");
    }

    /// The builds below the runs with which they begin, as many as there is room for, and their days.
    fn builds(&self, html: &mut Html) {
        let runs = &self.found.runs;
        let mut taken_until = f64::NEG_INFINITY;
        for (at, run) in runs.iter().enumerate() {
            let x = self.x(at);
            let is_first = at == 0 || runs[at - 1].run.build != run.run.build;
            if !is_first || x < taken_until {
                continue;
            }
            taken_until = x + LABEL_SPACE;
            let place = match x {
                ..12.0 => " text-anchor=\"start\"",
                88.0.. => " text-anchor=\"end\"",
                _ => " text-anchor=\"middle\"",
            };
            // On a phone there is no room for the days between the first and the last.
            let class = match x {
                12.0..88.0 => " class=\"day inner\"",
                _ => " class=\"day\"",
            };
            let day = run.run.recorded.as_deref().and_then(|time| time.get(..10));
            let build = shorten(&printable(&run.run.build), LABEL_WIDTH);
            for (y, class, text) in [(14.0, "", &*build), (28.0, class, day.unwrap_or_default())] {
                html.raw("<text").raw(class).raw(place);
                attribute(html, " x=\"", x, "%");
                attribute(html, " y=\"", TOP + HEIGHT + y, "");
                html.raw(">").text(text).raw("</text>\n");
            }
        }
    }
}

fn y(axis: &Axis, value: f64) -> f64 {
    TOP + HEIGHT * (1.0 - axis.place(value) / 100.0)
}

fn vertical(html: &mut Html, class: &'static str, x: f64) {
    html.raw("<line class=\"").raw(class).raw("\"");
    attribute(html, " x1=\"", x, "%");
    attribute(html, " x2=\"", x, "%");
    attribute(html, " y1=\"", TOP, "");
    attribute(html, " y2=\"", TOP + HEIGHT, "");
    html.raw("/>\n");
}

fn attribute(html: &mut Html, name: &'static str, number: f64, unit: &'static str) {
    html.raw(name).text(&coordinate(number)).raw(unit).raw("\"");
}

/// A number in the room beside a plot: `0.25`, `1,500`, `20k`, `3M`.
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
