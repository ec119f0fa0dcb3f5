//! Models of cost by input size: formulas, and plots of the points and the best curve.

mod calibrated;
pub mod changes;
mod formula;
mod frame;
mod page;
mod plot;
mod svg;
mod two;
mod two_curves;

pub use page::html;
pub use svg::svg;

pub use calibrated::calibrated;
pub use two::two_variables;
pub(in crate::render) use two_curves::figures;
pub use two_curves::{changes_html, changes_svg};

use crate::models::{CostModel, CostModels, FunctionModels, Modelled};
use crate::text::{
    Cell, Column, Style, Table, format_count, line, omitted_line, paragraph, printable, short,
    title,
};
use formula::{amount, formula, kind};
use plot::{Axis, Plot, is_flattened};
use std::fmt::Write;
use sto_core::units::Unit;
use sto_stats::models::{Certainty, Exponent, Model, ModelKind, Why};

/// Maximum number of models to list as text.
const LISTED: usize = 8;

/// Returns the models of one function as text: the best one, a plot, and the others.
pub fn text(report: &CostModel, style: Style, by_logarithm: bool) -> String {
    let mut text = style.bold(&title(style, &heading(report)));
    text += &drawn(&report.of, &report.function, style, by_logarithm);
    text + &without_x(&report.of, style)
}

/// Returns the best model of each function as text.
pub fn all_functions(report: &CostModels, style: Style) -> String {
    let mut text = style.bold(&title(style, &about(&report.of)));
    let unit = unit(&report.of);
    let mut table = Table::new(vec![
        Column::number("largest"),
        Column::text("model"),
        Column::text("formula").with_drop_rank(1),
        Column::number("R²"),
        Column::text("function"),
    ]);
    for function in &report.functions {
        let Some(best) = function.models.first() else {
            continue;
        };
        let largest = function.points.last().map_or(0.0, |point| point.y);
        table.add_row(vec![
            Cell::from(amount(largest, unit)),
            Cell::from(kind(best.kind)),
            Cell::from(formula(best, &report.of.x, unit).unwrap_or_default()),
            Cell::from(format!("{:.3}", best.r_square)),
            Cell::function(&function.function),
        ]);
    }
    let _ = write!(text, "\n{}", table.render(style));
    text += &omitted_line(report.omitted, "function");
    text + &without_x(&report.of, style)
}

/// Formats `parse: total cpu-clock by n, 21 runs of demo@v1`.
///
/// Names the number of points if runs were cut into parts (`300 parts of 3 runs`) or single calls
/// were measured (`300 points of 3 runs`).
fn heading(report: &CostModel) -> String {
    let (of, points) = (&report.of, report.function.points.len());
    let about = match of.build.is_some() && points > of.runs {
        true if of.of_calls => format!("{}, {points} points of {}", asked(of), run_of(of)),
        true => format!("{}, {points} parts of {}", asked(of), run_of(of)),
        false => about(of),
    };
    match &*report.function.function {
        "" => about,
        name => format!("{}: {about}", printable(name)),
    }
}

/// Formats `total cpu-clock by n, 21 runs of demo@v1`.
fn about(of: &Modelled) -> String {
    match of.build {
        Some(_) => format!("{}, {}", asked(of), run_of(of)),
        None => format!("{}, {}", asked(of), format_count(of.runs as u64, "point")),
    }
}

/// Formats `total cpu-clock by n`, or `total wall of each call by n`.
fn asked(of: &Modelled) -> String {
    let event = of.sample_type.as_ref().map_or("y", |of| &of.event);
    let cost = of.cost.map_or("", |cost| cost.name());
    let y = format!("{cost} {}", printable(event));
    let calls = if of.of_calls { " of each call" } else { "" };
    format!("{}{calls} by {}", y.trim_start(), printable(&of.x))
}

/// Formats `14 runs of demo@v1`, or `14 points of a.csv`.
fn run_of(of: &Modelled) -> String {
    let noun = if of.executable.is_some() {
        "run"
    } else {
        "point"
    };
    let runs = format_count(of.runs as u64, noun);
    format!("{runs} of {}", printable(&of.name()))
}

fn unit(of: &Modelled) -> Option<Unit> {
    of.sample_type.as_ref().map(|of| of.unit)
}

fn drawn(of: &Modelled, function: &FunctionModels, style: Style, by_logarithm: bool) -> String {
    let (unit, x) = (unit(of), printable(&of.x));
    let Some(best) = function.models.first() else {
        return "No model can be fitted.\n".to_owned() + &left_out(&function.left_out, style);
    };
    let mut text = format!("\n{}\n\n", sentence(best, &x, unit));
    let points: Vec<(f64, f64)> = function.points.iter().map(|of| (of.x, of.y)).collect();
    let plot = Plot {
        points: &points,
        curve: &|x| best.curve.at(x),
        x: Axis::from_values(points.iter().map(|point| point.0), by_logarithm),
        y: Axis::from_values(points.iter().map(|point| point.1), by_logarithm),
        x_text: &|value| format!("{x} = {}", short(value)),
        y_text: &|value| amount(value, unit),
    };
    text += &plot.text(style);
    if !by_logarithm && is_flattened(points.iter().map(|point| point.1)) {
        let hint = "The highest points flatten the others; logarithmic axes show both.";
        text += &format!("\n{}", line(style, hint, 0));
    }
    if let Some(certainty) = &function.certainty {
        text.push('\n');
        text += &paragraph(style, "", &sure(certainty, best, &x), 0);
    }
    if function.models.len() == 1 {
        return text + &left_out(&function.left_out, style);
    }
    let mut table = Table::new(vec![
        Column::text("model"),
        Column::text("formula").with_drop_rank(2),
        Column::number("R²"),
        Column::number("AICc").with_drop_rank(1),
    ]);
    for model in function.models.iter().take(LISTED) {
        table.add_row(vec![
            Cell::from(name(model)),
            Cell::from(formula(model, &x, unit).unwrap_or_default()),
            Cell::from(format!("{:.3}", model.r_square)),
            Cell::from(
                model
                    .aicc
                    .map_or_else(String::new, |aicc| format!("{aicc:.1}")),
            ),
        ]);
    }
    let _ = write!(text, "\n{}", table.render(style));
    text += &omitted_line(function.models.len().saturating_sub(LISTED), "model");
    text + &left_out(&function.left_out, style)
}

/// Formats `quadratic: 3.10 ms + 2.02 ns·n², R² 0.998`.
fn sentence(best: &Model, x: &str, unit: Option<Unit>) -> String {
    let formula = formula(best, x, unit).map_or_else(String::new, |text| format!(": {text}"));
    format!("{}{formula}, R² {:.3}", name(best), best.r_square)
}

/// Formats `quadratic` or `regressogram of 12 buckets`.
fn name(model: &Model) -> String {
    let smoothing = model.smoothing.map(|by| smoothed(model.kind, by));
    kind(model.kind) + &smoothing.unwrap_or_default()
}

/// Formats the smoothing parameter: ` of 12 buckets`.
fn smoothed(kind: ModelKind, by: f64) -> String {
    match kind {
        ModelKind::Regressogram => format!(" of {}", format_count(by as u64, "bucket")),
        ModelKind::MovingAverage | ModelKind::MovingMedian => {
            format!(" of {}", format_count(by as u64, "point"))
        }
        ModelKind::ExponentialAverage => format!(" with a decay of {}", short(by)),
        ModelKind::KernelRidge => format!(" with a gamma of {}", short(by)),
        _ => format!(" with a bandwidth of {}", short(by)),
    }
}

/// Formats `93% of other runs like these would say linear.`, and the exponent if known.
fn sure(certainty: &Certainty, best: &Model, x: &str) -> String {
    let mut text = format!(
        "{:.0}% of other runs like these would say {}.",
        certainty.winner * 100.0,
        kind(best.kind)
    );
    if let Some(exponent) = certainty.exponent {
        let Exponent {
            value, low, high, ..
        } = exponent;
        let _ = write!(
            text,
            " Beyond a constant, y grows as {x}^{value:.2}, with 95% between {low:.2} and {high:.2}."
        );
    }
    text
}

fn left_out(kinds: &[(ModelKind, Why)], style: Style) -> String {
    let of = kinds.iter();
    let of = of.map(|(of, why)| line(style, &format!("{} {why}", kind(*of)), 0));
    of.collect()
}

fn without_x(of: &Modelled, style: Style) -> String {
    let runs = format_count(of.without_x as u64, "run");
    let sentence = format!("{runs} left out: without a number `{}`", of.x);
    match of.without_x {
        0 => String::new(),
        _ => line(style, &sentence, 0),
    }
}
