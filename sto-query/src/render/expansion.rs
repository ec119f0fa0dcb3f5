//! The contexts of a function, as an indented table.

use super::series::{judged_runs, subject};
use crate::expand::{Direction, Expansion, Method};
use crate::text::{Cell, Column, Style, Table, format_count, title};
use crate::tree::{Link, folded_name};

/// Returns the report as text, with one call path per line, indented by its depth.
pub fn text(report: &Expansion, style: Style) -> String {
    let runs = format_count(report.history.runs as u64, "run");
    let head = format!(
        "{} of {} in {}",
        match report.direction {
            Direction::Callers => "callers",
            Direction::Callees => "callees",
        },
        report.function.function,
        subject(&report.history, &runs)
    );
    let mut text = style.bold(&title(style, &head));
    let judged = format!(
        "Judged: {}, against the {} before",
        judged_runs(&report.run, report.judged),
        format_count(report.window as u64, "run"),
    );
    text += &title(style, &judged);
    let rank = match report.method {
        Method::Greedy | Method::Informed => "rank",
        Method::Correlation => "r",
    };
    let mut table = Table::new(vec![
        Column::number("diff"),
        Column::number("candidate").with_drop_rank(4),
        Column::number("score").with_drop_rank(2),
        Column::number(rank).with_drop_rank(3),
        Column::text("status").with_drop_rank(1),
        Column::text("function"),
    ]);
    let mut contexts = &report.contexts[..];
    while let [context, rest @ ..] = contexts {
        let indent = " ".repeat(2 * context.depth);
        let folded = contexts.iter().take_while(|context| context.folded).count();
        let name = if folded > 0 {
            let links: Vec<Link> = contexts[..folded].iter().map(|c| c.link(None)).collect();
            contexts = &contexts[folded..];
            Cell::from(format!("… {}", folded_name(&links))).with_style(Style::dim)
        } else {
            contexts = rest;
            Cell::function(&context.function.function)
        };
        table.add_row(vec![
            Cell::from(format!("{:+.1}", context.difference)),
            Cell::from(format!("{:+.1}", context.candidate_difference)),
            Cell::from(format!("{:.1}", context.candidate_score)),
            Cell::from(format!("{:.2}", context.rank)),
            Cell::from(context.status.word()),
            name.with_prefix_and_suffix(indent, String::new()),
        ]);
    }
    text += &format!("\n{}", table.render(style));
    text
}
