//! Text: blocks, lines and numbers of files, and excerpts for messages.

use std::collections::BTreeSet;
use std::io::{self, Read};

/// Number of bytes read at once from a stream.
pub(crate) const BLOCK: usize = 4 << 20;

/// Appends the next bytes of a stream: one block, or as many bytes as there are already, so that
/// scanning all of them after each block stays linear. Returns `true` if the stream ended.
pub(crate) fn read_block(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let wanted = bytes.len().max(BLOCK);
    let came = input.take(wanted as u64).read_to_end(bytes)?;
    Ok(came < wanted)
}

/// The lines of a text without line ends (`\n` or `\r\n`), with their numbers from 1.
pub(crate) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let mut start = 0;
    std::iter::from_fn(move || {
        let rest = bytes.get(start..).filter(|rest| !rest.is_empty())?;
        let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
        start += end + 1;
        let line = &rest[..end];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
    .zip(1..)
    .map(|(line, number)| (number, line))
}

/// The words of a text, separated by white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    &path[start..]
}

/// Limit to the digits of a number, including leading zeros.
const MAX_DIGITS: usize = 1024;

/// Parses a decimal number; `None` if the text is empty, has other characters, or exceeds 64 bits.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    // Without a limit, a file that refers to one long text many times takes very long.
    let digits = Some(digits).filter(|digits| digits.len() <= MAX_DIGITS)?;
    let (first, others) = digits.split_first()?;
    let value = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    others.iter().try_fold(value(first)?, |sum, digit| {
        sum.checked_mul(10)?.checked_add(value(digit)?)
    })
}

/// Parses a decimal number and multiplies it by 10 to the power of `digits`; further digits after
/// the point are ignored.
pub(crate) fn scaled(text: &[u8], digits: usize) -> Result<u64, String> {
    scaled_if_number(text, digits).ok_or_else(|| {
        format!(
            "expected a number from 0 to {}, found {}",
            u64::MAX / 10u64.pow(digits as u32),
            excerpt(text)
        )
    })
}

/// Like [`scaled`], but returns `None` if the text is not such a number.
pub(crate) fn scaled_if_number(text: &[u8], digits: usize) -> Option<u64> {
    let (whole, fraction) = match memchr::memchr(b'.', text) {
        Some(point) => (&text[..point], &text[point + 1..]),
        None => (text, &b""[..]),
    };
    if !fraction.iter().all(u8::is_ascii_digit) {
        return None;
    }
    let padded = fraction.iter().chain(std::iter::repeat(&b'0'));
    padded.take(digits).try_fold(decimal(whole)?, |sum, digit| {
        sum.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

/// A printable beginning of a text from a file: in back quotes, at most 60 characters, on one line,
/// with unprintable characters escaped.
pub fn excerpt(bytes: &[u8]) -> String {
    const LONGEST: usize = 60;
    // A character has at most four bytes, so this cuts off nothing that would be shown.
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

/// Excerpts of the first names and the number of others; `None` if there are no names.
pub fn excerpts(names: &BTreeSet<&[u8]>) -> Option<String> {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| excerpt(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}
