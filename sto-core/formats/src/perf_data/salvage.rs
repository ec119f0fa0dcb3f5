//! What can be read of a perf.data file that was cut off: its whole records.
//!
//! perf writes the size of its records when it ends, and after them what describes the recording. Of
//! a file that ends early the descriptions are lost; the header is made to announce none.

use linux_perf_data::linux_perf_event_reader::RecordType;
use std::io;
use sto_model::files::{ReadAt, Window};

/// Descriptions of tracepoints; their length is a number of 4 bytes.
pub(super) const HEADER_TRACING_DATA: RecordType = RecordType(66);
/// The processor's trace; its length is a number of 8 bytes.
pub(super) const AUXTRACE: RecordType = RecordType(71);

const HEADER_SIZE: usize = 104;
const PIPE_HEADER_SIZE: u64 = 16;
/// Where the header has the offset and the size of the data section, and the bits of the
/// descriptions after it.
const DATA_OFFSET: u64 = 40;
const DATA_SIZE: usize = 48;
const FEATURES: usize = 72;

/// Whether [`salvage`] finds a record.
pub(super) fn is_possible(file: &dyn ReadAt) -> bool {
    whole_records(file).is_some_and(|mut records| records.next().is_some())
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
    let records = whole_records(file)?;
    let start = records.end;
    let end = records.last()?;
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

/// The records that are there as a whole, from the first on.
fn whole_records(file: &dyn ReadAt) -> Option<WholeRecords<'_>> {
    let mut window = Window::new(file);
    let mut word = |at| window.u64_at(at).ok();
    let is_pipe = word(8)? == PIPE_HEADER_SIZE;
    let (start, announced) = if is_pipe {
        (PIPE_HEADER_SIZE, 0)
    } else {
        (word(DATA_OFFSET)?, word(DATA_SIZE as u64)?)
    };
    let most = match announced {
        0 => file.size(),
        size => start.checked_add(size)?.min(file.size()),
    };
    let end = start;
    (is_pipe || start >= HEADER_SIZE as u64).then_some(WholeRecords { window, end, most })
}

struct WholeRecords<'a> {
    window: Window<'a>,
    /// The end of the record before.
    end: u64,
    /// Where the last one ends at most.
    most: u64,
}

impl Iterator for WholeRecords<'_> {
    /// Where a record ends.
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let header = self.window.u64_at(self.end).ok()?;
        let mut size = header >> 48;
        // Bytes follow that the header does not count.
        let more = match RecordType(header as u32) {
            AUXTRACE => u64::MAX,
            HEADER_TRACING_DATA => u32::MAX.into(),
            _ => 0,
        };
        if more != 0 {
            let counted = self.window.u64_at(self.end + 8).unwrap_or(more);
            size = size.saturating_add(counted & more);
        }
        let end = self.end.checked_add(size)?;
        (end <= self.most && size >= 8).then(|| {
            self.end = end;
            end
        })
    }
}
