//! What can be read of a perf.data file that was cut off: its whole records.
//!
//! perf writes the size of its records when it ends, and behind them what describes the recording. Of
//! a file that ends early the descriptions are lost; the header is made to announce none.

use std::borrow::Cow;
use std::ops::Range;

const HEADER_SIZE: usize = 104;
const PIPE_HEADER_SIZE: usize = 16;
/// Where the header has the place and the size of the data section, and the bits of the
/// descriptions behind it.
const DATA_OFFSET: usize = 40;
const DATA_SIZE: usize = 48;
const FEATURES: usize = 72;
const RECORD_AUXTRACE: u32 = 71;

/// Whether [`salvage`] finds a record.
pub(super) fn is_possible(bytes: &[u8]) -> bool {
    whole_records(bytes).is_some()
}

/// The file as it would be if perf had ended after the last record that is there to its end, and how
/// many bytes behind it are left out. `None` where there is no such record.
pub(super) fn salvage(bytes: &[u8]) -> Option<(Cow<'_, [u8]>, usize)> {
    let Range { start, end } = whole_records(bytes)?;
    let left_out = bytes.len() - end;
    if start == PIPE_HEADER_SIZE {
        return Some((Cow::Borrowed(&bytes[..end]), left_out));
    }
    let mut file = bytes[..end].to_vec();
    file[DATA_SIZE..DATA_SIZE + 8].copy_from_slice(&((end - start) as u64).to_le_bytes());
    file[FEATURES..HEADER_SIZE].fill(0);
    Some((Cow::Owned(file), left_out))
}

/// Where the records are that are there as a whole; `None` where none are.
fn whole_records(bytes: &[u8]) -> Option<Range<usize>> {
    let is_pipe = word(bytes, 8)? == PIPE_HEADER_SIZE as u64;
    let (start, announced) = match is_pipe {
        true => (PIPE_HEADER_SIZE, 0),
        false => (
            usize::try_from(word(bytes, DATA_OFFSET)?).ok()?,
            usize::try_from(word(bytes, DATA_SIZE)?).ok()?,
        ),
    };
    let end = match announced {
        0 => bytes.len(),
        size => start.checked_add(size)?.min(bytes.len()),
    };
    let kept = end_of_records(bytes.get(..end)?, start);
    (kept > start && (is_pipe || start >= HEADER_SIZE)).then_some(start..kept)
}

/// The end of the last record that is there as a whole.
fn end_of_records(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    while let Some(header) = word(bytes, at) {
        let mut size = (header >> 48) as usize;
        if header as u32 == RECORD_AUXTRACE {
            // Followed by bytes that its header does not count.
            let more = word(bytes, at + 8).and_then(|more| usize::try_from(more).ok());
            size = size.saturating_add(more.unwrap_or(usize::MAX));
        }
        match at.checked_add(size) {
            Some(end) if end <= bytes.len() && size >= 8 => at = end,
            _ => break,
        }
    }
    at
}

pub(super) fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let word = bytes.get(at..)?.first_chunk()?;
    Some(u64::from_le_bytes(*word))
}
