//! Text in XML.

/// Text as the content of an element, or of an attribute in double quotes. What XML has no form for,
/// [`printable`](crate::text::printable) takes out before.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            // `]]>` may not stand in text.
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            character => escaped.push(character),
        }
    }
    escaped
}
