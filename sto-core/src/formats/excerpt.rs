//! Text of a recording in messages.

use std::collections::BTreeSet;

/// The beginning of hostile text, made fit for one line of a message: in back quotes, at most 60
/// characters, with everything that does not print escaped.
pub(crate) fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    // A character has at most four bytes, so what is cut off here would not be shown anyway.
    let start = String::from_utf8_lossy(&bytes[..bytes.len().min(4 * LONGEST + 4)]);
    let mut text = String::from("`");
    for c in start.chars().take(LONGEST) {
        match c {
            '"' | '\'' => text.push(c),
            _ => text.extend(c.escape_debug()),
        }
    }
    text.push('`');
    if start.chars().nth(LONGEST).is_some() {
        text.push_str("...");
    }
    text
}

/// The first of some names, and how many more there are; `None` if there is no name.
pub(crate) fn excerpts(names: &BTreeSet<&[u8]>) -> Option<String> {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| excerpt(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}

#[cfg(test)]
mod tests {
    use super::excerpt;

    #[test]
    fn an_excerpt_is_one_printable_line() {
        assert_eq!(
            excerpt(b"it's\x1b[31m\nred\xff"),
            "`it's\\u{1b}[31m\\nred\u{fffd}`"
        );
    }

    #[test]
    fn an_excerpt_is_short() {
        let long = "\u{1d11e}".repeat(1000);
        assert_eq!(
            excerpt(long.as_bytes()),
            format!("`{}`...", "\u{1d11e}".repeat(60))
        );
    }
}
