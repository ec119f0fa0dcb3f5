//! Models of one function as a page: points, curves, residuals, and a legend.

use super::formula::{amount, formula, kind};
use super::svg::picture;
use super::{heading, name, sentence, sure, unit};
use crate::models::CostModel;
use crate::render::html::{Page, number_head, numbers};
use crate::text::{format_count, short};
use maud::{Markup, html};
use sto_stats::models::Coefficient;

/// Maximum number of curves to draw.
const CURVES: usize = 4;

/// Returns the models of one function as a self-contained HTML page, with linear and logarithmic
/// axes to choose from.
pub fn html(report: &CostModel) -> String {
    let title = heading(report);
    let page = Page {
        title: &title,
        style: include_str!("models.css"),
        script: "",
    };
    page.render(&content(report, &title))
}

fn content(report: &CostModel, title: &str) -> Markup {
    let function = &report.function;
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
        main.curves {
            p {
                label { input type="radio" name="axes" id="values" checked; " axes by values" }
                label { input type="radio" name="axes" id="logarithms"; " axes by logarithms: a power is a line" }
            }
            figure.by-values { (picture(report, false, CURVES, None)) }
            figure.by-logarithms { (picture(report, true, CURVES, None)) }
            (legend(report))
            @if !function.left_out.is_empty() {
                h2 { "Not fitted" }
                ul { @for (of, why) in &function.left_out { li { (kind(*of)) " " (why) } } }
            }
            (method(report))
        }
    }
}

/// Returns a table of the models, each with the line style of its curve.
fn legend(report: &CostModel) -> Markup {
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
                        td { @if number < CURVES { (key(number)) } }
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
