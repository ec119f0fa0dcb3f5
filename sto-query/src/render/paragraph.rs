//! Sentences broken into lines.

use super::{display_width, printable, shorten};
use std::fmt::Write;

/// Columns that a report takes: it is read in logs as often as in a terminal.
pub(super) const WIDTH: usize = 80;

/// A paragraph behind `head`, its lines broken at spaces, those after the first indented.
pub(super) fn paragraph(head: &str, sentence: &str, indent: usize) -> String {
    let mut text = head.to_owned();
    let mut column = display_width(head);
    let mut space = "";
    for word in printable(sentence).split_whitespace() {
        let word = shorten(word, WIDTH - indent);
        let width = display_width(&word);
        if column > indent && column + space.len() + width > WIDTH {
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
