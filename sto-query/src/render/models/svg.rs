//! Points, curves, and the residuals of the first curve, as an SVG.

use super::formula::amount;
use super::frame::{Frame, LEFT, STYLE, WIDTH, legend};
use super::plot::Axis;
use super::{heading, sentence, unit};
use crate::models::CostModel;
use crate::text::printable;
use maud::{Markup, PreEscaped, html};

/// Heights of the plot of points and curves, and of the plot of residuals below it.
const POINTS: f64 = 320.0;
const GAP: f64 = 40.0;
const RESIDUALS: f64 = 96.0;
const BOTTOM: f64 = 40.0;
/// Maximum numbers of intervals between grid lines.
const GRID: u32 = 5;
const RESIDUAL_GRID: u32 = 4;
/// Maximum number of curves to draw.
pub(super) const CURVES: usize = 8;

/// Returns the models of one function as an SVG: the points and the first `curves` models with their
/// formulas, and the residuals of the first one below.
pub fn svg(report: &CostModel, by_logarithm: bool, curves: usize) -> String {
    let drawn = picture(report, by_logarithm, curves, Some(STYLE));
    printable(&drawn.0).into_owned() + "\n"
}

/// Draws up to `curves` curves, with the first one on top.
pub(super) fn picture(
    report: &CostModel,
    by_logarithm: bool,
    curves: usize,
    style: Option<&str>,
) -> Markup {
    let unit = unit(&report.of);
    let points = report.function.points.iter();
    let points: Vec<(f64, f64)> = points.map(|of| (of.x, of.y)).collect();
    let shown: Vec<_> = report
        .function
        .models
        .iter()
        .take(curves.min(CURVES))
        .collect();
    let class = |number: usize| format!("curve{number}");
    let rows = shown.iter().enumerate();
    let mut rows: Vec<(String, String)> = rows
        .map(|(number, model)| (class(number), sentence(model, &report.of.x, unit)))
        .collect();
    if rows.is_empty() {
        rows.push((String::new(), "No model can be fitted.".to_owned()));
    }
    let x = Axis::from_values(points.iter().map(|point| point.0), by_logarithm);
    let main = Frame {
        x,
        y: Axis::from_values(points.iter().map(|point| point.1), by_logarithm),
        top: Frame::top_below_legend(rows.len()),
        height: POINTS,
    };
    let best = shown.first();
    let residuals: Vec<(f64, f64)> = best.map_or_else(Vec::new, |best| {
        let points = points.iter();
        points.map(|&(x, y)| (x, y - best.curve.at(x))).collect()
    });
    let farthest = residuals.iter().map(|(_, y)| y.abs()).fold(0.0, f64::max);
    let below = Frame {
        x,
        y: Axis::around_zero(farthest),
        top: main.top + POINTS + GAP,
        height: RESIDUALS,
    };
    let height = below.top + RESIDUALS + BOTTOM;
    let title = heading(report);
    let cost = |value: f64| amount(value, unit);
    html! {
        svg.curves xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (WIDTH) " " (height) } role="img" {
            title { (title) ": " (rows[0].1) }
            @if let Some(style) = style { style { (PreEscaped(style)) } }
            rect.paper width="100%" height="100%" {}
            (legend(&title, &rows))
            (main.grid(GRID, &cost))
            @for (number, model) in shown.iter().enumerate().rev() {
                (main.curve(&model.curve, &class(number)))
            }
            (main.dots(&points))
            @if best.is_some() {
                (below.grid(RESIDUAL_GRID, &cost))
                (below.dots(&residuals))
                text x=(LEFT) y=(below.top - 8.0) {
                    @if shown.len() > 1 { "residuals of the first curve" } @else { "residuals" }
                }
            }
            (below.x_labels(&report.of.x, height - 16.0))
        }
    }
}
