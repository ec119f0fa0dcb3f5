//! Hostile names made harmless for a terminal, and names made to fit one.

use std::borrow::Cow;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Text in which every character shows: control characters (line feeds and the escape that
/// begins terminal sequences among them), characters that reorder or hide text, and those that
/// XML does not allow, are written as `\u{1b}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_hidden(character) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
    Cow::Owned(shown)
}

fn is_hidden(character: char) -> bool {
    let number = character as u32;
    character.is_control()
        || matches!(number,
            0xad | 0x61c                   // soft hyphen, Arabic letter mark
            | 0x180e | 0x200b..=0x200f     // zero width, marks of direction
            | 0x2028..=0x202e              // line and paragraph separators, bidi embeddings
            | 0x2060..=0x206f              // invisible operators, bidi isolates
            | 0xfeff | 0xfff9..=0xfffb     // byte order mark, interlinear annotation
            | 0xe0000..=0xe007f)           // tags
        || number & 0xfffe == 0xfffe // noncharacters; U+FFFE and U+FFFF are not XML
}

/// Columns that text takes on a terminal.
pub(crate) fn display_width(text: &str) -> usize {
    text.width()
}

/// Text that takes at most `max` columns: if it is longer, its middle gives way to `…`.
///
/// The middle, because a function's path stands first and its own name last.
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

fn take_columns(
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
        // Wide characters take two columns each; half of one is never shown.
        assert_eq!(shorten("函数函数函数", 6), "函…数");
        assert!(display_width(&shorten("函数函数函数", 6)) <= 6);
    }

    #[test]
    fn what_hides_or_reorders_text_is_shown() {
        assert_eq!(printable("std::vec<int>"), "std::vec<int>");
        assert_eq!(printable("\x1b[31mred\n"), "\\u{1b}[31mred\\u{a}");
        assert_eq!(
            printable("a\u{202e}b\u{2066}\u{ffff}"),
            "a\\u{202e}b\\u{2066}\\u{ffff}"
        );
        assert!(matches!(printable("größer"), Cow::Borrowed(_)));
    }
}
