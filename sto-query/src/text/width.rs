//! Display width of text, and shortening to a width.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns that text occupies on a terminal.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Shortens text to at most `max` columns, with `…` in its middle if it is longer.
///
/// The beginning and the end are kept, as a function's path comes first and its own name last.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    if display_width(text) <= max {
        return text.to_owned();
    }
    let kept = max.saturating_sub(1);
    let tail_width = kept / 2;
    let head = text.chars();
    let head: String = take_columns(head, kept - tail_width).collect();
    let mut tail: Vec<char> = take_columns(text.chars().rev(), tail_width).collect();
    tail.reverse();
    head + "…" + &String::from_iter(tail)
}

/// Returns the first characters that fit into a number of columns.
pub(super) fn take_columns(
    characters: impl Iterator<Item = char>,
    columns: usize,
) -> impl Iterator<Item = char> {
    let mut used = 0;
    characters.take_while(move |character| {
        used += character.width().unwrap_or(0);
        used <= columns
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shortened_text_keeps_both_ends_and_fits() {
        assert_eq!(shorten("core::fmt::write", 16), "core::fmt::write");
        assert_eq!(shorten("core::fmt::write", 9), "core…rite");
        assert_eq!(shorten("core::fmt::write", 1), "…");
        // Wide characters take two columns and are never cut in half.
        assert_eq!(shorten("函数函数函数", 6), "函…数");
        assert!(display_width(&shorten("函数函数函数", 6)) <= 6);
    }
}
