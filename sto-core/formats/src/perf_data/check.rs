//! Checks the structure of a perf.data file before it is parsed.
//!
//! linux-perf-data trusts sizes and counts in the headers when it allocates memory and divides, so
//! truncated and damaged files must be rejected before. Layouts:
//! `tools/perf/Documentation/perf.data-file-format.txt` in the kernel sources.

use super::salvage;
use super::salvage::{AUXTRACE, HEADER_TRACING_DATA};
use crate::error::{FormatError, Salvage};
use crate::source::Head;
use crate::wire::text::excerpt;
use linux_perf_data::linux_perf_event_reader::RecordType;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;
use sto_model::files::{ByteWindow, ReadAt, SharedBytes};

/// The layout of the records in a perf.data file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A header with sections: `perf record -o FILE`.
    File,
    /// A stream of records: `perf record -o -`.
    Pipe,
}

/// `PERF_MAGIC2` of `tools/perf/util/header.c` in both byte orders. Files in pipe mode begin with
/// it too.
const MAGIC: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];

const FILE_HEADER_SIZE: u64 = 104;
const PIPE_HEADER_SIZE: u64 = 16;
/// Size of a `struct perf_event_header`: type, misc, size.
pub(super) const HEADER_SIZE: u64 = 8;
const SECTION_SIZE: u64 = 16;
const FEATURE_BITS: usize = 256;
/// `PERF_ATTR_SIZE_VER0`: the smallest `perf_event_attr`.
const MIN_ATTR_SIZE: u64 = 64;

const FEATURE_EVENT_DESC: usize = 12;
const FEATURE_DIR_FORMAT: usize = 24;
const HEADER_ATTR: RecordType = RecordType(64);
const HEADER_FEATURE: RecordType = RecordType(80);

/// Returns `true` if a profile begins like perf.data.
pub(crate) fn matches(head: &Head<'_>) -> bool {
    MAGIC.iter().any(|magic| head.bytes.starts_with(magic))
}

/// Checks that every part that the headers declare lies inside the file. Returns the mode and the
/// byte range of the records, which [`Walk`](super::walk::Walk) checks.
pub(super) fn check(path: &Path, file: &dyn ReadAt) -> Result<(Mode, Range<u64>), FormatError> {
    let mut start = [0; 64];
    let start = &mut start[..file.size().min(64) as usize];
    file.read_exact_at(start, 0)
        .map_err(FormatError::io(path))?;
    let mut file = CheckedReader::new(path, file, ByteWindow::new(file));
    if start.starts_with(MAGIC[1]) {
        return Err(file.unsupported(
            "recorded on a big-endian machine; sto reads recordings of little-endian ones. Run `perf script` \
             on the recording machine and ingest its text",
        ));
    }
    if !start.starts_with(MAGIC[0]) {
        let problem = format!("expected `PERFILE2`, found {}", excerpt(start));
        return Err(file.malformed("byte 0", problem));
    }
    match file.u64(8, "the header")? {
        PIPE_HEADER_SIZE => {
            file.check_descriptions()?;
            Ok((Mode::Pipe, PIPE_HEADER_SIZE..file.len()))
        }
        _ => Ok((Mode::File, file.check_file()?)),
    }
}

/// The header of a record.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub(super) kind: RecordType,
    pub(super) misc: u16,
    /// Size of the record, including this header.
    pub(super) size: u16,
}

impl Header {
    pub(super) fn parse(bytes: [u8; HEADER_SIZE as usize]) -> Header {
        let header = u64::from_le_bytes(bytes);
        Header {
            kind: RecordType(header as u32),
            misc: (header >> 32) as u16,
            size: (header >> 48) as u16,
        }
    }
}

/// A file whose reads are bounds-checked.
pub(super) struct CheckedReader<'a> {
    path: &'a Path,
    source: &'a dyn ReadAt,
    window: ByteWindow<'a>,
}

impl<'a> CheckedReader<'a> {
    /// Makes a checked file that reads `source` through `window`.
    pub(super) fn new(path: &'a Path, source: &'a dyn ReadAt, window: ByteWindow<'a>) -> Self {
        CheckedReader {
            path,
            source,
            window,
        }
    }
}

impl CheckedReader<'_> {
    fn check_file(&mut self) -> Result<Range<u64>, FormatError> {
        self.section_inside("the header", 0, FILE_HEADER_SIZE)?;
        let attr_size = self.u64(16, "the header")?;
        if !(MIN_ATTR_SIZE..=65_536).contains(&attr_size) {
            let problem = format!(
                "events are described in {attr_size} bytes each, expected at least \
                 {MIN_ATTR_SIZE}; the file is damaged"
            );
            return Err(self.malformed("the header", problem));
        }
        let mut section = |at| Ok((self.u64(at, "the header")?, self.u64(at + 8, "the header")?));
        let (attrs, attrs_size) = section(24)?;
        let (data, data_size) = section(40)?;
        let (types, types_size) = section(56)?;
        self.section_inside("the list of events", attrs, attrs_size)?;
        self.section_inside("the list of event types", types, types_size)?;
        let mut features = [0; FEATURE_BITS / 64];
        for (word, at) in features.iter_mut().zip((72..).step_by(8)) {
            *word = self.u64(at, "the header")?;
        }
        let is_set = |bit: usize| features[bit / 64] >> (bit % 64) & 1 == 1;
        if is_set(FEATURE_DIR_FORMAT) {
            return Err(self.unsupported(
                "a part of a recording in several files (`perf record --threads`); sto reads \
                 recordings in one. Record without --threads, or run `perf script -i` on the folder \
                 and ingest its text",
            ));
        }
        if data_size == 0 {
            let problem = "the data section is empty: perf writes its size when it ends, so perf \
                           was killed before; record again and stop perf with Ctrl-C, or read the part before the cut";
            return Err(FormatError::Malformed {
                path: self.path.into(),
                at: "the header".to_owned(),
                problem: problem.to_owned(),
                may_be_cut: true,
            });
        }
        let data_end = self.section_inside("the data section", data, data_size)?;

        // The sections follow the data, one per feature bit, in the order of the bits.
        let mut at = data_end;
        for bit in (0..FEATURE_BITS).filter(|&bit| is_set(bit)) {
            let part = format_args!("the index entry of feature section {bit}");
            self.section_inside(part, at, SECTION_SIZE)?;
            let (start, size) = (self.u64(at, part)?, self.u64(at + 8, part)?);
            let part = format_args!("feature section {bit}");
            let end = self.section_inside(part, start, size)?;
            if bit == FEATURE_EVENT_DESC {
                self.check_event_desc(start, end)?;
            }
            at += SECTION_SIZE;
        }
        self.check_event_ids(attrs, attrs_size, attr_size)?;
        Ok(data..data_end)
    }

    /// Checks the list of ids, whose offset and size follow each `perf_event_attr`.
    fn check_event_ids(
        &mut self,
        attrs: u64,
        size: u64,
        attr_size: u64,
    ) -> Result<(), FormatError> {
        let mut at = attrs;
        while at + attr_size <= attrs + size && attr_size > SECTION_SIZE {
            let entry = at + attr_size - SECTION_SIZE;
            let part = "an event's list of ids";
            let (start, size) = (self.u64(entry, part)?, self.u64(entry + 8, part)?);
            self.section_inside(part, start, size)?;
            at += attr_size;
        }
        Ok(())
    }

    /// Checks the records at the beginning of a stream that describe it.
    fn check_descriptions(&mut self) -> Result<(), FormatError> {
        let mut at = PIPE_HEADER_SIZE;
        while at < self.len() {
            let Header { kind, size, .. } = self.record(at)?;
            let end = at + u64::from(size);
            match kind {
                HEADER_ATTR => {}
                HEADER_FEATURE => {
                    let part = format_args!("the record at byte {at}");
                    // linux-perf-data looks only at the lower half of the number.
                    if self.u32(at + HEADER_SIZE, part)? == FEATURE_EVENT_DESC as u32 {
                        self.check_event_desc(at + 16, end)?;
                    }
                }
                _ => break,
            }
            at = end;
        }
        Ok(())
    }

    /// The header of the record at an offset. Returns an error if the record ends outside the file.
    pub(super) fn record(&mut self, at: u64) -> Result<Header, FormatError> {
        let part = format_args!("the record at byte {at}");
        let header = Header::parse(self.array(at, part)?);
        let size = u64::from(header.size);
        if size < HEADER_SIZE {
            let problem =
                format!("its size is {size} bytes, less than its own header; the file is damaged");
            return Err(self.malformed(part, problem));
        }
        self.section_inside(part, at, size)?;
        Ok(header)
    }

    /// The end of a record, including the bytes after it that its header does not count.
    pub(super) fn record_end(&mut self, at: u64, header: Header) -> Result<u64, FormatError> {
        let end = at + u64::from(header.size);
        let part = format_args!("the record at byte {at}");
        let more = match header.kind {
            AUXTRACE => self.u64(at + HEADER_SIZE, part)?,
            HEADER_TRACING_DATA => self.u32(at + HEADER_SIZE, part)?.into(),
            _ => return Ok(end),
        };
        self.section_inside(part, end, more)
    }

    /// The compressed bytes of a record. Since Linux 6.16 their number precedes them and padding
    /// follows.
    pub(super) fn compressed(
        &mut self,
        is_padded: bool,
        at: u64,
        end: u64,
    ) -> Result<&[u8], FormatError> {
        let part = format_args!("the record at byte {at}");
        let mut bytes = at + HEADER_SIZE..end;
        if is_padded {
            bytes.start += 8;
            bytes.end = bytes
                .start
                .saturating_add(self.u64(at + HEADER_SIZE, part)?);
        }
        if bytes.end > end {
            let problem = "its compressed bytes end after it; the file is damaged";
            return Err(self.malformed(part, problem.into()));
        }
        self.slice(bytes.start, bytes.end)
    }

    /// Checks that the counts in `HEADER_EVENT_DESC`, for which memory is allocated, fit the
    /// section.
    fn check_event_desc(&mut self, start: u64, end: u64) -> Result<(), FormatError> {
        let part = "the event descriptions";
        let path = self.path;
        let short = |wanted: u64| {
            let problem = format!(
                "they need {wanted} bytes, the section has {}; the file is damaged",
                end.saturating_sub(start)
            );
            FormatError::malformed(path, part, problem)
        };
        let count = u64::from(self.u32(start, part)?);
        let attr_size = u64::from(self.u32(start + 4, part)?);
        let mut at = start + 8;
        for _ in 0..count {
            let ids_at = at
                .checked_add(attr_size)
                .filter(|&at| at + 8 <= end)
                .ok_or_else(|| short(count * attr_size))?;
            let ids = u64::from(self.u32(ids_at, part)?);
            let name = u64::from(self.u32(ids_at + 4, part)?);
            at = ids_at + 8 + name + ids * 8;
            if at > end || attr_size < MIN_ATTR_SIZE {
                return Err(short(at - start));
            }
        }
        Ok(())
    }

    fn len(&self) -> u64 {
        self.source.size()
    }

    /// The end of a section. Returns an error if it lies outside the file.
    pub(super) fn section_inside(
        &self,
        part: impl Display + Copy,
        start: u64,
        size: u64,
    ) -> Result<u64, FormatError> {
        let end = start.saturating_add(size);
        if end <= self.len() {
            return Ok(end);
        }
        let salvage = if salvage::is_possible(self.source) {
            Salvage::Possible
        } else {
            Salvage::Impossible
        };
        let ends = (end, self.len());
        Err(FormatError::ends_early(self.path, part, ends, salvage))
    }

    pub(super) fn u64(&mut self, at: u64, part: impl Display + Copy) -> Result<u64, FormatError> {
        self.array(at, part).map(u64::from_le_bytes)
    }

    fn u32(&mut self, at: u64, part: impl Display + Copy) -> Result<u32, FormatError> {
        self.array(at, part).map(u32::from_le_bytes)
    }

    fn array<const N: usize>(
        &mut self,
        at: u64,
        part: impl Display + Copy,
    ) -> Result<[u8; N], FormatError> {
        let end = self.section_inside(part, at, N as u64)?;
        let mut array = [0; N];
        array.copy_from_slice(self.slice(at, end)?);
        Ok(array)
    }

    /// Bytes that are known to lie inside the file.
    fn slice(&mut self, start: u64, end: u64) -> Result<&[u8], FormatError> {
        let bytes = self.window.slice(start, (end - start) as usize);
        bytes.map_err(FormatError::io(self.path))
    }

    /// Like `slice`, but the bytes stay available.
    pub(super) fn part(&mut self, start: u64, end: u64) -> Result<SharedBytes, FormatError> {
        let bytes = self.window.shared_slice(start, (end - start) as usize);
        bytes.map_err(FormatError::io(self.path))
    }

    pub(super) fn malformed(&self, part: impl Display, problem: String) -> FormatError {
        FormatError::malformed(self.path, part, problem)
    }

    fn unsupported(&self, problem: &str) -> FormatError {
        FormatError::Unsupported {
            path: self.path.into(),
            problem: problem.into(),
        }
    }
}
