//! A source file with the cost of each line, as text.

use super::header::{full_name, header};
use super::hot::{format_costs, times};
use super::source::{expand_tabs, shorten_to_fit};
use crate::answer::Verdict;
use crate::hot::{Blame, BlamedFunction, BlamedLine, BlamedSince};
use crate::text::{Style, display_width, format_count, paragraph, percent, printable};
use crate::tree::CostShare;
use std::fmt::Write;

/// Maximum number of functions to list at one line. A generic function can have hundreds of
/// instances.
const MAX_FUNCTIONS: usize = 3;

/// Returns the file as text: each line of source after its costs, and above the first line of a
/// function the function's costs.
pub fn text(report: &Blame, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    if let Some(since) = &report.since {
        text += &paragraph(style, "", &describe_comparison(since), 0);
    }
    let _ = writeln!(text, "\n{}", style.bold(&printable(&report.path)));
    if report.files.is_empty() {
        let none = format!(
            "Nothing in this file has a cost in {}.",
            full_name(&report.subject)
        );
        return text + &paragraph(style, "", &none, 0);
    }
    if !report.text_known {
        let unknown = "the content of this file at build time is unknown: lines have no costs, and functions are placed by name";
        text += &paragraph(style, "warning: ", unknown, 9);
    }
    let columns = Columns::new(report);
    let _ = writeln!(text, "{}", style.dim(&columns.heading));
    let mut functions = &report.functions[..];
    for line in &report.lines {
        let count = functions.partition_point(|function| function.line <= line.line);
        let (here, below) = functions.split_at(count);
        functions = below;
        text += &self::functions(here, &columns, style);
        text += &self::line(line, &columns, style);
    }
    text
}

/// Layout of the columns to the left of the source.
struct Columns {
    heading: String,
    has_was: bool,
    /// Width of the line number.
    number: usize,
    /// Column at which the source begins.
    source: usize,
}

impl Columns {
    fn new(report: &Blame) -> Columns {
        let number = report.lines.len().to_string().len().max("line".len());
        let has_was = report.since.is_some();
        let was = if has_was { "      was" } else { "" };
        let heading = format!(
            "{:>8} {:>8}{was}  {:>number$}  source",
            "self", "total", "line"
        );
        Columns {
            source: heading.len() - "source".len(),
            heading,
            has_was,
            number,
        }
    }
}

fn describe_comparison(since: &BlamedSince) -> String {
    let runs = format_count(since.subject.profiles.len() as u64, "profile");
    let tested = match since.verdict {
        Verdict::Insufficient => "there is too little data to test what functions cost",
        _ => {
            "`×` marks functions whose total grew or shrank so much, by more than chance, and `new` those that had no cost"
        }
    };
    let was = if since.text_known {
        "`was` is the total of a line then, which is not tested"
    } else {
        "the content of this file at that time is unknown, so lines have no earlier costs"
    };
    let build = full_name(&since.subject);
    format!("Since {build} ({runs}): {tested}; {was}.")
}

/// Formats the most expensive functions that begin at a line.
fn functions(here: &[BlamedFunction], columns: &Columns, style: Style) -> String {
    let mut largest: Vec<&BlamedFunction> = here.iter().collect();
    let weight = |cost: CostShare| (cost.value, cost.samples);
    largest.sort_by_key(|function| std::cmp::Reverse(weight(function.costs.total)));
    let mut text = String::new();
    for function in largest.iter().take(MAX_FUNCTIONS) {
        let change = match (function.change, function.was) {
            (Some(ratio), _) => format!(" · {}", times(ratio)),
            (None, None) if columns.has_was => " · new".to_owned(),
            _ => String::new(),
        };
        let words = format!(": {}{change}", format_costs(&function.costs, None));
        let column = columns.source + display_width(&words);
        let name = style.name(&function.function, column);
        let words = shorten_to_fit(&words, columns.source + display_width(&name), style);
        let words = match function.change {
            Some(ratio) if ratio > 1.0 => style.worse(&words),
            Some(_) => style.better(&words),
            None => words,
        };
        let _ = writeln!(
            text,
            "{:2$}{}{words}",
            "",
            style.bold(&name),
            columns.source
        );
    }
    if let Some(more @ 1..) = largest.len().checked_sub(MAX_FUNCTIONS) {
        let more = format_count(more as u64, "more function");
        let _ = writeln!(text, "{:1$}and {more}", "", columns.source);
    }
    text
}

fn line(line: &BlamedLine, columns: &Columns, style: Style) -> String {
    let cost = |cost: Option<CostShare>| match cost {
        Some(cost) if cost.samples > 0 => percent(cost.share),
        _ => String::new(),
    };
    let mut text = format!("{:>8} {:>8}", cost(line.self_cost), cost(line.total));
    if columns.has_was {
        let _ = write!(text, " {:>8}", cost(line.was.map(|costs| costs.total)));
    }
    let source = shorten_to_fit(
        &printable(&expand_tabs(&line.source)),
        columns.source,
        style,
    );
    let _ = write!(text, "  {:>1$}  {source}", line.line, columns.number);
    match line.total {
        Some(_) => format!("{}\n", text.trim_end()),
        None => format!("{}\n", style.dim(text.trim_end())),
    }
}
