//! The encoding of consecutive calls of a thread.
//!
//! A chunk consists of a length in bytes, the begins of that length, and the durations. All numbers are LEB128. The
//! begins have for each call the time since the previous begin, and the function combined with the number of calls
//! that ended since the previous begin. A call that had not ended when the chunk was written has a duration of 0.

use super::Call;
use crate::trace::paths::TraceFunctionIx;
use crate::units::Nanoseconds;

/// The values that the first call of a chunk is encoded relative to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Start {
    /// The begin of the previous call.
    pub(super) begin: u64,
    /// The depth of a callee of the previous call.
    pub(super) depth: u32,
}

/// Encodes calls in the order of their begins.
#[derive(Debug, Default)]
pub(super) struct ChunkWriter {
    start: Start,
    /// The values that the next call is encoded relative to.
    last: Start,
    begins: Vec<u8>,
    durations: Vec<u64>,
}

/// Maximum number of ended calls in the two low bits of a function. This value means that a number to add follows.
const MAX_ENDED: u64 = 3;

impl ChunkWriter {
    pub(super) fn len(&self) -> usize {
        self.durations.len()
    }

    pub(super) fn start(&self) -> Start {
        self.start
    }

    /// Adds a call. It must not begin earlier, or be deeper, than a callee of the previous call.
    #[inline]
    pub(super) fn begin(&mut self, depth: u32, function: TraceFunctionIx, begin: u64) {
        let ended = u64::from(self.last.depth - depth);
        write(&mut self.begins, begin - self.last.begin);
        write(
            &mut self.begins,
            u64::from(function.0) << 2 | ended.min(MAX_ENDED),
        );
        if ended >= MAX_ENDED {
            write(&mut self.begins, ended - MAX_ENDED);
        }
        self.durations.push(0);
        self.last = Start {
            begin,
            depth: depth + 1,
        };
    }

    /// Sets the duration of a call of the chunk.
    #[inline]
    pub(super) fn end(&mut self, call: usize, duration: u64) {
        self.durations[call] = duration;
    }

    /// Appends the chunk to the buffer, and begins the next one.
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

/// Decodes the calls of a chunk.
#[derive(Debug, Default)]
pub(super) struct ChunkReader {
    bytes: Vec<u8>,
    begins: usize,
    durations: usize,
    left: usize,
    last: Start,
}

impl ChunkReader {
    /// Begins to read a chunk of `calls` calls, whose bytes `fill` puts into the buffer.
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
        let mut ended = called & MAX_ENDED;
        if ended == MAX_ENDED {
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
            function: TraceFunctionIx((called >> 2) as u32),
            arguments: None,
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
