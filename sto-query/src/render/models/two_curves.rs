//! Curves of a baseline and a candidate over their points, with the changed parts of x shaded.

use super::changes::{as_before, found, head, is_shown, joined_parts, word};
use super::formula::amount;
use super::frame::{Frame, STYLE, WIDTH, legend};
use super::page::{PAGE_STYLE, by_both_axes, choice_of_axes};
use super::plot::{Axis, is_flattened};
use super::{sentence, unit};
use crate::models::{Detected, FunctionChange, ModelChange, ModelChanges, Modelled, Point};
use crate::render::html::Page;
use crate::text::printable;
use maud::{Markup, PreEscaped, html};
use sto_stats::models::Model;
use sto_stats::models::changes::ChangeKind;

const HEIGHT: f64 = 300.0;
const BOTTOM: f64 = 44.0;
/// Maximum number of intervals between grid lines.
const GRID: u32 = 5;

/// Curves of both sides and the changed parts of x.
struct Figure<'a> {
    change: &'a FunctionChange,
    baseline: Option<&'a Model>,
    candidate: Option<&'a Model>,
    /// The candidate's regressogram with the baseline's number of buckets.
    unified: Option<&'a Model>,
    /// Start, end and result in words of each changed part of x.
    parts: Vec<(f64, f64, &'static str)>,
}

/// Height of the sentence in a drawing without changed functions.
const SENTENCE: f64 = 40.0;

/// Returns the curves of the changed functions as an SVG, one plot below the other.
pub fn changes_svg(report: &ModelChanges, by_logarithm: bool) -> String {
    let mut bottom = 0.0;
    let mut drawn: Vec<(f64, Markup)> = Vec::new();
    for figure in shown(report).flat_map(Figure::all) {
        drawn.push((bottom, figure.content(report, by_logarithm)));
        bottom += figure.height();
    }
    if drawn.is_empty() {
        drawn.push((0.0, legend(&as_before(report).unwrap_or_default(), &[])));
        bottom = SENTENCE;
    }
    let picture = html! {
        svg.curves xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (bottom) } role="img" {
            style { (PreEscaped(STYLE)) }
            @for (top, content) in drawn { g transform={ "translate(0 " (top) ")" } { (content) } }
        }
    };
    printable(&picture.0).into_owned() + "\n"
}

/// Returns the changed functions as a self-contained HTML page, with linear and logarithmic axes to
/// choose from. `by_logarithm` shows the latter at first.
pub fn changes_html(report: &ModelChanges, by_logarithm: bool) -> String {
    let title = head(report);
    let page = Page {
        title: &title,
        style: PAGE_STYLE,
        script: "",
    };
    let mut points = shown(report).flat_map(|change| [&change.baseline, &change.candidate]);
    let is_flat = points.any(|side| is_flattened(side.points.iter().map(|point| point.y)));
    page.render(&html! {
        header { h1 { (title) } }
        main {
            (choice_of_axes(by_logarithm || is_flat))
            @for change in shown(report) {
                p.reason { (word(change)) ": " (change.reason) }
                @for figure in Figure::all(change) {
                    (by_both_axes(|by_logarithm| figure.picture(report, by_logarithm)))
                }
            }
            @if let Some(sentence) = as_before(report) { p { (sentence) } }
        }
    })
}

/// Draws the curves of a function on linear axes, as part of a page.
pub(in crate::render) fn figures(report: &ModelChanges, change: &FunctionChange) -> Markup {
    html! {
        @for figure in Figure::all(change) {
            figure { (figure.picture(report, false)) }
        }
    }
}

fn shown(report: &ModelChanges) -> impl Iterator<Item = &FunctionChange> {
    report.functions.iter().filter(|change| is_shown(change))
}

impl<'a> Figure<'a> {
    /// Returns a figure for each kind of curve that detectors compared, or for the best formulas.
    fn all(change: &'a FunctionChange) -> Vec<Figure<'a>> {
        let of_kinds = change.curves.iter().map(|curves| Figure {
            change,
            baseline: curves.baseline.as_ref(),
            candidate: curves.candidate.as_ref(),
            unified: curves.unified.as_ref(),
            parts: changed_parts(change, &curves.detectors),
        });
        let mut figures: Vec<Figure<'a>> = of_kinds.collect();
        if figures.is_empty() {
            figures.push(Figure {
                change,
                baseline: change.baseline.model.as_ref(),
                candidate: change.candidate.model.as_ref(),
                unified: None,
                parts: changed_parts(change, &[]),
            });
        }
        figures
    }

    /// Returns the class and the curve of each row of the legend.
    fn curves(&self) -> Vec<(&'static str, &'static str, &'a Model)> {
        let own = if self.unified.is_some() { "own" } else { "now" };
        [
            ("before", "before", self.baseline),
            (own, "now", self.candidate),
            ("now", "now, as compared", self.unified),
        ]
        .into_iter()
        .filter_map(|(class, name, model)| Some((class, name, model?)))
        .collect()
    }

    fn top(&self) -> f64 {
        Frame::top_below_legend(self.curves().len())
    }

    fn height(&self) -> f64 {
        self.top() + HEIGHT + BOTTOM
    }

    fn picture(&self, report: &ModelChanges, by_logarithm: bool) -> Markup {
        html! {
            svg.curves xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (self.height()) } role="img" {
                (self.content(report, by_logarithm))
            }
        }
    }

    fn content(&self, report: &ModelChanges, by_logarithm: bool) -> Markup {
        let of: &Modelled = &report.candidate;
        let unit = unit(of);
        let sides = [
            ("baseline", &self.change.baseline),
            ("candidate", &self.change.candidate),
        ];
        let points = || sides.iter().flat_map(|(_, side)| &side.points);
        let frame = Frame {
            x: Axis::from_values(points().map(|point| point.x), by_logarithm),
            y: Axis::from_values(points().map(|point| point.y), by_logarithm),
            top: self.top(),
            height: HEIGHT,
        };
        let curves = self.curves();
        let rows = curves.iter().map(|(class, name, model)| {
            let text = format!("{name}: {}", sentence(model, &of.x, unit));
            ((*class).to_owned(), text)
        });
        let rows: Vec<(String, String)> = rows.collect();
        let title = match &*self.change.function {
            "" => format!("y by {}", of.x),
            name => format!("{name} by {}", of.x),
        };
        let pair = |point: &Point| (point.x, point.y);
        html! {
            title { (title) }
            rect.paper width=(WIDTH) height=(self.height()) {}
            (legend(&title, &rows))
            @for &(from, to, class) in &self.parts { (frame.shade((from, to), class)) }
            (frame.grid(GRID, &|value| amount(value, unit)))
            @for (class, side) in sides {
                g class=(class) { (frame.dots(&side.points.iter().map(pair).collect::<Vec<_>>())) }
            }
            @for (class, _, model) in &curves { (frame.curve(&model.curve, class)) }
            (frame.x_labels(&of.x, self.height() - 16.0))
        }
    }
}

/// Returns the parts of x that local statistics found to have changed. Without it, the part that the test found: from
/// where the change matters to the largest x.
fn changed_parts(change: &FunctionChange, detectors: &[Detected]) -> Vec<(f64, f64, &'static str)> {
    let parts: Vec<_> = detectors.iter().flat_map(joined_parts).collect();
    match change.matters_from {
        Some(from) if parts.is_empty() && change.result != ModelChange::NoChange => {
            vec![(from, change.largest_x, word(change))]
        }
        _ => {
            let changed = parts.iter().filter(|of| of.result != ChangeKind::NoChange);
            let changed = changed.map(|of| (of.x_start, of.x_end, found(of.result)));
            changed.collect()
        }
    }
}
