//! Blocks, lines and numbers of text files.

use super::Salvage;
use std::io::{self, Read};

/// How much of a stream is read at once.
pub(super) const BLOCK: usize = 4 << 20;

/// Adds the next bytes of a stream: a block, or as much again as is there, so that looking at all of
/// it after each block stays linear; less only where the stream ends. Returns whether it does.
pub(super) fn read_block(input: &mut impl Read, bytes: &mut Vec<u8>) -> io::Result<bool> {
    let wanted = bytes.len().max(BLOCK);
    let came = input.take(wanted as u64).read_to_end(bytes)?;
    Ok(came < wanted)
}

/// The lines of a text with their numbers from 1, without line ends (`\n` or `\r\n`).
pub(super) fn lines(bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
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

/// What is wrong with a last line that has no line end, where it may be that the line was cut off.
pub(super) fn within_last_line(problem: &str, salvage: Salvage) -> String {
    format!(
        "{problem}; the file ends within this line: if it was cut off there, record or copy it \
         again{salvage}"
    )
}

/// Most digits of a number, zeros in front of it among them.
const MAX_DIGITS: usize = 1024;

/// The number that decimal digits, at least one, write; `None` where there is anything else, or the
/// number leaves 64 bits.
pub(super) fn decimal(digits: &[u8]) -> Option<u64> {
    // Many places may refer to one long text.
    let digits = Some(digits).filter(|digits| digits.len() <= MAX_DIGITS)?;
    let (first, others) = digits.split_first()?;
    let value = |digit: &u8| digit.is_ascii_digit().then(|| u64::from(digit - b'0'));
    others.iter().try_fold(value(first)?, |sum, digit| {
        sum.checked_mul(10)?.checked_add(value(digit)?)
    })
}
