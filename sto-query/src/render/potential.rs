//! Potentials as a table.

use super::header::{WITH_INLINED, counted, header};
use super::numbers::{grouped, percent};
use super::{Style, display_width, printable};
use crate::report::PotentialReport;
use std::fmt::Write;

/// Widest column of modules; longer names are shortened where the width is limited.
const MAX_MODULE_WIDTH: usize = 20;

/// The report as text: one function a line.
pub fn text(report: &PotentialReport, style: Style) -> String {
    let mut text = String::new();
    for selection in &report.selections {
        text += &header(selection, style);
        text.push('\n');
    }
    if report.functions.is_empty() {
        return text;
    }
    let reach = match report.degree {
        0 => "the function alone".to_owned(),
        degree => format!(
            "the function and {} below it",
            counted(u64::from(degree), "level")
        ),
    };
    let sentence = format!("Potential: what could be saved at most in {reach}.");
    let _ = writeln!(text, "{}", style.dim(&sentence));
    if report.with_inlined {
        let _ = writeln!(text, "{}", style.dim(WITH_INLINED));
    }
    let heading = format!(
        "{:>9} {:>9} {:>8} {:>8}  {:MAX_MODULE_WIDTH$}  function",
        "potential", "samples", "self", "total", "module"
    );
    let function_column = display_width(&heading) - "function".len();
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for function in &report.functions {
        let module = printable(&function.frame.module);
        let module = style.fit_column(&module, MAX_MODULE_WIDTH);
        let padding = MAX_MODULE_WIDTH.saturating_sub(display_width(&module));
        let _ = writeln!(
            text,
            "{:>9} {:>9} {:>8} {:>8}  {module}{:padding$}  {}",
            percent(function.potential),
            grouped(function.cost.samples),
            percent(function.self_cost.share),
            percent(function.total.share),
            "",
            style.fit(&printable(&function.frame.function), function_column),
        );
    }
    if report.omitted > 0 {
        let omitted = counted(report.omitted as u64, "more function");
        let _ = writeln!(text, "{omitted} not shown");
    }
    text
}
