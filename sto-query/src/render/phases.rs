//! The phases of a run, as a table.

use super::header::header;
use crate::phases::{Cycle, Phase, PhaseChange, Phases};
use crate::text::{
    Cell, Column, Style, Table, format_count, line, omitted_line, percent, printable, seconds,
    short_name, title,
};

/// Number of functions to show for each phase, and the number of phases above which only one is
/// shown.
const FUNCTIONS: usize = 2;
const MAX_WITH_SEVERAL_FUNCTIONS: usize = 6;

/// Returns the report as text: how the run repeats, if it does, then its phases, each with its
/// differences from the previous one.
pub fn text(report: &Phases, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    if report.runs > 1 {
        let of = format!("The newest of {}.", format_count(report.runs as u64, "run"));
        text += &title(style, &of);
    }
    text.push('\n');
    if let Some(cycle) = &report.cycle {
        text += &line(style, &repeats(cycle), 0);
        text.push('\n');
    }
    if report.phases.len() + report.omitted == 1 {
        let same = match &report.cycle {
            Some(_) => "One phase: from one repetition to the next, nothing changes",
            None => "One phase: at no time does a tenth of the cost go elsewhere for long",
        };
        let exact = format!(
            "{same} (looked at in steps of {}).",
            seconds(report.resolution)
        );
        text += &line(style, &exact, 0);
        text.push('\n');
    }
    let mut table = Table::new(vec![
        Column::number("phase"),
        Column::number("from"),
        Column::number("to"),
        Column::number("cost").with_drop_rank(1),
        Column::text("").with_drop_rank(2),
        Column::number("share"),
        Column::number("before"),
        Column::text("function"),
    ]);
    let shown = match report.phases.len() {
        0..=MAX_WITH_SEVERAL_FUNCTIONS => FUNCTIONS,
        _ => 1,
    };
    for phase in &report.phases {
        for (ix, row) in rows(phase, shown).into_iter().enumerate() {
            let first = |text: String| Cell::from(if ix == 0 { text } else { String::new() });
            table.add_row(vec![
                first(phase.number.to_string()),
                first(seconds(phase.from)),
                first(seconds(phase.to)),
                first(percent(phase.cost.share)),
                Cell::from(row.what),
                Cell::from(row.share.map_or(String::new(), percent)),
                Cell::from(row.before.map_or(String::new(), percent)),
                Cell::function(row.function),
            ]);
        }
    }
    text += &table.render(style);
    text += &omitted_line(report.omitted, "phase");
    if report.phases.len() > 1 {
        let exact = format!(
            "Shares include callees. Phases begin within {} of these times.",
            seconds(report.resolution)
        );
        text += &format!("\n{}", title(style, &exact));
    }
    text
}

/// A line of the table.
struct Row<'a> {
    what: &'static str,
    share: Option<f64>,
    before: Option<f64>,
    function: &'a str,
}

/// Returns the differences from the previous phase, or the most expensive functions if there are
/// none.
fn rows(phase: &Phase, shown: usize) -> Vec<Row<'_>> {
    let change = |what, is_of: fn(&PhaseChange) -> bool| {
        let changes = phase.changes.iter().filter(move |change| is_of(change));
        changes.take(shown).map(move |change| Row {
            what,
            share: Some(change.after),
            before: Some(change.before),
            function: &change.frame.function,
        })
    };
    let more = change("more", |change| change.after > change.before);
    let mut rows: Vec<Row> = more.collect();
    rows.extend(change("less", |change| change.after <= change.before));
    if rows.is_empty() {
        let most = phase.functions.iter().take(shown.max(2));
        rows.extend(most.map(|function| Row {
            what: "most",
            share: Some(function.total.share),
            before: None,
            function: &function.frame.function,
        }));
    }
    if rows.is_empty() {
        rows.push(Row {
            what: "",
            share: None,
            before: None,
            function: "",
        });
    }
    rows
}

/// Formats `It repeats itself about every 200 ms, 49 times, between gather (95% and 3%) and scatter
/// (80% and 1%).`
fn repeats(cycle: &Cycle) -> String {
    let times = format!(
        "It repeats itself about every {}, {:.0} times",
        seconds(cycle.period),
        cycle.cycles
    );
    let part = |is_of: fn(&PhaseChange) -> bool| {
        let change = cycle.changes.iter().find(|change| is_of(change))?;
        let [low, high] = if change.after > change.before {
            [change.before, change.after]
        } else {
            [change.after, change.before]
        };
        Some(format!(
            "{} ({} and {})",
            short_name(&printable(&change.frame.function)),
            percent(high),
            percent(low)
        ))
    };
    let one = part(|change| change.after > change.before);
    let other = part(|change| change.after <= change.before);
    match (one, other) {
        (Some(one), Some(other)) => format!("{times}, between {one} and {other}."),
        (Some(only), None) | (None, Some(only)) => format!("{times}, with {only}."),
        (None, None) => format!("{times}."),
    }
}
