//! The flight data recorder: buffers of threads, as they lie in the program's memory, with records
//! of calls (8 bytes) and others (16 bytes). Times are relative to earlier records.
//!
//! Source: LLVM, *XRay Flight Data Recorder Trace Format*,
//! <https://llvm.org/docs/XRayFDRFormat.html> (version 1), and for later versions
//! `llvm/lib/XRay/Trace.cpp` and compiler-rt's `xray_fdr_logging.cpp`.

use super::header::HEADER;
use super::threads::{Functions, Threads};
use super::{Damage, FIRST_ARGUMENT, Log};
use crate::error::{FormatError, Salvage};
use rayon::prelude::*;
use std::ops::Range;
use sto_model::bytes::{u32_at, u64_at};
use sto_model::files::ByteWindow;
use sto_model::id::{RecordingDigest, RecordingHasher};
use sto_model::trace::log::{LostEvents, ThreadLog};

/// Number of bytes digested at once.
const PIECE: usize = 1 << 20;

/// Number of bytes of a buffer examined at once.
const VIEW: usize = 1 << 16;

/// Sizes of a record of a call and of other records.
const CALL: usize = 8;
const OTHER: usize = 16;

/// A buffer of a thread.
pub(super) struct Buffer {
    /// Time at which the thread began to write it, in seconds and microseconds.
    wall_clock: (u64, u32),
    records: Range<u64>,
}

/// The problem of a record; `None` if it is cut off.
type Wrong = Option<String>;

/// Reads all buffers, by time in each thread and with threads in parallel, and computes the file's
/// digest. The last number in the result is the number of events other than calls.
pub(super) fn read(
    log: &Log<'_>,
    buffer_size: u64,
    threads: &mut Threads<Vec<Buffer>>,
) -> Result<(RecordingDigest, Option<Damage>, u64), FormatError> {
    let read = || {
        let mut damage = find_buffers(log, buffer_size, threads)?;
        let read = threads.all().map(|(calls, (functions, buffers))| {
            buffers.sort_by_key(|buffer| buffer.wall_clock);
            let mut reader = Reader {
                log,
                window: ByteWindow::with_read_size(log.file, VIEW),
                calls,
                functions,
                events: 0,
            };
            let damage = buffers.iter().map(|buffer| reader.read(buffer));
            let damage = damage.filter_map(Result::transpose);
            let damage = damage.collect::<Result<Vec<Damage>, FormatError>>()?;
            Ok((damage, reader.events))
        });
        let mut events = 0;
        // Collect all results, so that the first error does not depend on the number of cores.
        for of_thread in read.collect::<Vec<Result<_, FormatError>>>() {
            let (of_thread, passed_over) = of_thread?;
            damage.extend(of_thread);
            events += passed_over;
        }
        Ok((damage, events))
    };
    let (digest, read) = rayon::join(|| digest(log), read);
    let (damage, events) = read?;
    Ok((digest?, Damage::sum(&damage), events))
}

fn digest(log: &Log<'_>) -> Result<RecordingDigest, FormatError> {
    let mut digest = RecordingHasher::new();
    let (mut piece, mut offset) = (Vec::new(), 0);
    while offset < log.file.size() {
        log.fill(&mut piece, offset, PIECE)?;
        digest.update(&piece);
        log.was_read(piece.len())?;
        offset += piece.len() as u64;
    }
    Ok(digest.finish())
}

/// Finds the buffers of each thread without reading their records.
fn find_buffers(
    log: &Log<'_>,
    buffer_size: u64,
    threads: &mut Threads<Vec<Buffer>>,
) -> Result<Vec<Damage>, FormatError> {
    let size = log.file.size();
    let mut window = ByteWindow::with_read_size(log.file, 8 * OTHER);
    let mut damage = Vec::new();
    let mut at = HEADER as u64;
    while at < size {
        let (begin, end) = match extent(log, &mut window, at, buffer_size)? {
            Ok(found) => found,
            Err(wrong) => {
                let next = next_buffer(log, &mut window, at + 1)?;
                damage.push(log.damage(at, next - at, wrong)?);
                at = next;
                continue;
            }
        };
        if end > size {
            if !log.options.allow_truncated {
                let part = format!("the buffer at byte {at}");
                let ends = (end, size);
                return Err(FormatError::ends_early(
                    log.path,
                    part,
                    ends,
                    Salvage::Possible,
                ));
            }
            damage.push(Damage {
                at: size,
                left_out: 0,
            });
        }
        let end = end.min(size);
        match preamble(log, &mut window, begin..end)? {
            Ok((pid, tid, buffer)) => threads.find_or_add(pid, tid).push(buffer),
            Err(_) if begin == end => {}
            Err(wrong) => damage.push(log.damage(begin, end - begin, wrong)?),
        }
        at = end;
    }
    Ok(damage)
}

/// The range of the records in the buffer at an offset. Since version 2, the length precedes them.
fn extent(
    log: &Log<'_>,
    window: &mut ByteWindow<'_>,
    at: u64,
    buffer_size: u64,
) -> Result<Result<(u64, u64), Wrong>, FormatError> {
    if log.header.version == 1 {
        return Ok(match buffer_size {
            0 => Err(Some(
                "expected buffers of the size in the header, found a size of 0 there".to_owned(),
            )),
            size => Ok((at, at.saturating_add(size))),
        });
    }
    let Some(record) = other(log, window, at..log.file.size())? else {
        return Ok(Err(None));
    };
    let begin = at + OTHER as u64;
    Ok(match record.kind {
        Kind::EXTENTS => Ok((begin, begin.saturating_add(record.u64(0)))),
        _ => Err(Some(
            "expected the length of a buffer; was the log damaged?".to_owned(),
        )),
    })
}

/// Finds the next likely buffer: its length followed by the record of its thread.
fn next_buffer(log: &Log<'_>, window: &mut ByteWindow<'_>, from: u64) -> Result<u64, FormatError> {
    let size = log.file.size();
    let length = 2 * OTHER;
    let mut at = from;
    while log.header.version > 1 && at + length as u64 <= size {
        let view = (size - at).min(VIEW as u64) as usize;
        let view = window.slice(at, view).map_err(|error| log.io(error))?;
        let found = view.windows(length).position(|bytes| {
            bytes[0] == Kind::EXTENTS << 1 | 1 && bytes[OTHER] == Kind::NEW_BUFFER << 1 | 1
        });
        match found {
            Some(found) => return Ok(at + found as u64),
            None => at += (view.len() - length + 1) as u64,
        }
    }
    Ok(size)
}

/// Reads the process, thread and begin of a buffer, and the position of its other records.
fn preamble(
    log: &Log<'_>,
    window: &mut ByteWindow<'_>,
    mut records: Range<u64>,
) -> Result<Result<(u32, u32, Buffer), Wrong>, FormatError> {
    let (mut tid, mut pid, mut wall_clock) = (None, 0, (0, 0));
    while let Some(record) = other(log, window, records.clone())? {
        match record.kind {
            Kind::NEW_BUFFER if tid.is_none() => tid = Some(record.u32(0)),
            Kind::WALL_CLOCK => wall_clock = (record.u64(0), record.u32(8)),
            Kind::PID => pid = record.u32(0),
            _ => break,
        }
        records.start += OTHER as u64;
    }
    Ok(match tid {
        Some(tid) => Ok((
            pid,
            tid,
            Buffer {
                wall_clock,
                records,
            },
        )),
        None => Err(Some(
            "expected the thread of a buffer; was the log damaged?".to_owned(),
        )),
    })
}

/// The record at the beginning of a range, if it is not a record of a call.
fn other(
    log: &Log<'_>,
    window: &mut ByteWindow<'_>,
    range: Range<u64>,
) -> Result<Option<Other>, FormatError> {
    if range.end.saturating_sub(range.start) < OTHER as u64 {
        return Ok(None);
    }
    let bytes = window
        .slice(range.start, OTHER)
        .map_err(|error| log.io(error))?;
    Ok(bytes.first_chunk().and_then(Other::parse))
}

/// Reads buffers of one thread.
struct Reader<'a> {
    log: &'a Log<'a>,
    window: ByteWindow<'a>,
    calls: &'a mut ThreadLog,
    functions: &'a mut Functions,
    /// Number of events other than calls.
    events: u64,
}

impl Reader<'_> {
    /// Reads a buffer. Damage is an error unless a damaged file is allowed.
    fn read(&mut self, buffer: &Buffer) -> Result<Option<Damage>, FormatError> {
        let Range { mut start, end } = buffer.records;
        let mut cycles = None;
        while start < end {
            let view = (end - start).min(VIEW as u64) as usize;
            let view = self
                .window
                .slice(start, view)
                .map_err(|error| self.log.io(error))?;
            let ends = start + view.len() as u64 == end;
            let mut within = 0;
            let wrong = loop {
                let Some(&first) = view.get(within) else {
                    break None;
                };
                let bytes = &view[within..];
                let length = match first & 1 {
                    0 => CALL,
                    _ => OTHER,
                };
                if bytes.len() < length || !ends && bytes.len() < length + OTHER {
                    break ends.then_some(None);
                }
                let read = match first & 1 {
                    0 => call(self.log, bytes, &mut cycles, self.calls, self.functions),
                    _ => event(self.log.header.version, bytes, &mut cycles),
                };
                match read {
                    Ok(Next::After(payload)) => {
                        let after = within as u64 + length as u64 + payload;
                        if after > end - start {
                            break Some(None);
                        }
                        within = after as usize;
                        self.events += u64::from(Kind::is_of_program(first));
                    }
                    Ok(Next::EndOfBuffer) => return Ok(None),
                    Err(Failure::Format(error)) => return Err(error),
                    Err(Failure::Wrong(problem)) => break Some(Some(problem)),
                }
            };
            start += within as u64;
            if let Some(wrong) = wrong {
                self.calls.record_loss(LostEvents::Unknown);
                return self.log.damage(start, end - start, wrong).map(Some);
            }
        }
        Ok(None)
    }
}

/// The continuation after a record.
enum Next {
    /// The next record, after this number of bytes of data.
    After(u64),
    EndOfBuffer,
}

enum Failure {
    Wrong(String),
    Format(FormatError),
}

/// Reads a record of a call: 1 bit 0, 3 bits of the event, 28 bits of the function, and 32 bits of
/// the cycles since the previous record.
#[inline]
fn call(
    log: &Log<'_>,
    bytes: &[u8],
    cycles: &mut Option<u64>,
    calls: &mut ThreadLog,
    functions: &mut Functions,
) -> Result<Next, Failure> {
    let word = |at: usize| u32_at(bytes, at).unwrap_or_default();
    let (does, function) = (word(0) >> 1 & 7, word(0) >> 4);
    let Some(cycles) = cycles else {
        let problem =
            "expected the time of the buffer's first record before it; was the log damaged?";
        return Err(Failure::Wrong(problem.to_owned()));
    };
    if does > ENTER_WITH_ARGUMENTS || function == 0 {
        return Err(Failure::Wrong(format!(
            "expected a call of a function from 1 on (0 to 3), found {does} of function {function}; was the log damaged?"
        )));
    }
    *cycles = cycles.wrapping_add(u64::from(word(4)));
    let (function, time) = (functions.number(function), log.header.clock.time(*cycles));
    match does {
        ENTER | ENTER_WITH_ARGUMENTS => {
            let argument = match does {
                ENTER => None,
                _ => bytes[CALL..].first_chunk().and_then(Other::parse),
            };
            let argument = argument.filter(|next| next.kind == Kind::ARGUMENT);
            let argument = argument.map(|of| (FIRST_ARGUMENT, of.u64(0) as f64));
            let begun = calls.begin_with_arguments(function, argument.as_slice(), time);
            begun.map_err(|error| Failure::Format(log.spool(error)))?;
        }
        _ => calls.end(Some(function), time),
    }
    Ok(Next::After(0))
}

/// Events of a function: entry (0), entry with arguments in the records that follow (3), exit (1),
/// exit by a tail call (2).
const ENTER: u32 = 0;
const ENTER_WITH_ARGUMENTS: u32 = 3;

/// Reads a record that is not of a call.
fn event(version: u16, bytes: &[u8], cycles: &mut Option<u64>) -> Result<Next, Failure> {
    let unknown = || {
        let kind = bytes[0] >> 1;
        Failure::Wrong(format!(
            "record of kind {kind}, which version {version} does not have there; was the log damaged?"
        ))
    };
    let record = bytes
        .first_chunk()
        .and_then(Other::parse)
        .ok_or_else(unknown)?;
    let mut payload = 0;
    match record.kind {
        Kind::NEW_CPU => *cycles = Some(record.u64(2)),
        Kind::TIME => *cycles = Some(record.u64(0)),
        Kind::ARGUMENT => {}
        Kind::END_OF_BUFFER if version == 1 => return Ok(Next::EndOfBuffer),
        Kind::CUSTOM_EVENT | Kind::TYPED_EVENT => {
            payload = record.u32(0);
            // Before version 5, custom events have absolute times.
            if record.kind == Kind::TYPED_EVENT || version >= 5 {
                let passed = u64::from(record.u32(4));
                *cycles = cycles.map(|cycles| cycles.wrapping_add(passed));
            }
        }
        _ => return Err(unknown()),
    }
    Ok(Next::After(payload.into()))
}

/// Kinds of records other than calls.
struct Kind;

impl Kind {
    const NEW_BUFFER: u8 = 0;
    const END_OF_BUFFER: u8 = 1;
    const NEW_CPU: u8 = 2;
    const TIME: u8 = 3;
    const WALL_CLOCK: u8 = 4;
    const CUSTOM_EVENT: u8 = 5;
    const ARGUMENT: u8 = 6;
    const EXTENTS: u8 = 7;
    const TYPED_EVENT: u8 = 8;
    const PID: u8 = 9;

    /// Whether a record with this first byte is an event written by the program itself.
    fn is_of_program(first: u8) -> bool {
        first & 1 == 1 && matches!(first >> 1, Kind::CUSTOM_EVENT | Kind::TYPED_EVENT)
    }
}

/// A record other than a call: 1 bit 1, 7 bits of its kind, 15 bytes.
struct Other {
    kind: u8,
    data: [u8; OTHER],
}

impl Other {
    fn parse(bytes: &[u8; OTHER]) -> Option<Other> {
        (bytes[0] & 1 == 1).then_some(Other {
            kind: bytes[0] >> 1,
            data: *bytes,
        })
    }

    /// A number among the 15 bytes.
    fn u32(&self, at: usize) -> u32 {
        u32_at(&self.data, at + 1).unwrap_or_default()
    }

    fn u64(&self, at: usize) -> u64 {
        u64_at(&self.data, at + 1).unwrap_or_default()
    }
}
