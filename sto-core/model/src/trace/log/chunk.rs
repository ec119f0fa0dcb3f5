//! Calls of a thread in a row, packed.
//!
//! A chunk is a number of bytes, those bytes, and the durations of its calls; all numbers are LEB128. The bytes have
//! for each call how much later it begins than the one before, and its function with how many calls ended since the
//! one before began. A call that had not ended when the chunk was written has a duration of 0 there.

use super::Call;
use crate::trace::paths::FunctionNo;
use crate::units::Nanoseconds;

/// Where a chunk begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// When its first call begins, or an earlier time.
    pub(super) begin: u64,
    /// How deep its first call would be if it was called by the one before.
    pub(super) depth: u32,
}

/// Packs calls as they begin.
#[derive(Debug, Default)]
pub(super) struct ChunkWriter {
    start: Start,
    /// What the next call is compared with.
    last: Start,
    begins: Vec<u8>,
    durations: Vec<u64>,
}

/// How many calls that ended fit beside a function.
const ENDED: u64 = 3;

impl ChunkWriter {
    /// Number of calls.
    pub(super) fn len(&self) -> usize {
        self.durations.len()
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// Adds a call, no deeper than what the one before may call, and not before it.
    #[inline]
    pub(super) fn begin(&mut self, depth: u32, function: FunctionNo, begin: u64) {
        let ended = u64::from(self.last.depth - depth);
        write(&mut self.begins, begin - self.last.begin);
        write(
            &mut self.begins,
            u64::from(function.0) << 2 | ended.min(ENDED),
        );
        if ended >= ENDED {
            write(&mut self.begins, ended - ENDED);
        }
        self.durations.push(0);
        self.last = Start {
            begin,
            depth: depth + 1,
        };
    }

    /// Says how long a call took.
    #[inline]
    pub(super) fn end(&mut self, call: usize, duration: u64) {
        self.durations[call] = duration;
    }

    /// Writes the chunk after what the buffer has, and begins the next one.
    pub(super) fn flush(&mut self, buffer: &mut Vec<u8>) {
        write(buffer, self.begins.len() as u64);
        buffer.extend_from_slice(&self.begins);
        self.durations
            .iter()
            .for_each(|&duration| write(buffer, duration));
        self.begins.clear();
        self.durations.clear();
        self.start = self.last;
    }
}

/// Reads the calls of a chunk back.
#[derive(Debug, Default)]
pub(super) struct ChunkReader {
    bytes: Vec<u8>,
    begins: usize,
    durations: usize,
    left: usize,
    last: Start,
}

impl ChunkReader {
    /// Begins to read a chunk of so many calls, which `fill` puts into the buffer.
    pub(super) fn open<E>(
        &mut self,
        start: Start,
        calls: usize,
        fill: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.left = 0;
        fill(&mut self.bytes)?;
        self.begins = 0;
        let length = read(&self.bytes, &mut self.begins);
        self.durations = self.begins + length as usize;
        self.left = calls;
        self.last = start;
        Ok(())
    }
}

impl Iterator for ChunkReader {
    type Item = Call;

    #[inline]
    fn next(&mut self) -> Option<Call> {
        self.left = self.left.checked_sub(1)?;
        let begin = self.last.begin + read(&self.bytes, &mut self.begins);
        let called = read(&self.bytes, &mut self.begins);
        let mut ended = called & ENDED;
        if ended == ENDED {
            ended += read(&self.bytes, &mut self.begins);
        }
        let depth = self.last.depth - ended as u32;
        let duration = read(&self.bytes, &mut self.durations);
        self.last = Start {
            begin,
            depth: depth + 1,
        };
        Some(Call {
            depth,
            function: FunctionNo((called >> 2) as u32),
            with: None,
            begin: Nanoseconds(begin),
            duration: Nanoseconds(duration),
        })
    }
}

#[inline]
fn write(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

#[inline]
fn read(bytes: &[u8], at: &mut usize) -> u64 {
    let mut number = 0;
    let mut shift = 0;
    loop {
        let byte = bytes[*at];
        *at += 1;
        number |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return number;
        }
        shift += 7;
    }
}
