//! Time that threads spent waiting, and the calls that ended the waits.

use super::stack;
use crate::calls::Waits;
use crate::render::header::full_name;
use crate::text::{
    Cell, Column, Style, Table, format_count, group_digits, omitted_line, percent, quantity,
    seconds, title,
};
use sto_core::units::{Nanoseconds, Unit};

/// Returns the report as text: the functions that waited most, then the longest waits with the call
/// during which each ended.
pub fn text(report: &Waits, style: Style) -> String {
    let said = title(style, &headline(report));
    let mut text = style.bold(said.trim_end()) + "\n";
    if report.runs > 1 {
        let newest = format!("The newest of {}.", format_count(report.runs as u64, "run"));
        text += &title(style, &newest);
    }
    if report.functions.is_empty() && report.longest.is_empty() {
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("waited"),
        Column::number("calls").with_drop_rank(1),
        Column::number("longest").with_drop_rank(2),
        Column::text("function < caller"),
    ]);
    for of in &report.functions {
        let names = [Some(&of.function), of.caller.as_ref()];
        let names: Vec<String> = names
            .into_iter()
            .flatten()
            .map(|name| style.name(name, 0))
            .collect();
        table.add_row(vec![
            Cell::from(time(of.total_ns)),
            Cell::from(group_digits(of.calls)),
            Cell::from(time(of.longest_ns)),
            Cell::from(names.join(" < ")),
        ]);
    }
    text += &format!("\n{}", table.render(style));
    text += &omitted_line(report.omitted_functions, "function");
    let mut table = Table::new(vec![
        Column::number("longest"),
        Column::number("at").with_drop_rank(1),
        Column::text("thread").with_max_width(16).with_drop_rank(2),
        Column::text("function < callers"),
    ]);
    for wait in &report.longest {
        table.add_row(vec![
            Cell::from(time(wait.call.duration_ns)),
            Cell::from(seconds(Nanoseconds(wait.call.start_ns))),
            Cell::from(&wait.call.thread),
            Cell::from(stack(&wait.call.frames, style)),
        ]);
        if let Some(by) = &wait.ended_during {
            let line = format!(
                "    ended during {}: {}",
                by.thread,
                stack(&by.frames, style)
            );
            table.add_line(style.shorten_to_fit(&line, 0));
        }
    }
    text += &format!("\n{}", table.render(style));
    text += &omitted_line(report.omitted_longest, "wait");
    text
}

/// Formats `pool@trace: 4 threads waited 41% of their time (5.3 s of 12.9 s), longest in
/// pthread_cond_wait`.
fn headline(report: &Waits) -> String {
    let name = full_name(&report.subject);
    let Some(most) = report.functions.first() else {
        return format!("{name}: no thread called a function that waits");
    };
    let share = report.waited_ns as f64 / report.thread_time_ns.max(1) as f64;
    format!(
        "{name}: {} waited {} of {} time ({} of {}), longest in {}",
        format_count(report.threads as u64, "thread"),
        percent(share),
        if report.threads == 1 { "its" } else { "their" },
        time(report.waited_ns),
        time(report.thread_time_ns),
        most.function,
    )
}

fn time(ns: u64) -> String {
    quantity(ns, Unit::Nanoseconds).unwrap_or_default()
}
