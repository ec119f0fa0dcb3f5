//! Scores of the functions of a run against the runs before it, as a table.

use super::series::{judged_runs, minute, single_run_warning, subject};
use crate::series::{FunctionScore, LevelShift, Scores};
use crate::text::names::MAX_NAME_WIDTH;
use crate::text::{Cell, Column, Style, Table, format_count, omitted_line, paragraph, title};

/// Returns the report as text: one function per line, with its level shifts below; one table per benchmark.
pub fn text(report: &Scores, style: Style) -> String {
    let texts = report
        .by_benchmark()
        .map(|scores| of_benchmark(scores, style));
    texts.collect::<Vec<_>>().join("\n")
}

fn of_benchmark(report: &Scores, style: Style) -> String {
    let runs = format_count(report.history.runs as u64, "run");
    let mut text = format!("{}\n", style.bold(&subject(&report.history, &runs)));
    let judged = format!(
        "Judged: {}, against the {} before",
        judged_runs(&report.run, report.judged),
        format_count(report.window as u64, "run"),
    );
    text += &title(style, &judged);
    if report.window < 2 {
        text += "At least two earlier runs are needed to predict a run.\n";
        return text;
    }
    let far = format!(
        "{} of {} farther from it than chance explains (q of 5% at most).",
        report.far,
        format_count(report.tested as u64, "function"),
    );
    text += &title(style, &far);
    if report.functions.is_empty() {
        text += "No function is far from expected, and none has a level shift.\n";
        return text;
    }
    let mut table = Table::new(vec![
        Column::number("expected").with_drop_rank(4),
        Column::number("actual").with_drop_rank(3),
        Column::number("diff"),
        Column::number("score").with_drop_rank(1),
        Column::number("q"),
        Column::text("status").with_drop_rank(2),
        Column::text("function"),
    ]);
    for function in &report.functions {
        table.add_row(vec![
            Cell::from(format!("{:.1}", function.expected)),
            Cell::from(format!("{:.1}", function.actual)),
            Cell::from(format!("{:+.1}", function.difference)),
            Cell::from(format!("{:.1}", function.score)),
            Cell::from(function.q.map_or_else(|| "-".to_owned(), probability)),
            Cell::from(function.status.word()),
            shown(function, style),
        ]);
        for change in &function.changes {
            let lines = changed(change, style);
            lines
                .lines()
                .for_each(|line| table.add_line(style.dim(line)));
        }
    }
    text += &format!("\n{}", table.render(style));
    text + &omitted_line(report.omitted, "function")
}

/// Maximum width of a function's other name in a terminal.
const MAX_OTHER_NAME: usize = 22;

/// Formats the name that a function had or has now, as a note after its name: ` (was parse)`.
pub(super) fn other_name(word: &str, name: &str, style: Style) -> String {
    let max = style.width.map_or(MAX_NAME_WIDTH, |_| MAX_OTHER_NAME);
    format!(" ({word} {})", style.name_up_to(name, max))
}

/// Formats `new_name (was old_name)`.
fn shown(score: &FunctionScore, style: Style) -> Cell {
    let function = &score.function.function;
    let names = [("was", &score.moved_from), ("now", &score.moved_to)];
    let names = names
        .into_iter()
        .filter_map(|(word, name)| Some(other_name(word, &name.as_ref()?.function, style)));
    Cell::function(function).with_prefix_and_suffix(String::new(), names.collect())
}

fn changed(change: &LevelShift, style: Style) -> String {
    let sentence = format!(
        "level shift at {} ({}): {:.1} -> {:.1}, p {:.0e}{}",
        change.run.build,
        minute(change.run.recorded.as_deref()),
        change.before,
        change.after,
        change.p,
        single_run_warning(change),
    );
    paragraph(style, "    ", &sentence, 4)
}

/// Formats a probability: `0.25`, `0.004`, `3e-7`.
pub(super) fn probability(p: f64) -> String {
    match p {
        0.01.. => format!("{p:.2}"),
        0.001.. => format!("{p:.3}"),
        _ => format!("{p:.0e}"),
    }
}
