//! The source of a function with the cost of each line, as text.

use super::header::header;
use crate::source::{FileSource, FunctionSource, LineSource};
use crate::text::{Style, display_width, format_count, paragraph, percent, printable};
use crate::tree::CostShare;
use std::fmt::Write;
use sto_core::Hint;
use unicode_width::UnicodeWidthChar;

/// Tab stops.
const TAB: usize = 4;

/// Returns the report as text: each line of source after its self and total.
pub fn text(report: &FunctionSource, style: Style) -> String {
    let mut text = header(&report.subject, style) + "\n";
    let closures = if report.with_closures {
        " and its closures"
    } else {
        ""
    };
    let name = style.name(&report.function, closures.len());
    let _ = writeln!(text, "\n{}{closures}", style.bold(&name));
    let cost = |cost: CostShare| {
        let samples = format_count(cost.samples, "sample");
        format!("{} ({samples})", percent(cost.share))
    };
    let mut facts = format!(
        "self {}, total {}",
        cost(report.self_cost),
        cost(report.total)
    );
    if !report.module.is_empty() {
        let _ = write!(facts, ", {}", printable(&report.module));
    }
    let _ = writeln!(text, "{}", style.shorten_to_fit(&facts, 0));
    if report.files.is_empty() {
        text.push('\n');
        text += &paragraph(
            style,
            "",
            "The lines of this function are not known. They are stored where the program was built with \
             line tables (`-g`, or `-g1`; Rust: `-C debuginfo=1`), and these could be found when the \
             recording was stored.",
            0,
        );
    }
    for file in &report.files {
        text += &self::file(file, style);
    }
    text
}

fn file(file: &FileSource, style: Style) -> String {
    let mut text = String::from("\n");
    let (name, rest) = match (&file.path, &file.file) {
        (Some(path), _) => (path.as_str(), String::new()),
        (None, file) if file.is_empty() => ("source file unknown", String::new()),
        (None, file) => (
            file.as_str(),
            style.words.hint_phrase(
                " (not found; `",
                Hint::SourceFolder,
                " DIR` says where to look)",
            ),
        ),
    };
    let name = style.shorten_to_fit(&printable(name), rest.len());
    let _ = writeln!(text, "{}{rest}", style.bold(&name));
    for warning in &file.warnings {
        text += &paragraph(style, "warning: ", warning, 9);
    }
    let last = file.lines.last().map_or(0, |line| line.line);
    let width = last.to_string().len().max("line".len());
    let heading = format!("{:>8} {:>8}  {:>width$}  source", "self", "total", "line");
    let column = heading.len() - "source".len();
    let _ = writeln!(text, "{}", style.dim(heading.trim_end()));
    let mut before = None;
    for line in &file.lines {
        if before.is_some_and(|before| before + 1 < line.line) && line.source.is_some() {
            let _ = writeln!(text, "{:>column$}", "...", column = column - "  ".len());
        }
        before = Some(line.line);
        text += &self::line(line, width, column, style);
    }
    text
}

fn line(line: &LineSource, width: usize, column: usize, style: Style) -> String {
    let cost = |cost: Option<CostShare>| match cost {
        Some(cost) if cost.samples > 0 => percent(cost.share),
        _ => String::new(),
    };
    let source = line.source.as_deref().map(expand_tabs).unwrap_or_default();
    let source = shorten_to_fit(&printable(&source), column, style);
    let (own, total) = (cost(line.self_cost), cost(line.total));
    let text = format!("{own:>8} {total:>8}  {:>width$}  {source}", line.line);
    match line.total {
        Some(_) => format!("{}\n", text.trim_end()),
        None => format!("{}\n", style.dim(text.trim_end())),
    }
}

/// Cuts a line of source that begins at `column` at the right edge of the terminal.
pub(super) fn shorten_to_fit(source: &str, column: usize, style: Style) -> String {
    let Some(width) = style.width.map(|width| width.saturating_sub(column)) else {
        return source.to_owned();
    };
    if display_width(source) <= width {
        return source.to_owned();
    }
    let mut columns = 1;
    let fits = |character: &char| {
        columns += character.width().unwrap_or(0);
        columns <= width
    };
    source.chars().take_while(fits).collect::<String>() + "…"
}

/// Replaces tabs by spaces.
pub(super) fn expand_tabs(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut column = 0;
    for character in source.chars() {
        let spaces = TAB - column % TAB;
        match character {
            '\t' => text.extend(std::iter::repeat_n(' ', spaces)),
            character => text.push(character),
        }
        column += if character == '\t' { spaces } else { 1 };
    }
    text
}
