//! Comma-separated values.

use std::borrow::Cow;

/// More fields than a line of any format has.
const MAX_FIELDS: usize = 256;

/// The first fields of a line of comma-separated values, without the quotes around them.
pub(super) fn fields(line: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut fields = Vec::new();
    let mut rest = Some(line);
    while let Some(line) = rest.filter(|_| fields.len() < MAX_FIELDS) {
        let text = line.trim_ascii_start();
        let (field, behind) = match text.strip_prefix(b"\"") {
            Some(quoted) => unquoted(quoted),
            None => {
                let end = memchr::memchr(b',', line).unwrap_or(line.len());
                (line[..end].trim_ascii().into(), &line[end..])
            }
        };
        fields.push(field);
        rest = memchr::memchr(b',', behind).map(|comma| &behind[comma + 1..]);
    }
    fields
}

/// The text up to the closing quote, where two stand for one, and what is behind it.
fn unquoted(text: &[u8]) -> (Cow<'_, [u8]>, &[u8]) {
    let mut at = 0;
    while let Some(quote) = memchr::memchr(b'"', &text[at..]) {
        at += quote;
        if text.get(at + 1) != Some(&b'"') {
            break;
        }
        at += 2;
    }
    let has_end = text.get(at) == Some(&b'"');
    let end = if has_end { at } else { text.len() };
    let inside = &text[..end];
    let field = match memchr::memmem::find(inside, b"\"\"") {
        None => inside.into(),
        Some(_) => {
            let mut field = Vec::with_capacity(inside.len());
            let mut bytes = inside.iter();
            while let Some(&byte) = bytes.next() {
                field.push(byte);
                if byte == b'"' {
                    bytes.next();
                }
            }
            field.into()
        }
    };
    (field, text.get(end + 1..).unwrap_or(b""))
}
