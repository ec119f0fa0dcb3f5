//! The basic mode: records of 32 bytes with their thread. Threads write them in batches; the
//! batches of a thread are in order of time.
//!
//! Source: compiler-rt, `include/xray/xray_records.h`, for the layout.

use super::header::{HEADER, Header};
use super::threads::{Functions, Threads};
use super::{Damage, FIRST_ARGUMENT, Log};
use crate::error::FormatError;
use rayon::prelude::*;
use std::ops::Range;
use sto_model::id::{RecordingDigest, RecordingHasher};
use sto_model::trace::log::{SpoolError, ThreadLog};

const RECORD: usize = 32;

/// Number of bytes read at once, a multiple of the record size.
const PIECE: usize = 1 << 22;

/// The ranges of a piece with records of a thread.
type Batches = Vec<Range<usize>>;

/// Reads all records and computes the file's digest. The threads of a piece are read in parallel.
pub(super) fn read(
    log: &Log<'_>,
    threads: &mut Threads<Batches>,
) -> Result<(RecordingDigest, Option<Damage>), FormatError> {
    let mut digest = RecordingHasher::new();
    let (mut piece, mut next) = (Vec::new(), Vec::new());
    let (mut offset, mut damage) = (0, None);
    log.fill(&mut piece, offset, PIECE)?;
    while !piece.is_empty() {
        let end = offset + piece.len() as u64;
        let begin = HEADER * usize::from(offset == 0);
        let (_, (filled, read)) = rayon::join(
            || digest.update(&piece),
            || {
                rayon::join(
                    || log.fill(&mut next, end, PIECE),
                    || match damage {
                        Some(_) => Ok(None),
                        None => read_piece(&log.header, &piece[begin..], threads),
                    },
                )
            },
        );
        let read = read.map_err(|error| log.spool(error))?;
        if let Some((at, problem)) = read {
            let at = offset + (begin + at) as u64;
            damage = Some(log.damage(at, log.file.size() - at, problem)?);
        }
        filled?;
        log.was_read(piece.len())?;
        offset = end;
        std::mem::swap(&mut piece, &mut next);
    }
    Ok((digest.finish(), damage))
}

/// Offset in a piece of an invalid record, and the problem; `None` if the record is cut off.
type Wrong = (usize, Option<String>);

/// Reads the records of a piece up to the first invalid one.
fn read_piece(
    header: &Header,
    piece: &[u8],
    threads: &mut Threads<Batches>,
) -> Result<Option<Wrong>, SpoolError> {
    let wrong = split(header, piece, threads);
    threads.all().try_for_each(|(log, (functions, batches))| {
        let mut batches = batches.drain(..);
        batches.try_for_each(|batch| read_batch(header, &piece[batch], log, functions))
    })?;
    Ok(wrong)
}

/// Finds the batches of each thread.
fn split(header: &Header, piece: &[u8], threads: &mut Threads<Batches>) -> Option<Wrong> {
    // The thread of the previous records and the start of its batch.
    let mut last: Option<((u32, u32), usize)> = None;
    let mut at = 0;
    let mut wrong = None;
    while let Some(bytes) = piece[at..].first_chunk() {
        let record = Record(bytes);
        match record.check() {
            Ok(Content::Call) => {
                let pid = if header.has_processes() {
                    record.u32(20)
                } else {
                    0
                };
                let thread = (pid, record.u32(16));
                match last {
                    Some((same, _)) if same == thread => {}
                    _ => {
                        close(threads, last.replace((thread, at)), at);
                    }
                }
            }
            // An argument of the previous call.
            Ok(Content::Argument) => {}
            Err(problem) => {
                wrong = Some((at, Some(problem)));
                break;
            }
        }
        at += RECORD;
    }
    close(threads, last, at);
    wrong.or((at < piece.len()).then_some((at, None)))
}

fn close(threads: &mut Threads<Batches>, batch: Option<((u32, u32), usize)>, end: usize) {
    if let Some(((pid, tid), begin)) = batch {
        threads.find_or_add(pid, tid).push(begin..end);
    }
}

/// Reads records of one thread.
fn read_batch(
    header: &Header,
    records: &[u8],
    log: &mut ThreadLog,
    functions: &mut Functions,
) -> Result<(), SpoolError> {
    let mut records = records.as_chunks().0.iter().map(Record).peekable();
    while let Some(record) = records.next() {
        if record.u16(0) != CALL {
            continue;
        }
        let function = functions.number(record.u32(4));
        let time = header.clock.time(record.u64(8));
        match record.0[3] {
            ENTER_WITH_ARGUMENTS => {
                let argument = records.next_if(|next| next.u16(0) == ARGUMENT);
                let argument = argument.map(|of| (FIRST_ARGUMENT, of.u64(16) as f64));
                log.begin_with_arguments(function, argument.as_slice(), time)?;
            }
            ENTER => log.begin(function, time)?,
            _ => log.end(Some(function), time),
        }
    }
    Ok(())
}

/// Kinds of records.
const CALL: u16 = 0;
const ARGUMENT: u16 = 1;

/// Events of a function: entry; entry with arguments in the records that follow; exit; exit by a
/// tail call.
const ENTER: u8 = 0;
const EXIT: u8 = 1;
const TAIL_EXIT: u8 = 2;
const ENTER_WITH_ARGUMENTS: u8 = 3;

enum Content {
    Call,
    Argument,
}

struct Record<'a>(&'a [u8; RECORD]);

impl Record<'_> {
    /// Checks a record and returns its content.
    #[inline]
    fn check(&self) -> Result<Content, String> {
        match (self.u16(0), self.0[3], self.u32(4)) {
            (CALL, ENTER | EXIT | TAIL_EXIT | ENTER_WITH_ARGUMENTS, 1..) => Ok(Content::Call),
            (ARGUMENT, ..) => Ok(Content::Argument),
            (kind, does, function) => Err(format!(
                "expected a record of a call (0, of 0 to 3, of a function from 1 on) or of an argument (1), found {kind}, {does}, {function}; was the log damaged?"
            )),
        }
    }

    #[inline]
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    #[inline]
    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    #[inline]
    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}
