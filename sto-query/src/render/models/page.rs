//! Models of one function as a page: points, curves, residuals, and a legend.

use super::formula::{amount, formula, kind};
use super::plot::is_flattened;
use super::svg::{CURVES, picture};
use super::{heading, name, sentence, sure, unit};
use crate::models::CostModel;
use crate::render::html::{Page, number_head, numbers};
use crate::text::{format_count, short};
use maud::{Markup, html};
use sto_stats::models::Coefficient;

/// Number of formulas to draw.
const FORMULAS: usize = 4;

/// Style of a page with curves.
pub(super) const PAGE_STYLE: &str = concat!(include_str!("curves.css"), include_str!("models.css"));

/// Returns the models of one function as a self-contained HTML page, with linear and logarithmic
/// axes to choose from; `by_logarithm` shows the latter at first. Draws `curves` curves, or a few if there is only one.
pub fn html(report: &CostModel, curves: usize, by_logarithm: bool) -> String {
    let curves = curves.clamp(FORMULAS, CURVES);
    let title = heading(report);
    let page = Page {
        title: &title,
        style: PAGE_STYLE,
        script: "",
    };
    page.render(&content(report, &title, curves, by_logarithm))
}

fn content(report: &CostModel, title: &str, curves: usize, by_logarithm: bool) -> Markup {
    let function = &report.function;
    let is_flat = is_flattened(function.points.iter().map(|point| point.y));
    let unit = unit(&report.of);
    html! {
        header {
            h1 { (title) }
            @match function.models.first() {
                Some(best) => {
                    p.reason { (sentence(best, &report.of.x, unit)) }
                    @if let Some(certainty) = &function.certainty {
                        p { (sure(certainty, best, &report.of.x)) }
                    }
                }
                None => { p.reason { "No model can be fitted." } }
            }
        }
        main {
            (choice_of_axes(by_logarithm || is_flat))
            (by_both_axes(|by_logarithm| picture(report, by_logarithm, curves, None)))
            (legend(report, curves))
            @if !function.left_out.is_empty() {
                h2 { "Not fitted" }
                ul { @for (of, why) in &function.left_out { li { (kind(*of)) " " (why) } } }
            }
            (method(report))
        }
    }
}

/// Returns buttons that choose between linear and logarithmic axes; `by_logarithm` chooses the latter at first.
pub(super) fn choice_of_axes(by_logarithm: bool) -> Markup {
    html! {
        p.axes {
            label { input type="radio" name="axes" id="values" checked[!by_logarithm]; " axes by values" }
            label { input type="radio" name="axes" id="logarithms" checked[by_logarithm]; " axes by logarithms: a power is a line" }
        }
    }
}

/// Returns a picture with linear and with logarithmic axes. The page shows one of them.
pub(super) fn by_both_axes(picture: impl Fn(bool) -> Markup) -> Markup {
    html! {
        figure.by-values { (picture(false)) }
        figure.by-logarithms { (picture(true)) }
    }
}

/// Returns a table of the models, each with the line style of its curve.
fn legend(report: &CostModel, curves: usize) -> Markup {
    let unit = unit(&report.of);
    html! {
        h2 { "Models" }
        table {
            thead { tr {
                th scope="col" { "Curve" }
                th scope="col" { "Model" }
                th scope="col" { "Formula" }
                th scope="col" { "Coefficients" small { " with intervals of 95%" } }
                (number_head("R²", "part of the variance"))
                (number_head("adjusted R²", "corrected for chance"))
                (number_head("AICc", "lower is better"))
            } }
            tbody {
                @for (number, model) in report.function.models.iter().enumerate() {
                    tr {
                        td { @if number < curves { (key(number)) } }
                        th scope="row" { (name(model)) }
                        td { (formula(model, &report.of.x, unit).unwrap_or_default()) }
                        td { @for of in &model.coefficients { div { (coefficient(of)) } } }
                        (numbers([&*format!("{:.4}", model.r_square), &*of_some(model.adjusted_r_square, 4), &*of_some(model.aicc, 1)]))
                    }
                }
            }
        }
    }
}

fn key(number: usize) -> Markup {
    html! {
        svg.key viewBox="0 0 40 10" aria-hidden="true" {
            line.curve.{ "curve" (number) } x1="0" x2="40" y1="5" y2="5" {}
        }
    }
}

/// Formats `b1 2.98, 2.95 to 3.01`.
fn coefficient(of: &Coefficient) -> String {
    let value = format!("{} {}", of.name, short(of.value));
    match (of.low, of.high) {
        (Some(low), Some(high)) => format!("{value}, {} to {}", short(low), short(high)),
        _ => value,
    }
}

fn of_some(number: Option<f64>, decimals: usize) -> String {
    number.map_or_else(String::new, |number| format!("{number:.decimals$}"))
}

/// Describes the points that were fitted.
fn method(report: &CostModel) -> Markup {
    let function = &report.function;
    let largest = function.points.last();
    html! {
        h2 { "Points" }
        p {
            (format_count(function.points.len() as u64, "point"))
            @if let Some(largest) = largest {
                "; the largest is " (report.of.x) " = " (short(largest.x)) " with " (amount(largest.y, unit(&report.of)))
            }
            "."
            @if report.of.without_x > 0 {
                " " (format_count(report.of.without_x as u64, "run")) " without a number " code { (report.of.x) } " left out."
            }
            @if let Some(spread) = function.spread {
                " Points are weighed by how much they vary: their spread grows with the cost to the power of "
                (short(spread)) "."
            }
        }
    }
}
