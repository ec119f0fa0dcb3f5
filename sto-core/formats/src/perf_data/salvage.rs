//! Reading a truncated perf.data file up to its last complete record.
//!
//! perf writes the size of the data section, and the feature sections after it, when it ends. A
//! truncated file lacks them, so the header is changed to declare no features.

use linux_perf_data::linux_perf_event_reader::RecordType;
use std::io;
use sto_model::files::{ByteWindow, ReadAt};

/// Descriptions of tracepoints; four bytes in the record hold their length.
pub(super) const HEADER_TRACING_DATA: RecordType = RecordType(66);
/// A trace of the processor; eight bytes in the record hold its length.
pub(super) const AUXTRACE: RecordType = RecordType(71);

const HEADER_SIZE: usize = 104;
const PIPE_HEADER_SIZE: u64 = 16;
/// Offsets in the header of the data section's offset and size, and of the feature bits.
const DATA_OFFSET: u64 = 40;
const DATA_SIZE: usize = 48;
const FEATURES: usize = 72;

/// Returns `true` if [`salvage`] finds a complete record.
pub(super) fn is_possible(file: &dyn ReadAt) -> bool {
    whole_records(file).is_some_and(|mut records| records.next().is_some())
}

/// A truncated file, presented as if perf had ended after the last complete record.
pub(super) struct Salvaged<'a> {
    file: &'a dyn ReadAt,
    /// The replaced beginning of the file.
    header: Vec<u8>,
    size: u64,
}

impl ReadAt for Salvaged<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let start = self.header.len().min(offset as usize);
        let header = &self.header[start..self.header.len().min(start + buffer.len())];
        let (begin, rest) = buffer.split_at_mut(header.len());
        begin.copy_from_slice(header);
        self.file.read_exact_at(rest, offset + header.len() as u64)
    }
}

/// The salvaged file; `None` if no record is complete.
pub(super) fn salvage(file: &dyn ReadAt) -> Option<Salvaged<'_>> {
    let records = whole_records(file)?;
    let start = records.end;
    let end = records.last()?;
    let mut header = Vec::new();
    if start != PIPE_HEADER_SIZE {
        header.resize(HEADER_SIZE, 0);
        file.read_exact_at(&mut header[..FEATURES], 0).ok()?;
        header[DATA_SIZE..DATA_SIZE + 8].copy_from_slice(&(end - start).to_le_bytes());
    }
    Some(Salvaged {
        file,
        header,
        size: end,
    })
}

/// The ends of the complete records from the first on.
fn whole_records(file: &dyn ReadAt) -> Option<WholeRecords<'_>> {
    let mut window = ByteWindow::new(file);
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
    window: ByteWindow<'a>,
    /// The end of the previous record.
    end: u64,
    /// The last possible end of a record.
    most: u64,
}

impl Iterator for WholeRecords<'_> {
    /// The end of a record.
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let header = self.window.u64_at(self.end).ok()?;
        let mut size = header >> 48;
        // The header does not count the bytes that follow these records.
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
