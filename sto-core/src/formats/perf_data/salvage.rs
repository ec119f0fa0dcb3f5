//! What can be read of a perf.data file that was cut off: its whole records.
//!
//! perf writes the size of its records when it ends, and behind them what describes the recording. Of
//! a file that ends early the descriptions are lost; the header is made to announce none.

use crate::files::{ReadAt, Window};
use std::io;
use std::ops::Range;

const HEADER_SIZE: usize = 104;
const PIPE_HEADER_SIZE: u64 = 16;
/// Where the header has the place and the size of the data section, and the bits of the
/// descriptions behind it.
const DATA_OFFSET: u64 = 40;
const DATA_SIZE: usize = 48;
const FEATURES: usize = 72;
const RECORD_AUXTRACE: u32 = 71;

/// Whether [`salvage`] finds a record.
pub(super) fn is_possible(file: &dyn ReadAt) -> bool {
    whole_records(file).is_some()
}

/// A file as it would be if perf had ended after the last record that is there to its end.
pub(super) struct Salvaged<'a> {
    file: &'a dyn ReadAt,
    /// What the file begins with instead.
    header: Vec<u8>,
    size: u64,
}

impl ReadAt for Salvaged<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn fill_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = self.header.len().min(offset as usize);
        let header = &self.header[start..self.header.len().min(start + buffer.len())];
        let (begin, rest) = buffer.split_at_mut(header.len());
        begin.copy_from_slice(header);
        self.file.fill_at(rest, offset + header.len() as u64)
    }
}

/// The salvaged file; `None` where no record is there as a whole.
pub(super) fn salvage(file: &dyn ReadAt) -> Option<Salvaged<'_>> {
    let Range { start, end } = whole_records(file)?;
    let mut header = Vec::new();
    if start != PIPE_HEADER_SIZE {
        header.resize(HEADER_SIZE, 0);
        file.fill_at(&mut header[..FEATURES], 0).ok()?;
        header[DATA_SIZE..DATA_SIZE + 8].copy_from_slice(&(end - start).to_le_bytes());
    }
    Some(Salvaged {
        file,
        header,
        size: end,
    })
}

/// Where the records are that are there as a whole; `None` where none are.
fn whole_records(file: &dyn ReadAt) -> Option<Range<u64>> {
    let mut window = Window::new(file);
    let mut word = |at| window.u64_at(at).ok();
    let is_pipe = word(8)? == PIPE_HEADER_SIZE;
    let (start, announced) = match is_pipe {
        true => (PIPE_HEADER_SIZE, 0),
        false => (word(DATA_OFFSET)?, word(DATA_SIZE as u64)?),
    };
    let end = match announced {
        0 => file.size(),
        size => start.checked_add(size)?.min(file.size()),
    };
    let kept = end_of_records(&mut window, start, end);
    (kept > start && (is_pipe || start >= HEADER_SIZE as u64)).then_some(start..kept)
}

/// The end of the last record that is there as a whole.
fn end_of_records(file: &mut Window<'_>, start: u64, most: u64) -> u64 {
    let mut at = start;
    while let Ok(header) = file.u64_at(at) {
        let mut size = header >> 48;
        if header as u32 == RECORD_AUXTRACE {
            // Followed by bytes that its header does not count.
            let more = file.u64_at(at + 8).unwrap_or(u64::MAX);
            size = size.saturating_add(more);
        }
        match at.checked_add(size) {
            Some(end) if end <= most && size >= 8 => at = end,
            _ => break,
        }
    }
    at
}
