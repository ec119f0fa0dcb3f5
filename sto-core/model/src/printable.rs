//! Hostile text made harmless for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

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

#[cfg(test)]
mod tests {
    use super::*;

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
