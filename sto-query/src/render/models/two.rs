//! The normal form of two variables, as text.

use super::formula::{powers, sum};
use crate::models::ModelOfTwo;
use crate::text::{Style, format_count, line, paragraph, printable, title};
use sto_stats::models::{Powers, SurfaceTerm};

/// Returns the formula of a function's cost by two numbers.
pub fn two_variables(report: &ModelOfTwo, style: Style) -> String {
    let [a, b] = report.x.each_ref().map(|x| printable(x));
    let event = report.sample_type.as_ref().map_or("", |of| &of.event);
    let head = format!(
        "{}: {} {} by {a} and {b}, {} of {}@{}",
        printable(&report.function),
        report.cost.name(),
        printable(event),
        format_count(report.runs as u64, "run"),
        printable(&report.executable),
        printable(&report.build),
    );
    let mut text = style.bold(&title(style, &head)) + "\n";
    let unit = report.sample_type.as_ref().map(|of| of.unit);
    text += &match (&report.model, &report.left_out) {
        (Some(model), _) => {
            let factor = |(of_x, x): (&Option<Powers>, &str)| {
                let Powers { power, log, .. } = (*of_x)?;
                Some(powers(x, power, log))
            };
            let product = |of: &SurfaceTerm| {
                let factors = of.factors.iter().zip([&*a, &*b]);
                factors
                    .filter_map(factor)
                    .collect::<Vec<_>>()
                    .join("\u{b7}")
            };
            let terms = model.terms.iter().map(|of| (of.coefficient, product(of)));
            let constant = std::iter::once((model.constant, String::new()));
            let formula = sum(&constant.chain(terms).collect::<Vec<_>>(), unit);
            let sentence = format!(
                "normal form: {formula}, R² {:.3}, off by {:.1}% on average",
                model.r_square,
                200.0 * model.off
            );
            paragraph(style, "", &sentence, 2)
        }
        (None, Some(why)) => line(style, &format!("No model can be fitted: it {why}."), 0),
        (None, None) => line(style, "No model can be fitted.", 0),
    };
    if report.without_x > 0 {
        let runs = format_count(report.without_x as u64, "run");
        text += &line(style, &format!("{runs} left out: without both numbers"), 0);
    }
    text
}
