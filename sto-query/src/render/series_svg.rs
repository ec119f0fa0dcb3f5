//! The share of a function over the runs of a history, as an SVG.

use super::plot::{Point, Px, Series};
use super::series::{minute, observed, sentence};
use crate::series::{FunctionSeries, SeriesPoint};
use crate::text::printable;
use maud::html;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
/// Margins around the plot for its labels.
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 36.0;

const STYLE: &str = "text{font:12px sans-serif}.title{font-size:14px}.grid{stroke:#ddd}\
    .band{fill:#1a7f37;fill-opacity:.15}.mean,.values{fill:none;vector-effect:non-scaling-stroke}\
    .mean{stroke:#1a7f37}.values{stroke:#0969da}.change{stroke:#d1242f;stroke-dasharray:4 3}\
    circle{fill:#0969da}.marked{fill:#d1242f}";

/// Returns the report as an SVG: the shares as points on a line, the expected range (two standard
/// deviations around the mean of the observations before), and a vertical line at each level shift.
pub fn svg(report: &FunctionSeries) -> String {
    let series = Series {
        runs: report.points.len(),
        points: report
            .points
            .iter()
            .enumerate()
            .map(|(at, one)| point(report, at, one))
            .collect(),
        top: TOP,
        height: HEIGHT - TOP - BOTTOM,
    };
    let axis = series.axis();
    let title = sentence(report);
    let written = |number: f64| observed(report, number);
    let ends = [
        (report.points.first(), LEFT, "start"),
        (report.points.last(), WIDTH - RIGHT, "end"),
    ];
    let svg = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } role="img" {
            title { (title) }
            style { (STYLE) }
            rect width="100%" height="100%" fill="#fff" {}
            text.title x=(LEFT) y="24" { (title) }
            @for tick in axis.ticks() {
                text x=(LEFT - 8.0) y=(Px(series.y(&axis, tick) + 4.0)) text-anchor="end" {
                    (written(tick))
                }
            }
            svg x=(LEFT) width=(WIDTH - LEFT - RIGHT) height=(HEIGHT) {
                (series.curves(&axis))
                @for change in &report.changes { (series.change(change, written)) }
                (series.dots(&axis))
            }
            @for (point, x, anchor) in ends {
                @if let Some(point) = point {
                    text x=(x) y=(HEIGHT - 12.0) text-anchor=(anchor) {
                        (point.run.build) " " (minute(point.run.recorded.as_deref()))
                    }
                }
            }
        }
    };
    printable(&svg.0).into_owned() + "\n"
}

fn point(report: &FunctionSeries, at: usize, point: &SeriesPoint) -> Point {
    let value = point.observed(report.observed);
    let expected = || Some((point.mean?, point.low?..point.high?));
    let recorded = minute(point.run.recorded.as_deref());
    let text = format!(
        "{recorded} {}: {}",
        point.run.build,
        observed(report, value)
    );
    Point {
        at,
        value,
        expected: expected(),
        is_marked: !point.is_within_band(report.observed),
        text: text.trim_start().to_owned(),
    }
}
