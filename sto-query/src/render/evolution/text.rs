//! The call tree over builds as a table.

use super::{change, heading};
use crate::history::{Evolution, EvolvedStack};
use crate::render::guides::Guides;
use crate::text::{Cell, Column, Style, Table, cost, format_count, percent, sparkline, title};
use crate::tree::{Link, folded_name};

/// Maximum number of bars that show a stack's history.
const MAX_BARS: usize = 20;

/// Returns the tree as text: one stack per line, with its cost in the first and in the last build,
/// and a bar for each build, which is as high as the largest if it costs as much.
pub fn text(report: &Evolution, style: Style) -> String {
    let mut text = style.bold(&title(style, &heading(report)));
    let event = &report.history.sample_type.event;
    let basis = format!("Mean cost of a run in {event}, with what was inlined into a function.");
    text += &title(style, &basis);
    let mut table = Table::new(vec![
        Column::number("first").with_drop_rank(1),
        Column::number("last"),
        Column::number("change"),
        Column::text("builds"),
        Column::text("function"),
    ]);
    let guides = Guides::new(report.stacks.iter().map(|stack| stack.parent), style);
    let mut row = 0;
    for part in report.stacks.chunk_by(|a, b| a.folded && b.folded) {
        let stack = &part[0];
        let name = if stack.folded {
            let links: Vec<Link> = part.iter().map(|stack| stack.link(true)).collect();
            Cell::from(format!("… {}", folded_name(&links))).with_style(Style::dim)
        } else {
            Cell::callee(&stack.frame.function, stack.parent)
        };
        let (first, last) = stack.ends();
        let unit = report.history.sample_type.unit;
        table.add_row(vec![
            Cell::from(cost(first, unit)),
            Cell::from(cost(last, unit)),
            Cell::from(change(stack)),
            Cell::from(bars(stack)),
            name.with_prefix_and_suffix(guides.before(row).to_owned(), String::new()),
        ]);
        row += part.len();
    }
    if !report.stacks.is_empty() {
        text += &format!("\n{}", table.render(style));
    }
    text += &guides.note(style);
    if report.cut > 0 {
        let cut = format!(
            "{} not shown: below {} in every build",
            format_count(report.cut as u64, "stack"),
            percent(report.min_share)
        );
        text += &format!("\n{}", title(style, &cut));
    }
    text
}

/// Draws the costs of all builds, of several with one bar if there are many.
fn bars(stack: &EvolvedStack) -> String {
    let builds_per_bar = stack.costs.len().div_ceil(MAX_BARS).max(1);
    let groups = stack.costs.chunks(builds_per_bar);
    let means: Vec<f64> = groups
        .map(|costs| costs.iter().sum::<f64>() / costs.len() as f64)
        .collect();
    let largest = means.iter().copied().fold(0.0, f64::max);
    sparkline(&means, largest)
}
