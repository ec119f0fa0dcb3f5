//! Chunk headers.
//!
//! Source: `jfrChunk.cpp` and `jfrChunkWriter.cpp` of HotSpot.

use super::cursor::{Event, JfrCursor};
use crate::error::{DecodeError, Decoded, Salvage};
use sto_model::bytes::Cursor;
use sto_model::units::Nanoseconds;

/// The first bytes of each chunk.
pub(super) const MAGIC: [u8; 4] = *b"FLR\0";

/// Length of a chunk's header. Events follow.
const HEADER: usize = 68;

/// A chunk: events with the types and constants they refer to. A file is one or more chunks.
pub(super) struct Chunk<'b> {
    /// The file up to the chunk's end.
    pub(super) bytes: &'b [u8],
    /// Offset in the file of the first event.
    pub(super) events: usize,
    /// Offset in the file of the event with the types.
    pub(super) metadata: usize,
    /// Offset in the file of the last event with constants.
    pub(super) constants: usize,
    pub(super) clock: Clock,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    /// Begin of the chunk, in nanoseconds since 1970.
    start: u64,
    start_ticks: i64,
    ticks_per_second: u64,
}

impl<'b> Chunk<'b> {
    /// Reads the header of the chunk at an offset in the file.
    pub(super) fn parse(file: &'b [u8], at: usize) -> Decoded<Chunk<'b>> {
        let malformed = |offset: usize, problem: String| DecodeError::new(at + offset, problem);
        let truncated = |expected: u64| {
            let cut = format!(
                "the chunk at byte {at} ends at byte {expected}, but the file ends at byte {}",
                file.len()
            );
            // Types and constants come at the end, so nothing of a truncated chunk can be read.
            let salvage = match at {
                0 => Salvage::Impossible,
                _ => Salvage::Possible,
            };
            DecodeError::cut_off(cut, salvage)
        };
        let rest = &file[at..];
        if !rest.starts_with(&MAGIC[..rest.len().min(MAGIC.len())]) {
            let problem = "expected a chunk, which begins with `FLR\\0`, found something else; was the file damaged, or concatenated with other files?";
            return Err(malformed(0, problem.to_owned()));
        }
        let Some(header) = rest.first_chunk::<HEADER>() else {
            return Err(truncated((at + HEADER) as u64));
        };
        let number = |offset: usize| {
            let bytes = header[offset..offset + 8].iter();
            bytes.fold(0, |number, &byte| number << 8 | u64::from(byte))
        };
        let (major, minor) = (header[5], header[7]);
        if (header[4], major) != (0, 2) {
            return Err(DecodeError::unsupported(format!(
                "the chunk at byte {at} is of version {major}.{minor}; expected version 2, which OpenJDK writes since JDK 11 and 8u262. Record with a newer JDK"
            )));
        }
        // Older JDKs write a four-byte number here, which is equivalent.
        if header[67] & 1 == 0 {
            return Err(DecodeError::unsupported(format!(
                "the numbers of the chunk at byte {at} are not compressed; record with a JDK of version 11 or later, or with async-profiler"
            )));
        }
        let size = number(8);
        if size < HEADER as u64 {
            let problem = format!("a chunk of {size} bytes; expected {HEADER} or more");
            return Err(malformed(8, problem));
        }
        let whole = usize::try_from(size).ok();
        let Some(bytes) = whole.and_then(|size| file.get(..at.checked_add(size)?)) else {
            return Err(truncated((at as u64).saturating_add(size)));
        };
        let event = |field: usize, what: &str| {
            let offset = number(field);
            if (HEADER as u64..size).contains(&offset) {
                return Ok(at + offset as usize);
            }
            let problem = match offset {
                0 => format!(
                    "a chunk that has no {what} yet; was the recording process killed? Record again"
                ),
                _ => format!(
                    "the {what} at byte {offset} of a chunk of {size} bytes; expected {HEADER} or more, and less than its size"
                ),
            };
            Err(malformed(field, problem))
        };
        let clock = Clock {
            start: number(32),
            start_ticks: number(48) as i64,
            ticks_per_second: number(56),
        };
        if !(1..=i64::MAX as u64).contains(&clock.ticks_per_second) {
            let problem = format!(
                "{} ticks a second; expected 1 or more",
                clock.ticks_per_second as i64
            );
            return Err(malformed(56, problem));
        }
        Ok(Chunk {
            bytes,
            events: at + HEADER,
            metadata: event(24, "types")?,
            constants: event(16, "constants")?,
            clock,
        })
    }

    /// All events, in the file's order.
    pub(super) fn events(&self) -> impl Iterator<Item = Decoded<Event<'b>>> {
        let mut cursor = Cursor::at_position(self.bytes, self.events);
        std::iter::from_fn(move || {
            if cursor.is_empty() {
                return None;
            }
            let event = cursor.event();
            if event.is_err() {
                cursor = Cursor::new(&[]);
            }
            Some(event)
        })
    }
}

impl Clock {
    /// Begin of the chunk, in nanoseconds since 1970.
    pub(super) fn start(&self) -> Nanoseconds {
        Nanoseconds(self.start)
    }

    /// Converts ticks to nanoseconds since 1970; `None` if they exceed 64 bits.
    pub(super) fn time(&self, ticks: i64) -> Option<Nanoseconds> {
        let since = i128::from(ticks) - i128::from(self.start_ticks);
        let time = i128::from(self.start) + self.nanoseconds(since);
        u64::try_from(time).ok().map(Nanoseconds)
    }

    /// Converts a number of ticks to a duration; `None` if it exceeds 64 bits.
    pub(super) fn span(&self, ticks: u64) -> Option<Nanoseconds> {
        let span = self.nanoseconds(i128::from(ticks));
        u64::try_from(span).ok().map(Nanoseconds)
    }

    fn nanoseconds(&self, ticks: i128) -> i128 {
        ticks * 1_000_000_000 / i128::from(self.ticks_per_second)
    }
}
