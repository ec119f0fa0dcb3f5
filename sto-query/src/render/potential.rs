//! Optimization potentials of functions, as a table.

use super::header::{header, inlined_note};
use super::top::MAX_MODULE_WIDTH;
use crate::potential::Potentials;
use crate::text::{
    Cell, Column, Style, Table, format_count, group_digits, omitted_line, paragraph, percent,
};

/// Returns the report as text, with one function per line.
pub fn text(report: &Potentials, style: Style) -> String {
    let mut text = String::new();
    for selection in &report.selections {
        text += &header(selection, style);
        text.push('\n');
    }
    if report.functions.is_empty() {
        return text;
    }
    let reach = match report.degree {
        0 => "the function itself".to_owned(),
        degree => format!(
            "the function and {} below it",
            format_count(u64::from(degree), "level")
        ),
    };
    let sentence = format!("Potential: the most that could be saved in {reach}.");
    text += &paragraph(style, "", &sentence, 0);
    if report.with_inlined {
        text += &paragraph(style, "", &inlined_note(style), 0);
    }
    let mut table = Table::new(vec![
        Column::number("potential"),
        Column::number("samples").with_drop_rank(4),
        Column::number("self").with_drop_rank(3),
        Column::number("total").with_drop_rank(2),
        Column::text("module")
            .with_max_width(MAX_MODULE_WIDTH)
            .with_drop_rank(1),
        Column::text("function"),
    ]);
    for function in &report.functions {
        table.add_row(vec![
            Cell::from(percent(function.potential)),
            Cell::from(group_digits(function.cost.samples)),
            Cell::from(percent(function.self_cost.share)),
            Cell::from(percent(function.total.share)),
            Cell::from(&function.frame.module),
            Cell::function(&function.frame.function),
        ]);
    }
    text += &format!("\n{}", table.render(style));
    text + &omitted_line(report.omitted, "function")
}
