//! A commit history as a graph with a table.

use crate::commits::{CommitLog, Judgement, LoggedCommit};
use crate::compare::Verdict;
use crate::text::{
    Cell, Column, Style, Table, display_width, format_count, group_digits, printable, quantity,
    title,
};
use sto_core::Hint;

/// Number of digits of a commit's id to show, as in git.
const DIGITS: usize = 7;
/// Maximum width of branches and tags in a terminal.
const REFS_WIDTH: usize = 24;

/// Returns the report as text: one commit per line, newest first. A line below each regression
/// explains it.
pub fn text(log: &CommitLog, style: Style) -> String {
    let mut text = style.bold(&title(style, &subject(log)));
    let mut table = Table::new(vec![
        Column::text("commit"),
        Column::number("runs").with_drop_rank(1),
        Column::number("cost"),
        Column::number("change").with_drop_rank(2),
        Column::text("verdict"),
        Column::text("subject"),
    ]);
    for logged in &log.commits {
        let graph = &logged.commit.graph;
        let lane = |line: usize| graph.get(line).map_or("", String::as_str);
        table.add_row(row(log, logged, lane(0)));
        match worst(logged) {
            Some(judged) => {
                let before = format!("{}  ", lane(1));
                let reason = style.shorten_to_fit(
                    &printable(judged.finding.as_ref().unwrap_or(&judged.reason)),
                    display_width(&before),
                );
                table.add_line(format!("{before}{}", style.worse(&reason)));
            }
            None if is_needed(lane(1)) => table.add_line(lane(1).trim_end().to_owned()),
            None => {}
        }
        for line in graph.iter().skip(2) {
            table.add_line(line.trim_end().to_owned());
        }
    }
    text += &format!("\n{}", table.render(style));
    if log.commits.iter().all(|logged| logged.runs == 0) {
        let add = style
            .words
            .hint_phrase("; `", Hint::AddProfile, "` adds one");
        text += &format!("\nThe store has no run of these commits{add}.\n");
    }
    text
}

/// Returns the verdict on a commit as a text to store as a git note; `None` if the commit was not
/// judged.
pub fn note(log: &CommitLog, logged: &LoggedCommit) -> Option<String> {
    let verdict = logged.verdict?;
    let name = match verdict {
        Verdict::Regression => "regression",
        Verdict::Clean => "clean",
        Verdict::Insufficient => "too little data",
    };
    let program = printable(log.executable.as_deref().unwrap_or_default());
    let runs = format_count(logged.runs as u64, "run");
    let mut text = format!("verdict: {name}\nprogram: {program}, {runs}\n");
    if let Some(cost) = cost(log, logged) {
        text += &format!("cost of a run: {cost}\n");
    }
    for judged in &logged.compared {
        let change = judged
            .change
            .map_or_else(String::new, |ratio| format!(" {}", signed(ratio)));
        text += &format!(
            "since {}:{change} {}\n",
            judged.with,
            printable(&judged.reason)
        );
    }
    Some(text)
}

/// Formats `6 commits; demo (startup): mean cost of a run by cpu-clock`.
fn subject(log: &CommitLog) -> String {
    let commits = format_count(log.commits.len() as u64, "commit");
    let Some(executable) = &log.executable else {
        return commits;
    };
    let benchmark = log.benchmark.as_ref();
    let benchmark = benchmark.map_or(String::new(), |name| format!(" ({})", printable(name)));
    let event = log.sample_type.as_ref();
    let event = event.map_or(String::new(), |t| format!(" by {}", printable(&t.event)));
    let executable = printable(executable);
    format!("{commits}; {executable}{benchmark}: mean cost of a run{event}")
}

fn row(log: &CommitLog, logged: &LoggedCommit, lane: &str) -> Vec<Cell> {
    let commit = &logged.commit;
    let mut id = commit.hash.to_string();
    id.truncate(DIGITS);
    let measured = |text: String| match logged.runs {
        0 => String::new(),
        _ => text,
    };
    let change = change(logged);
    let verdict = match (logged.verdict, logged.runs) {
        (None, 0) => Cell::from("-"),
        (None, _) => Cell::from("first"),
        (Some(Verdict::Regression), _) => Cell::from("REGRESSION").with_style(Style::worse),
        (Some(Verdict::Insufficient), _) => Cell::from("too little data"),
        (Some(Verdict::Clean), _) if is_better(logged) => {
            Cell::from("improved").with_style(Style::better)
        }
        (Some(Verdict::Clean), _) => Cell::from("clean"),
    };
    let refs = match &commit.refs[..] {
        [] => String::new(),
        refs => format!("({}) ", printable(&refs.join(", "))),
    };
    vec![
        Cell::from(format!("{lane}{id}")),
        Cell::from(measured(group_digits(logged.runs as u64))),
        Cell::from(cost(log, logged).unwrap_or_default()),
        Cell::from(change.map_or_else(String::new, signed)),
        verdict,
        Cell::from(format!("{}{}", shortened(&refs), commit.subject)),
    ]
}

/// Formats the mean cost of a run: `2.72 s`.
fn cost(log: &CommitLog, logged: &LoggedCommit) -> Option<String> {
    let (cost, measured) = logged.cost.zip(log.sample_type.as_ref())?;
    Some(quantity(cost, measured.unit).unwrap_or_else(|| group_digits(cost)))
}

/// Formats `+12.3%`.
fn signed(ratio: f64) -> String {
    format!("{:+.1}%", (ratio - 1.0) * 100.0)
}

fn shortened(refs: &str) -> String {
    if display_width(refs) > REFS_WIDTH {
        crate::text::shorten(refs, REFS_WIDTH) + " "
    } else {
        refs.to_owned()
    }
}

/// Returns the comparison with the parent from which the commit changed least. A merge inherits the
/// changes of its other parents.
fn least(logged: &LoggedCommit) -> Option<&Judgement> {
    let known = logged.compared.iter();
    known.min_by(|a, b| {
        let change = |judged: &Judgement| judged.change.map_or(f64::INFINITY, |c| c.ln().abs());
        change(a).total_cmp(&change(b))
    })
}

fn change(logged: &LoggedCommit) -> Option<f64> {
    least(logged)?.change
}

/// Returns the comparison that explains a regression.
fn worst(logged: &LoggedCommit) -> Option<&Judgement> {
    let is_worse = logged.verdict == Some(Verdict::Regression);
    least(logged).filter(|_| is_worse)
}

fn is_better(logged: &LoggedCommit) -> bool {
    logged.compared.iter().all(|judged| judged.improvements > 0)
}

/// Returns `true` if a line of the graph has more than vertical lines.
fn is_needed(lane: &str) -> bool {
    lane.contains(|c: char| !matches!(c, '|' | ' '))
}
