//! Sentences broken into lines.

use super::{Style, display_width, printable};
use std::fmt::Write;

/// A line that says what a report is about, broken only where the terminal is narrower.
pub(crate) fn title(style: Style, text: &str) -> String {
    line(style, text, 0)
}

/// A line that begins at this column, broken only where the terminal is narrower.
pub(crate) fn line(style: Style, text: &str, indent: usize) -> String {
    let head = " ".repeat(indent);
    match style.width {
        Some(_) => paragraph(style, &head, text, indent),
        None => format!("{head}{}\n", printable(text)),
    }
}

/// A paragraph after `head`, its lines broken at spaces, those after the first indented.
pub(crate) fn paragraph(style: Style, head: &str, sentence: &str, indent: usize) -> String {
    let width_of_line = style.text_width();
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut space = "";
    for word in printable(sentence).split_whitespace() {
        let word = style.fit(word, indent);
        let width = display_width(&word);
        if column > indent && column + space.len() + width > width_of_line {
            text.truncate(text.trim_end().len());
            let _ = write!(text, "\n{:indent$}", "");
            (column, space) = (indent, "");
        }
        let _ = write!(text, "{space}{word}");
        column += space.len() + width;
        space = " ";
    }
    text.push('\n');
    text
}
