//! Paragraphs wrapped at the width of the terminal.

use super::{Style, display_width, printable};
use std::fmt::Write;

/// Returns a line without indentation, wrapped only if a terminal is narrower.
pub(crate) fn title(style: Style, text: &str) -> String {
    line(style, text, 0)
}

/// Returns an indented line, wrapped only if a terminal is narrower.
pub(crate) fn line(style: Style, text: &str, indent: usize) -> String {
    let head = " ".repeat(indent);
    match style.width {
        Some(_) => paragraph(style, &head, text, indent),
        None => format!("{head}{}\n", printable(text)),
    }
}

/// Returns a paragraph that begins with `head`, wrapped at spaces, with all lines but the first
/// indented.
pub(crate) fn paragraph(style: Style, head: &str, sentence: &str, indent: usize) -> String {
    let width_of_line = style.text_width();
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut space = "";
    for word in printable(sentence).split_whitespace() {
        let word = style.shorten_to_fit(word, indent);
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
