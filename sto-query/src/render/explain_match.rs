//! Whether two symbols are the same function and why, as text.

use crate::functions::{Rule, SymbolKey, SymbolMatch};
use crate::text::{Style, paragraph, printable};
use std::fmt::Write;
use unicode_width::UnicodeWidthChar;

/// Column at which symbols begin. The longest rule name fits to the left of it.
const COLUMN: usize = 24;

/// Returns the report as text: each symbol, the parts that each rule removed from it, and its key.
///
/// Names are wrapped, not shortened, as any character may be the one that differs.
pub fn text(report: &SymbolMatch, style: Style) -> String {
    let mut text = String::new();
    for symbol in &report.symbols {
        write_symbol(&mut text, symbol, style);
        text.push('\n');
    }
    let (word, why) = if report.matches {
        ("MATCH", "the keys are equal")
    } else {
        ("NO MATCH", "the keys differ")
    };
    let version = report.matching.rules_version;
    let options = report.matching.options;
    let ignored = match (options.exact_symbols, options.ignore_template_arguments) {
        (true, _) => ", none of which applies to exact symbols",
        (false, true) => ", template arguments ignored",
        (false, false) => "",
    };
    let verdict = format!("{word}: {why} (version {version} of the rules{ignored})");
    let verdict = paragraph(style, "", &verdict, 0);
    let marked = if report.matches {
        style.bold(word)
    } else {
        style.worse(word)
    };
    text + &verdict.replacen(word, &marked, 1)
}

fn write_symbol(text: &mut String, report: &SymbolKey, style: Style) {
    write_row(
        text,
        &style.bold("symbol"),
        "symbol".len(),
        &report.symbol,
        style,
    );
    for step in &report.steps {
        if step.rule == Rule::Mangled {
            let heading = "  mangled, read as";
            write_row(text, heading, heading.len(), &step.written, style);
            continue;
        }
        let rule = step.rule.name();
        let name = format!("  {rule}");
        write_row(text, &name, name.len(), &step.taken, style);
        if !step.written.is_empty() {
            write_row(
                text,
                "    becomes",
                "    becomes".len(),
                &step.written,
                style,
            );
        }
    }
    write_row(text, &style.bold("key"), "key".len(), &report.key, style);
}

/// Writes a heading that is `columns` wide, followed by a value that is wrapped if necessary.
fn write_row(text: &mut String, heading: &str, columns: usize, value: &str, style: Style) {
    let _ = write!(text, "{heading}{:1$}", "", COLUMN - columns);
    let width = style.width.map(|width| {
        width
            .saturating_sub(COLUMN)
            .max(crate::text::MIN_NAME_WIDTH)
    });
    let mut used = 0;
    for character in printable(value).chars() {
        let columns = character.width().unwrap_or(0);
        if width.is_some_and(|width| used + columns > width) {
            let _ = write!(text, "\n{:COLUMN$}", "");
            used = 0;
        }
        text.push(character);
        used += columns;
    }
    text.push('\n');
}
