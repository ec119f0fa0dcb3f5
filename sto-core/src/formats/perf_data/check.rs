//! The shape of a perf.data file, checked before a byte of it is believed.
//!
//! linux-perf-data trusts the sizes and counts in the headers when it reserves memory and divides;
//! a file that was cut short or damaged must not get that far. Layouts:
//! `tools/perf/Documentation/perf.data-file-format.txt` of the kernel's sources.

use super::digested::PIECE;
use super::expansion::Expansion;
use super::salvage;
use crate::files::{ReadAt, Window};
use crate::formats::source::Head;
use crate::formats::{FormatError, Salvage, excerpt};
use std::fmt::Display;
use std::path::Path;

/// How the records of a perf.data file are laid out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A header with sections: `perf record -o FILE`.
    File,
    /// A stream of records: `perf record -o -`.
    Pipe,
}

/// `PERF_MAGIC2` of `tools/perf/util/header.c`, as machines of either byte order write it. Files
/// in pipe mode begin with it too.
const MAGIC: [&[u8]; 2] = [b"PERFILE2", b"2ELIFREP"];

const HEADER_SIZE: u64 = 104;
const PIPE_HEADER_SIZE: u64 = 16;
const RECORD_HEADER_SIZE: u64 = 8;
const SECTION_SIZE: u64 = 16;
const FEATURE_BITS: usize = 256;
/// `PERF_ATTR_SIZE_VER0`: the smallest `perf_event_attr`.
const MIN_ATTR_SIZE: u64 = 64;

const FEATURE_EVENT_DESC: usize = 12;
const FEATURE_DIR_FORMAT: usize = 24;
const RECORD_FINISHED_ROUND: u32 = 68;
const RECORD_AUXTRACE: u32 = 71;
const RECORD_HEADER_FEATURE: u32 = 80;
const RECORD_COMPRESSED: u32 = 81;
const RECORD_COMPRESSED2: u32 = 83;

/// Whether a profile begins as perf.data does.
pub(in crate::formats) fn matches(head: &Head<'_>) -> bool {
    MAGIC.iter().any(|magic| head.bytes.starts_with(magic))
}

/// Checks that every part that the headers announce lies inside the file.
pub(super) fn check(path: &Path, file: &dyn ReadAt) -> Result<Mode, FormatError> {
    let mut start = [0; 64];
    let start = &mut start[..file.size().min(64) as usize];
    file.fill_at(start, 0).map_err(FormatError::io(path))?;
    let mut file = Checked {
        path,
        source: file,
        window: Window::new(file),
    };
    if start.starts_with(MAGIC[1]) {
        return Err(file.unsupported(
            "recorded on a big-endian machine; sto reads recordings of x86_64. Run `perf script` \
             on the recording machine and ingest its text",
        ));
    }
    if !start.starts_with(MAGIC[0]) {
        let problem = format!("expected `PERFILE2`, found {}", excerpt(start));
        return Err(file.malformed("byte 0", problem));
    }
    match file.u64(8, "the header")? {
        PIPE_HEADER_SIZE => {
            file.check_records(PIPE_HEADER_SIZE, file.len())?;
            Ok(Mode::Pipe)
        }
        _ => file.check_file().map(|()| Mode::File),
    }
}

struct Checked<'a> {
    path: &'a Path,
    source: &'a dyn ReadAt,
    window: Window<'a>,
}

impl Checked<'_> {
    fn check_file(&mut self) -> Result<(), FormatError> {
        self.section_inside("the header", 0, HEADER_SIZE)?;
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
                           was killed before; record again and stop perf with Ctrl-C, or take what there is: \
                           --allow-truncated";
            return Err(self.malformed("the header", problem.into()));
        }
        let data_end = self.section_inside("the data section", data, data_size)?;
        self.check_records(data, data_end)?;

        // One section a feature bit, in the order of the bits, right behind the data.
        let mut at = data_end;
        for bit in (0..FEATURE_BITS).filter(|&bit| is_set(bit)) {
            let place = format_args!("the index entry of feature section {bit}");
            self.section_inside(place, at, SECTION_SIZE)?;
            let (start, size) = (self.u64(at, place)?, self.u64(at + 8, place)?);
            let place = format_args!("feature section {bit}");
            let end = self.section_inside(place, start, size)?;
            if bit == FEATURE_EVENT_DESC {
                self.check_event_desc(start, end)?;
            }
            at += SECTION_SIZE;
        }
        self.check_event_ids(attrs, attrs_size, attr_size)
    }

    /// Each `perf_event_attr` is followed by the place of its list of ids.
    fn check_event_ids(
        &mut self,
        attrs: u64,
        size: u64,
        attr_size: u64,
    ) -> Result<(), FormatError> {
        self.window = Window::new(self.source);
        let mut at = attrs;
        while at + attr_size <= attrs + size && attr_size > SECTION_SIZE {
            let entry = at + attr_size - SECTION_SIZE;
            let place = "an event's list of ids";
            let (start, size) = (self.u64(entry, place)?, self.u64(entry + 8, place)?);
            self.section_inside(place, start, size)?;
            at += attr_size;
        }
        Ok(())
    }

    /// Walks from record to record.
    fn check_records(&mut self, start: u64, end: u64) -> Result<(), FormatError> {
        self.window = Window::of_pieces(self.source, PIECE);
        let mut expansion = Expansion::new();
        let mut at = start;
        while at < end {
            let place = format_args!("the record at byte {at}");
            let kind = self.u32(at, place)?;
            let mut size = u64::from(self.u32(at + 4, place)? >> 16);
            if size < RECORD_HEADER_SIZE {
                let problem = format!(
                    "its size is {size} bytes, less than its own header; the file is damaged"
                );
                return Err(self.malformed(place, problem));
            }
            self.section_inside(place, at, size)?;
            match kind {
                // linux-perf-data looks at the lower half of the number alone.
                RECORD_HEADER_FEATURE if self.u32(at + 8, place)? == FEATURE_EVENT_DESC as u32 => {
                    self.check_event_desc(at + 16, at + size)?;
                }
                RECORD_FINISHED_ROUND => expansion.finish_round(),
                RECORD_COMPRESSED | RECORD_COMPRESSED2 => {
                    let compressed = self.compressed(kind, at, size, place)?;
                    let expanded = expansion.expand(compressed);
                    expanded
                        .map_err(|problem| FormatError::malformed(self.path, place, problem))?;
                }
                // Followed by bytes that its header does not count.
                RECORD_AUXTRACE => size = size.saturating_add(self.u64(at + 8, place)?),
                _ => {}
            }
            at = self.section_inside(place, at, size)?;
        }
        Ok(())
    }

    /// The compressed bytes of a record. Since Linux 6.16 their number stands before them, and
    /// padding behind them.
    fn compressed(
        &mut self,
        kind: u32,
        at: u64,
        size: u64,
        place: impl Display + Copy,
    ) -> Result<&[u8], FormatError> {
        let (start, end) = match kind {
            RECORD_COMPRESSED2 => {
                let start = at + RECORD_HEADER_SIZE + 8;
                let end = start.saturating_add(self.u64(at + RECORD_HEADER_SIZE, place)?);
                (start, end)
            }
            _ => (at + RECORD_HEADER_SIZE, at + size),
        };
        if end > at + size {
            let problem = "its compressed bytes end behind it; the file is damaged";
            return Err(self.malformed(place, problem.into()));
        }
        let compressed = self.window.slice(start, (end - start) as usize);
        compressed.map_err(FormatError::io(self.path))
    }

    /// `HEADER_EVENT_DESC`: counts that memory is reserved for must fit the section.
    fn check_event_desc(&mut self, start: u64, end: u64) -> Result<(), FormatError> {
        let place = "the event descriptions";
        let path = self.path;
        let short = |wanted: u64| {
            let problem = format!(
                "they need {wanted} bytes, the section has {}; the file is damaged",
                end.saturating_sub(start)
            );
            FormatError::malformed(path, place, problem)
        };
        let count = u64::from(self.u32(start, place)?);
        let attr_size = u64::from(self.u32(start + 4, place)?);
        let mut at = start + 8;
        for _ in 0..count {
            let ids_at = at
                .checked_add(attr_size)
                .filter(|&at| at + 8 <= end)
                .ok_or_else(|| short(count * attr_size))?;
            let ids = u64::from(self.u32(ids_at, place)?);
            let name = u64::from(self.u32(ids_at + 4, place)?);
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

    /// The end of a section, if it lies inside the file.
    fn section_inside(
        &self,
        place: impl Display + Copy,
        start: u64,
        size: u64,
    ) -> Result<u64, FormatError> {
        let end = start.saturating_add(size);
        if end <= self.len() {
            return Ok(end);
        }
        let salvage = match salvage::is_possible(self.source) {
            true => Salvage::Possible,
            false => Salvage::Impossible,
        };
        let ends = (end, self.len());
        Err(FormatError::ends_early(self.path, place, ends, salvage))
    }

    fn u64(&mut self, at: u64, place: impl Display + Copy) -> Result<u64, FormatError> {
        self.array(at, place).map(u64::from_le_bytes)
    }

    fn u32(&mut self, at: u64, place: impl Display + Copy) -> Result<u32, FormatError> {
        self.array(at, place).map(u32::from_le_bytes)
    }

    fn array<const N: usize>(
        &mut self,
        at: u64,
        place: impl Display + Copy,
    ) -> Result<[u8; N], FormatError> {
        self.section_inside(place, at, N as u64)?;
        let bytes = self.window.slice(at, N);
        let mut array = [0; N];
        array.copy_from_slice(bytes.map_err(FormatError::io(self.path))?);
        Ok(array)
    }

    fn malformed(&self, place: impl Display, problem: String) -> FormatError {
        FormatError::malformed(self.path, place, problem)
    }

    fn unsupported(&self, problem: &str) -> FormatError {
        FormatError::Unsupported {
            path: self.path.into(),
            problem: problem.into(),
        }
    }
}
