//! One function over the runs of a history, as a drawing.

use super::header::functions;
use super::series::{minute, subject};
use super::xml::escaped;
use crate::report::SeriesReport;
use crate::text::numbers::counted;
use crate::text::numbers::percent;
use crate::text::printable;
use std::fmt::Write;

const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 360.0;
/// Room for the numbers to the left, and for the title and the runs above and below.
const LEFT: f64 = 64.0;
const TOP: f64 = 44.0;
const RIGHT: f64 = 16.0;
const BOTTOM: f64 = 36.0;

/// The report as an SVG: the shares as points on a line, the band of two standard deviations around
/// the mean of the observations before, and a vertical line where the share changed for good.
pub fn svg(report: &SeriesReport) -> String {
    let highest = |point: &crate::report::PointReport| point.share.max(point.high.unwrap_or(0.0));
    let most = report.points.iter().map(highest).fold(0.0, f64::max);
    let scale = Scale {
        count: report.points.len(),
        most: if most > 0.0 { most } else { 1.0 },
    };
    let runs = counted(report.history.runs as u64, "run");
    let title = format!(
        "{}: share of {} of {}",
        functions(&report.keys()),
        printable(&report.history.sample_type.event),
        subject(&report.history, &runs)
    );
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<title>{title}</title>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n\
         <text x=\"{LEFT}\" y=\"24\" font-size=\"14\">{title}</text>\n",
        title = escaped(&title)
    );
    for step in 0..=4 {
        let share = scale.most * f64::from(step) / 4.0;
        let y = scale.y(share);
        let _ = writeln!(
            svg,
            "<path d=\"M{LEFT} {y:.1}H{}\" stroke=\"#ddd\"/><text x=\"{}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            percent(share)
        );
    }
    svg += &band(report, &scale);
    for change in &report.changes {
        let x = (scale.x(change.at) + scale.x(change.at.saturating_sub(1))) / 2.0;
        let _ = writeln!(
            svg,
            "<path class=\"change\" d=\"M{x:.1} {TOP}V{}\" stroke=\"#d1242f\" stroke-dasharray=\"4 3\">\
             <title>changed from {} to {}, p {:.0e}</title></path>",
            HEIGHT - BOTTOM,
            percent(change.before),
            percent(change.after),
            change.p
        );
    }
    let line: Vec<String> = (0..)
        .zip(&report.points)
        .map(|(at, point)| format!("{:.1},{:.1}", scale.x(at), scale.y(point.share)))
        .collect();
    let _ = writeln!(
        svg,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#0969da\"/>",
        line.join(" ")
    );
    for (at, point) in report.points.iter().enumerate() {
        let colour = if point.is_within_band() {
            "#0969da"
        } else {
            "#d1242f"
        };
        let about = format!(
            "{} {}: {}",
            minute(point.run.recorded.as_deref()),
            printable(&point.run.build),
            percent(point.share)
        );
        let _ = writeln!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}</title></circle>",
            scale.x(at),
            scale.y(point.share),
            escaped(about.trim_start())
        );
    }
    let ends = [
        (report.points.first(), LEFT, "start"),
        (report.points.last(), WIDTH - RIGHT, "end"),
    ];
    for (point, x, anchor) in ends {
        let Some(point) = point else { continue };
        let label = format!(
            "{} {}",
            printable(&point.run.build),
            minute(point.run.recorded.as_deref())
        );
        let _ = writeln!(
            svg,
            "<text x=\"{x}\" y=\"{}\" text-anchor=\"{anchor}\">{}</text>",
            HEIGHT - 12.0,
            escaped(label.trim_end())
        );
    }
    svg + "</svg>\n"
}

/// The band, and the mean in its middle.
fn band(report: &SeriesReport, scale: &Scale) -> String {
    let mut upper = Vec::new();
    let mut lower = Vec::new();
    let mut means = Vec::new();
    for (at, point) in report.points.iter().enumerate() {
        if let (Some(mean), Some(low), Some(high)) = (point.mean, point.low, point.high) {
            let x = scale.x(at);
            upper.push(format!("{x:.1},{:.1}", scale.y(high)));
            lower.push(format!("{x:.1},{:.1}", scale.y(low.max(0.0))));
            means.push(format!("{x:.1},{:.1}", scale.y(mean)));
        }
    }
    lower.reverse();
    format!(
        "<polygon points=\"{} {}\" fill=\"#1a7f37\" fill-opacity=\"0.15\"/>\n\
         <polyline points=\"{}\" fill=\"none\" stroke=\"#1a7f37\"/>\n",
        upper.join(" "),
        lower.join(" "),
        means.join(" ")
    )
}

struct Scale {
    count: usize,
    most: f64,
}

impl Scale {
    fn x(&self, at: usize) -> f64 {
        let steps = self.count.saturating_sub(1).max(1) as f64;
        LEFT + (WIDTH - LEFT - RIGHT) * at as f64 / steps
    }

    fn y(&self, share: f64) -> f64 {
        let height = HEIGHT - TOP - BOTTOM;
        TOP + height - height * share / self.most
    }
}
