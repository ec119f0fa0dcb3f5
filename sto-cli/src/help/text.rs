//! Parses the notes at the end of a command's help (examples and paragraphs), and
//! lays them out for a width.

use unicode_width::UnicodeWidthStr;

/// A part of the notes; in the source, an empty line separates parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Block {
    Examples(Vec<Example>),
    /// The text after `Exit status: `.
    ExitStatus(String),
    Paragraph(String),
    /// Lines to print unchanged: they are indented in the source.
    Literal(Vec<String>),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Example {
    pub(super) command: String,
    /// The description, which may be empty.
    pub(super) what: String,
}

/// Maximum width of a command with its description in the same line.
const WIDEST_COMMAND: usize = 48;

/// Minimum width of the column for descriptions.
const NARROWEST_COLUMN: usize = 24;

const EXIT_STATUS: &str = "Exit status: ";

/// Parses notes from the source.
pub(super) fn blocks(text: &str) -> Vec<Block> {
    let paragraphs = text.split("\n\n");
    let paragraphs = paragraphs.filter(|paragraph| !paragraph.trim().is_empty());
    paragraphs.map(block).collect()
}

fn block(text: &str) -> Block {
    let examples = text.strip_prefix("Examples:\n");
    if let Some(lines) = examples.or_else(|| text.strip_prefix("Example:\n")) {
        return Block::Examples(lines.lines().map(example).collect());
    }
    if text.lines().all(|line| line.starts_with("  ")) {
        return Block::Literal(text.lines().map(str::to_owned).collect());
    }
    let joined = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match joined.strip_prefix(EXIT_STATUS) {
        Some(statuses) => Block::ExitStatus(statuses.to_owned()),
        None => Block::Paragraph(joined),
    }
}

fn example(line: &str) -> Example {
    let line = line.trim();
    let (command, what) = line.split_once("  ").unwrap_or((line, ""));
    Example {
        command: command.to_owned(),
        what: what.trim().to_owned(),
    }
}

/// The blocks as text of at most this width, if the words allow it.
pub(super) fn lay_out(blocks: &[Block], width: usize) -> String {
    let text = |block: &Block| match block {
        Block::Examples(examples) => {
            "Examples:\n".to_owned() + &columns(examples, width).join("\n")
        }
        Block::ExitStatus(statuses) => fill(&format!("{EXIT_STATUS}{statuses}"), width).join("\n"),
        Block::Paragraph(paragraph) => fill(paragraph, width).join("\n"),
        Block::Literal(lines) => lines.join("\n"),
    };
    blocks.iter().map(text).collect::<Vec<_>>().join("\n\n")
}

/// Commands with their descriptions in a second column if there is room, otherwise below.
fn columns(examples: &[Example], width: usize) -> Vec<String> {
    let described = examples.iter().filter(|example| !example.what.is_empty());
    let widths = described.map(|example| example.command.width());
    let widest = widths.filter(|&width| width <= WIDEST_COMMAND).max();
    let column = 2 + widest.unwrap_or(0) + 2;
    let has_columns = column + NARROWEST_COLUMN <= width;
    let mut lines = Vec::new();
    for Example { command, what } in examples {
        if has_columns && !what.is_empty() && 2 + command.width() + 2 <= column {
            entry(&mut lines, command, what, column, width);
            continue;
        }
        lines.extend(broken_command(command, width));
        let below = fill(what, width.saturating_sub(6));
        lines.extend(below.iter().map(|line| format!("      {line}")));
    }
    lines
}

/// Appends a name in column 2 and its wrapped description in column `column`.
pub(super) fn entry(lines: &mut Vec<String>, name: &str, what: &str, column: usize, width: usize) {
    let mut head = format!("  {name}{:1$}", "", column.saturating_sub(2 + name.width()));
    for line in fill(what, width.saturating_sub(column)) {
        lines.push(head + &line);
        head = " ".repeat(column);
    }
}

/// A command in several lines that a shell reads as one.
fn broken_command(command: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::from("  ");
    let mut is_quoted = false;
    for word in command.split(' ') {
        let is_first = line.trim().is_empty();
        if !is_first && !is_quoted && line.width() + 1 + word.width() + 2 > width {
            lines.push(line + " \\");
            line = format!("      {word}");
        } else {
            line = line + if is_first { "" } else { " " } + word;
        }
        is_quoted ^= word.matches(['\'', '"']).count() % 2 == 1;
    }
    lines.push(line);
    lines
}

/// Wraps the lines of usage in clap's output, which clap itself does not wrap.
pub(super) fn with_usage_in(text: &str, width: usize) -> String {
    const USAGE: &str = "Usage: ";
    let mut broken = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let plain = without_colors(line);
        let is_usage = plain.starts_with(USAGE) || plain.starts_with("       sto");
        if !is_usage || plain.trim_end().width() <= width {
            broken += line;
            continue;
        }
        let mut column = 0;
        for word in line.trim_end().split(' ') {
            let columns = without_colors(word).width();
            if column > USAGE.len() && column + 1 + columns > width {
                broken += &format!("\n{:1$}", "", USAGE.len() + 2);
                column = USAGE.len() + 2;
            } else if column > 0 || word.is_empty() {
                broken.push(' ');
                column += 1;
            }
            broken += word;
            column += columns;
        }
        broken.push('\n');
    }
    broken
}

/// Removes colour sequences.
fn without_colors(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain += part.split_once('m').map_or(part, |(_, text)| text);
    }
    plain
}

/// Wraps text into lines of at most this width; no lines for text without words.
pub(super) fn fill(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.width() + 1 + word.width() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "\
Examples:
  sto top v1                    Show which functions cost most of all that there are
  sto record --build v1 --benchmark startup --label cpu=7950x -- ./server --port 80

A note that goes over
two lines.

  a,b
  1,2

Exit status: 0 fine,
1 not.";

    #[test]
    fn joins_lines_of_paragraphs_but_not_of_tables() {
        let blocks = blocks(SOURCE);
        assert_eq!(blocks.len(), 4);
        assert_eq!(
            blocks[1],
            Block::Paragraph("A note that goes over two lines.".to_owned())
        );
        assert_eq!(
            blocks[2],
            Block::Literal(vec!["  a,b".to_owned(), "  1,2".to_owned()])
        );
        assert_eq!(blocks[3], Block::ExitStatus("0 fine, 1 not.".to_owned()));
    }

    #[test]
    fn fills_lines_up_to_the_width() {
        for width in [40, 60, 80, 100] {
            let text = lay_out(&blocks(SOURCE), width);
            assert!(
                text.lines().all(|line| line.width() <= width),
                "{width}:\n{text}"
            );
        }
        assert!(
            lay_out(&blocks(SOURCE), 80)
                .contains("  sto top v1  Show which functions cost most of all that there are\n")
        );
    }

    #[test]
    fn wraps_usage_between_words_with_and_without_colours() {
        let usage = "Usage: sto find-regressions [OPTIONS] [BASELINE] <CANDIDATE>\n\nA line of \
                     help that clap has broken.\n";
        let expected = "Usage: sto find-regressions [OPTIONS]\n         [BASELINE] <CANDIDATE>\n\nA line of \
                        help that clap has broken.\n";
        assert_eq!(with_usage_in(usage, 40), expected);
        assert_eq!(with_usage_in(usage, 80), usage);
        let colored = usage.replace("sto", "\x1b[1msto\x1b[0m");
        let broken = with_usage_in(&colored, 40);
        assert_eq!(without_colors(&broken), expected);
        assert_eq!(broken.matches("\x1b[1m").count(), 1);
    }

    #[test]
    fn a_wrapped_command_is_one_command_to_a_shell() {
        let lines = broken_command(
            "sto explain-match 'run::{closure 1}' 'parse<A, B>' --exact",
            40,
        );
        assert!(lines.iter().all(|line| line.width() <= 40), "{lines:?}");
        let rest = lines.join("\n").replace(" \\\n     ", "");
        assert_eq!(
            rest,
            "  sto explain-match 'run::{closure 1}' 'parse<A, B>' --exact"
        );
    }
}
