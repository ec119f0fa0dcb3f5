//! The most expensive functions as a table.

use super::header::{WITH_INLINED, counted, header};
use super::numbers::{grouped, percent};
use super::{Style, display_width, printable};
use crate::report::{CostReport, TopReport};
use std::fmt::Write;

/// Widest column of modules; longer names are shortened where the width is limited.
const MAX_MODULE_WIDTH: usize = 20;

/// The report as text: one function a line, self and total in percent and samples.
///
/// The function stands last, so that a long name pushes nothing aside where the width is
/// unlimited.
pub fn text(report: &TopReport, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    if report.functions.is_empty() && report.omitted.functions == 0 {
        return text;
    }
    if report.with_inlined {
        let _ = writeln!(text, "{}", style.dim(WITH_INLINED));
    }
    let samples_width = |cost: fn(&crate::report::FunctionReport) -> CostReport| {
        let widths = report
            .functions
            .iter()
            .map(|f| grouped(cost(f).samples).len());
        widths.chain(["samples".len()]).max().unwrap_or(0)
    };
    let self_width = samples_width(|function| function.self_cost);
    let total_width = samples_width(|function| function.total);
    let modules: Vec<String> = report
        .functions
        .iter()
        .map(|function| style.fit_column(&printable(&function.frame.module), MAX_MODULE_WIDTH))
        .collect();
    let module_width = modules.iter().map(|module| display_width(module));
    let module_width = module_width.chain(["module".len()]).max().unwrap_or(0);
    let module_width = module_width.min(MAX_MODULE_WIDTH);

    let heading = format!(
        "{:>8} {:>self_width$} {:>8} {:>total_width$}  {:module_width$}  function",
        "self", "samples", "total", "samples", "module",
    );
    let function_column = display_width(&heading) - "function".len();
    let _ = writeln!(text, "\n{}", style.bold(&heading));
    for (function, module) in report.functions.iter().zip(&modules) {
        let inlined = if function.frame.kind == "inlined" {
            " (inlined)"
        } else {
            ""
        };
        let name = printable(&function.frame.function);
        let name = style.fit(&name, function_column + inlined.len());
        let padding = module_width.saturating_sub(display_width(module));
        let _ = writeln!(
            text,
            "{:>8} {:>self_width$} {:>8} {:>total_width$}  {module}{:padding$}  {name}{}",
            percent(function.self_cost.share),
            grouped(function.self_cost.samples),
            percent(function.total.share),
            grouped(function.total.samples),
            "",
            style.dim(inlined),
        );
    }
    if report.omitted.functions > 0 {
        let _ = writeln!(
            text,
            "{:>8} {:>self_width$} in {} not shown",
            percent(report.omitted.self_cost.share),
            grouped(report.omitted.self_cost.samples),
            counted(report.omitted.functions as u64, "more function"),
        );
    }
    text
}
