//! The most expensive functions, as a table.

use super::header::{header, inlined_note};
use crate::text::{Cell, Column, Style, Table, format_count, group_digits, percent, title};
use crate::tree::Top;
use sto_core::model::FrameKind;

/// Maximum width of module names in a terminal.
pub(super) const MAX_MODULE_WIDTH: usize = 20;

/// Returns the report as text: one function per line, with self and total in percent and samples.
pub fn text(report: &Top, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    let mut table = Table::new(vec![
        Column::number("self"),
        Column::number("samples").with_drop_rank(2),
        Column::number("total"),
        Column::number("samples").with_drop_rank(3),
        Column::text("module")
            .with_max_width(MAX_MODULE_WIDTH)
            .with_drop_rank(1),
        Column::text("function"),
    ]);
    for function in &report.functions {
        let inlined = match function.frame.kind {
            FrameKind::Inlined => " (inlined)",
            _ => "",
        };
        table.add_row(vec![
            Cell::from(percent(function.self_cost.share)),
            Cell::from(group_digits(function.self_cost.samples)),
            Cell::from(percent(function.total.share)),
            Cell::from(group_digits(function.total.samples)),
            Cell::from(&function.frame.module),
            Cell::function(&function.frame.function)
                .with_prefix_and_suffix(String::new(), inlined.to_owned()),
        ]);
    }
    if report.functions.is_empty() && report.omitted.functions == 0 {
        return text;
    }
    if report.with_inlined {
        text += &title(style, &inlined_note(style));
    }
    text += &format!("\n{}", table.render(style));
    if report.omitted.functions > 0 {
        let omitted = format!(
            "{} not shown, with {} of self ({})",
            format_count(report.omitted.functions as u64, "more function"),
            percent(report.omitted.self_cost.share),
            group_digits(report.omitted.self_cost.samples),
        );
        text += &title(style, &omitted);
    }
    text
}
