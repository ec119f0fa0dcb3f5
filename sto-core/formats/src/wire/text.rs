//! Text: blocks, lines and numbers of files, and what of a file stands in messages.

use std::collections::BTreeSet;
use std::io::{self, Read};

/// How much of a stream is read at once.
pub(crate) const BLOCK: usize = 4 << 20;

/// Adds the next bytes of a stream: a block, or as much again as is there, so that looking at all of
/// it after each block stays linear; less only where the stream ends. Returns whether it does.
pub(crate) fn read_block(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let wanted = bytes.len().max(BLOCK);
    let came = input.take(wanted as u64).read_to_end(bytes)?;
    Ok(came < wanted)
}

/// The lines of a text with their numbers from 1, without line ends (`\n` or `\r\n`).
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

/// The words of a text, between white space.
pub(crate) fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let words = text.split(u8::is_ascii_whitespace);
    words.filter(|word| !word.is_empty())
}

pub(crate) fn base_name(path: &[u8]) -> &[u8] {
    let start = memchr::memrchr(b'/', path).map_or(0, |slash| slash + 1);
    &path[start..]
}

/// Most digits of a number, zeros in front of it among them.
const MAX_DIGITS: usize = 1024;

/// The number that decimal digits, at least one, write; `None` where there is anything else, or the
/// number leaves 64 bits.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    // A file may refer to one long text often.
    let digits = Some(digits).filter(|digits| digits.len() <= MAX_DIGITS)?;
    let (first, others) = digits.split_first()?;
    let value = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    others.iter().try_fold(value(first)?, |sum, digit| {
        sum.checked_mul(10)?.checked_add(value(digit)?)
    })
}

/// A decimal number with up to `digits` digits after the point that count, times 10 to the power of
/// that.
pub(crate) fn scaled(text: &[u8], digits: usize) -> Result<u64, String> {
    scaled_if_number(text, digits).ok_or_else(|| {
        format!(
            "expected a number from 0 to {}, found {}",
            u64::MAX / 10u64.pow(digits as u32),
            excerpt(text)
        )
    })
}

/// The same, where a text may be anything else.
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

/// The beginning of hostile text, made fit for one line of a message: in back quotes, at most 60
/// characters, with everything that does not print escaped.
pub fn excerpt(bytes: &[u8]) -> String {
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
pub fn excerpts(names: &BTreeSet<&[u8]>) -> Option<String> {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| excerpt(name)).collect();
    let more = match names.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    (!shown.is_empty()).then(|| shown.join(", ") + &more)
}
