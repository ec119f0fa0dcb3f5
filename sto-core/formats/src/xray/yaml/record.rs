//! A line with a record: `- { kind: function-enter, func-id: 1, tsc: 120, ... }`.

use crate::wire::text::{decimal, excerpt};
use std::borrow::Cow;

/// The record of a call.
#[derive(Debug, PartialEq)]
pub(super) struct Record<'l> {
    pub(super) event: Event<'l>,
    pub(super) process: u32,
    pub(super) thread: u32,
    /// Cycles of the processor's clock.
    pub(super) time: u64,
    pub(super) ending: Ending,
}

#[derive(Debug, PartialEq)]
pub(super) enum Event<'l> {
    /// Entry of a function with this number, name and first argument.
    Enter(u32, Cow<'l, [u8]>, Option<u64>),
    /// Exit of a function, possibly by a tail call.
    Exit(u32, Cow<'l, [u8]>),
    /// Data written by the program itself, not a call.
    Other,
}

/// The end of a record.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Ending {
    /// At the end of its line.
    Line,
    /// In a later line after this quote, because its data contain line ends.
    Quote(u8),
}

/// Parses a line, or returns the problem.
pub(super) fn record(line: &[u8]) -> Result<Record<'_>, String> {
    read(line).ok_or_else(|| {
        format!(
            "expected a record on one line, as in `- {{ func-id: 1, function: work, thread: 2, process: 2, kind: \
             function-enter, tsc: 120 }}`, found {}; was the file edited, or written by another tool?",
            excerpt(line)
        )
    })
}

fn read(line: &[u8]) -> Option<Record<'_>> {
    let mut rest = line.trim_ascii_start().strip_prefix(b"- {")?;
    let (mut function, mut name, mut kind, mut time) = (None, None, None, None);
    let (mut process, mut thread) = (0, 0);
    let mut argument = None;
    let number = |text: &[u8]| u32::try_from(decimal(text)?).ok();
    let ending = loop {
        let colon = memchr::memchr(b':', rest)?;
        let key = rest[..colon].trim_ascii();
        let Some((value, after)) = value(rest[colon + 1..].trim_ascii_start()) else {
            // The data of a record come last and are not escaped.
            let quote = rest[colon + 1..].trim_ascii_start().first().copied();
            break Ending::Quote(quote.filter(|quote| key == b"data" && is_quote(*quote))?);
        };
        match key {
            b"func-id" => function = Some(number(value).filter(|&function| function > 0)?),
            b"function" => name = Some(value),
            b"args" => argument = first_of_list(value),
            b"thread" => thread = number(value)?,
            b"process" => process = number(value)?,
            b"kind" => kind = Some(value),
            b"tsc" => time = Some(decimal(value)?),
            _ => {}
        }
        match after.trim_ascii() {
            b"}" => break Ending::Line,
            after => rest = after.strip_prefix(b",")?,
        }
    };
    let event = match kind? {
        b"function-enter" | b"function-enter-arg" => Event::Enter(function?, text(name?), argument),
        b"function-exit" | b"function-tail-exit" => Event::Exit(function?, text(name?)),
        b"custom-event" | b"typed-event" => Event::Other,
        _ => return None,
    };
    Some(Record {
        event,
        process,
        thread,
        time: time?,
        ending,
    })
}

/// The first number of `[ 1, 2 ]`.
fn first_of_list(value: &[u8]) -> Option<u64> {
    let first = value.strip_prefix(b"[")?.split(|byte| b",]".contains(byte));
    decimal(first.into_iter().next()?.trim_ascii())
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'\'' | b'"')
}

/// The value at the beginning of a text, including its quotes, and the rest; `None` if it does not
/// end.
fn value(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = match *text.first()? {
        quote if is_quote(quote) => 1 + closing(&text[1..], quote)?,
        b'[' => 1 + memchr::memchr(b']', text)?,
        // Values with a colon are quoted, values with a comma are not.
        _ => match memchr::memchr(b':', text) {
            Some(colon) => memchr::memrchr(b',', &text[..colon])?,
            None => memchr::memrchr(b'}', text)?,
        },
    };
    Some((text[..end].trim_ascii_end(), &text[end..]))
}

/// The position after the quote that closes this one. Single quotes are doubled within.
pub(super) fn closing(text: &[u8], quote: u8) -> Option<usize> {
    let mut at = 0;
    loop {
        let found = at + memchr::memchr2(quote, b'\\', &text[at..])?;
        at = found + 1;
        match text[found] {
            b'\\' if quote == b'"' => at += 1,
            b'\\' => {}
            _ if quote == b'\'' && text.get(at) == Some(&quote) => at += 1,
            _ => return Some(at),
        }
        if at > text.len() {
            return None;
        }
    }
}

/// The text of a value.
fn text(value: &[u8]) -> Cow<'_, [u8]> {
    match value {
        [b'\'', inside @ .., b'\''] => match memchr::memchr(b'\'', inside) {
            Some(_) => {
                let mut text = Vec::with_capacity(inside.len());
                let mut quotes = 0;
                for &byte in inside {
                    quotes += usize::from(byte == b'\'');
                    if byte != b'\'' || quotes % 2 == 1 {
                        text.push(byte);
                    }
                }
                text.into()
            }
            None => inside.into(),
        },
        [b'"', inside @ .., b'"'] => unescaped(inside).into(),
        plain => plain.into(),
    }
}

/// Removes the escapes that LLVM writes in double quotes: `\\`, `\"`, `\xE4`, `\u00E4`, `\U000000E4`.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(escape) = memchr::memchr(b'\\', rest) {
        plain.extend(&rest[..escape]);
        rest = &rest[escape..];
        let digits = match rest.get(1) {
            Some(b'x') => 2,
            Some(b'u') => 4,
            Some(b'U') => 8,
            _ => 0,
        };
        let code = rest.get(2..2 + digits).filter(|code| !code.is_empty());
        let code = code.and_then(|code| u32::from_str_radix(str::from_utf8(code).ok()?, 16).ok());
        match (code.and_then(char::from_u32), rest.get(1)) {
            (Some(character), _) => {
                plain.extend(character.encode_utf8(&mut [0; 4]).as_bytes());
                rest = &rest[2 + digits..];
            }
            (None, Some(&quoted @ (b'\\' | b'"'))) => {
                plain.push(quoted);
                rest = &rest[2..];
            }
            (None, _) => {
                plain.push(b'\\');
                rest = &rest[1..];
            }
        }
    }
    plain.extend(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enter(name: &[u8], argument: Option<u64>, ending: Ending) -> Record<'_> {
        Record {
            event: Event::Enter(6, name.into(), argument),
            process: 3,
            thread: 4,
            time: 120,
            ending,
        }
    }

    #[test]
    fn reads_names_in_all_quotings_of_llvm() {
        for (written, name) in [
            ("main", "main"),
            ("operator, odd", "operator, odd"),
            ("'f(int, char)'", "f(int, char)"),
            ("'~it''s'", "~it's"),
            ("''''", "'"),
            (r#""\xE4 \"\\x\" \u20AC \U0001F980""#, "ä \"\\x\" € 🦀"),
            (r#""\q""#, r"\q"),
            ("'a''''b'", "a''b"),
            ("'{ a: b }, kind: x'", "{ a: b }, kind: x"),
        ] {
            let line = format!(
                "  - {{ type: 0, func-id: 6, function: {written}, args: [ 1, 2 ], cpu: 0, thread: 4, process: 3, \
                 kind: function-enter-arg, tsc: 120, data: '' }}"
            );
            let expected = enter(name.as_bytes(), Some(1), Ending::Line);
            assert_eq!(record(line.as_bytes()).as_ref(), Ok(&expected), "{written}");
        }
    }

    #[test]
    fn rejects_lines_that_are_not_records() {
        for line in [
            "",
            "  - {",
            "  - { kind: function-enter, tsc: 1 }",
            "  - { func-id: 0, function: a, kind: function-enter, tsc: 1 }",
            "  - { func-id: -1, function: a, kind: function-enter, tsc: 1 }",
            "  - { func-id: 1, function: a, kind: function-leave, tsc: 1 }",
            "  - { func-id: 1, function: a, kind: function-enter, tsc: 99999999999999999999 }",
            "  - { func-id: 1, function: 'a, kind: function-enter, tsc: 1 }",
            "  - { func-id: 1, function: a, kind: function-enter, tsc: 1",
            "  - { func-id: 1, function: a, kind: function-enter, tsc: 1 } }",
        ] {
            let problem = record(line.as_bytes()).expect_err(line);
            assert!(
                problem.contains("expected a record on one line"),
                "{problem}"
            );
        }
    }

    #[test]
    fn reads_data_over_several_lines() {
        let line = "- { func-id: 6, function: a, thread: 4, process: 3, kind: function-enter, tsc: 120, data: 'it''s";
        let expected = enter(b"a", None, Ending::Quote(b'\''));
        assert_eq!(record(line.as_bytes()), Ok(expected));
        assert_eq!(closing(b"so'' it 'ends", b'\''), Some(9));
        assert_eq!(closing(br#"so\" it "ends"#, b'"'), Some(9));
        assert_eq!(closing(b"nothing", b'\''), None);
    }
}
