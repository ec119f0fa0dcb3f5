//! Calls as traces of viewers have them: events of many threads, in any order of time.
//!
//! What begins and ends is paired first, by time and name, as if there were no complete events; both are then nested
//! by their times. Perfetto's trace processor and Chrome's `trace_event_importer` do the same, but draw a call that
//! outlasts its caller elsewhere, where here its time must not count twice. Either step needs events in an order that
//! the file does not have, so each sorts them outside of memory where they are many.

mod functions;
mod nest;
mod pair;
mod sorter;

use super::error::{DecodeError, Decoded};
use super::source::ReadOptions;
use crate::limits::most_frames;
use crate::trace::CallThread;
use crate::trace::log::{CallLogWriter, nameless};
use crate::trace::paths::FunctionNo;
use crate::units::Bytes;
pub(super) use functions::Functions;
use hashbrown::HashMap;
use nest::Nested;
use pair::{Paired, Pairs};
use sorter::{Record, Scratch, Sorter};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::sync::Arc;

/// Where a call is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Track {
    /// In the thread of this number.
    Thread(u32),
    /// In none, as asynchronous events are: by what has this key, and in the process
    /// that the format gives this number. Where such calls are not at the same time, those of a group share threads.
    Floating { process: u64, key: u64 },
}

/// What floating calls that belong together are made in.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outermost {
    pub(super) process: u64,
    pub(super) key: u64,
    /// The function of the outermost of them.
    pub(super) function: FunctionNo,
}

/// What a thread is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// A thread of the trace.
    Thread(u32),
    /// One that floating calls of this group share.
    Group(u64),
}

/// Takes events in any order.
pub(super) struct CallEvents {
    /// What begins and ends in threads, by thread, time and place in the file.
    edges: Sorter<3>,
    /// The same of floating calls, by key, time and place; with their process.
    loose: Sorter<4>,
    /// By thread, begin, the latest end, and place in the file.
    calls: Sorter<4>,
    /// The same of floating calls, by group and the outermost of them.
    floating: Sorter<6>,
    /// When the last event of each thread is.
    last: Vec<u64>,
    events: u64,
}

/// What memory holds of each order, in bytes.
const HELD: usize = 32 << 20;

/// What an event or call is; beside it stand its function and its place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Begin = 0,
    End = 1,
    /// Of a complete event that does not say how long it took.
    Endless = 2,
}

const KIND_BITS: u32 = 2;
const FUNCTION_BITS: u32 = 28;
const NO_FUNCTION: u32 = (1 << FUNCTION_BITS) - 1;

/// The last number of a record, which orders those of one time by their place in the file.
#[derive(Clone, Copy)]
struct Code(u64);

impl Code {
    fn new(place: u64, function: Option<FunctionNo>, kind: Kind) -> Option<Code> {
        let function = function.map_or(NO_FUNCTION, |function| function.0);
        let fits = function <= NO_FUNCTION && place >> (64 - FUNCTION_BITS - KIND_BITS) == 0;
        let code = (place << FUNCTION_BITS | u64::from(function)) << KIND_BITS | kind as u64;
        fits.then_some(Code(code))
    }

    fn kind(self) -> Kind {
        match self.0 & 3 {
            0 => Kind::Begin,
            1 => Kind::End,
            _ => Kind::Endless,
        }
    }

    fn function(self) -> Option<FunctionNo> {
        let function = (self.0 >> KIND_BITS) as u32 & NO_FUNCTION;
        (function != NO_FUNCTION).then_some(FunctionNo(function))
    }

    fn place(self) -> u64 {
        self.0 >> (KIND_BITS + FUNCTION_BITS)
    }
}

/// A number that is in the order of times.
fn in_order(time: i64) -> u64 {
    time as u64 ^ 1 << 63
}

/// A key for what these parts name together.
pub(super) fn key_of<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> u64 {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut key = [0; 8];
    hasher.finalize_xof().fill(&mut key);
    u64::from_le_bytes(key)
}

impl CallEvents {
    pub(super) fn new(options: &ReadOptions) -> CallEvents {
        let folder = options.call_folder.clone();
        let scratch: Scratch = folder.map(|folder| Arc::new(move || nameless(&folder)) as _);
        CallEvents {
            edges: Sorter::new(HELD, scratch.clone()),
            loose: Sorter::new(HELD, scratch.clone()),
            calls: Sorter::new(HELD, scratch.clone()),
            floating: Sorter::new(HELD, scratch.clone()),
            last: Vec::new(),
            events: 0,
        }
    }

    /// A call begins.
    pub(super) fn begin(&mut self, track: Track, function: FunctionNo, time: i64) -> Decoded<()> {
        self.edge(track, Some(function), Kind::Begin, time)
    }

    /// The last call of this name that began ends; without one, the last call of any.
    pub(super) fn end(
        &mut self,
        track: Track,
        function: Option<FunctionNo>,
        time: i64,
    ) -> Decoded<()> {
        self.edge(track, function, Kind::End, time)
    }

    fn edge(
        &mut self,
        track: Track,
        function: Option<FunctionNo>,
        kind: Kind,
        time: i64,
    ) -> Decoded<()> {
        let code = self.code(function, kind)?;
        let time = in_order(time);
        let pushed = match track {
            Track::Thread(thread) => {
                self.see(thread, time);
                self.edges.push([thread.into(), time, code.0])
            }
            Track::Floating { process, key } => self.loose.push([key, time, code.0, process]),
        };
        pushed.map_err(failed)
    }

    /// A complete call of a thread; without an end, it lasts as long as the call that it begins in.
    pub(super) fn call(
        &mut self,
        thread: u32,
        function: FunctionNo,
        begin: i64,
        end: Option<i64>,
    ) -> Decoded<()> {
        let kind = match end {
            Some(_) => Kind::Begin,
            None => Kind::Endless,
        };
        let code = self.code(Some(function), kind)?;
        let (begin, end) = (in_order(begin), in_order(end.unwrap_or(begin)));
        self.see(thread, end);
        let pushed = self.calls.push([thread.into(), begin, !end, code.0]);
        pushed.map_err(failed)
    }

    fn see(&mut self, thread: u32, time: u64) {
        let thread = thread as usize;
        if self.last.len() <= thread {
            self.last.resize(thread + 1, 0);
        }
        self.last[thread] = self.last[thread].max(time);
    }

    fn code(&mut self, function: Option<FunctionNo>, kind: Kind) -> Decoded<Code> {
        let code = Code::new(self.events, function, kind).ok_or_else(|| {
            let problem =
                "more than 2^34 events, or 2^28 names of functions; record for a shorter time";
            DecodeError::unsupported(problem.to_owned())
        })?;
        self.events += 1;
        Ok(code)
    }

    /// Makes calls of what begins and ends; `group` says which floating calls share threads, where they are not at the
    /// same time.
    pub(super) fn paired(
        mut self,
        mut group: impl FnMut(Outermost) -> u64,
    ) -> Decoded<PairedCalls> {
        let mut misfits = Misfits::default();
        let calls = &mut self.calls;
        let mut pairs = Pairs::default();
        let mut edges = self.edges.sorted().map_err(failed)?;
        let last = |thread: u64, _| self.last[thread as usize];
        let mut hand_on = |thread: u64, _: &Paired, call: &Paired, end: u64| {
            calls.push([thread, call.begin, !end, call.code.0])
        };
        while let Some([thread, time, code]) = edges.next().map_err(failed)? {
            let event = Paired::new(time, Code(code), 0);
            let paired = pairs.event(thread, event, last, &mut hand_on, &mut misfits);
            paired.map_err(failed)?;
        }
        let ended = pairs.finish(last, &mut hand_on, &mut misfits);
        ended.map_err(failed)?;
        let floating = &mut self.floating;
        let mut edges = self.loose.sorted().map_err(failed)?;
        let last = |_, last: u64| last;
        let mut hand_on = |key: u64, outermost: &Paired, call: &Paired, end: u64| {
            let group = group(Outermost {
                process: outermost.process,
                key,
                function: outermost.code.function().unwrap_or(FunctionNo(0)),
            });
            let (begin, place) = (outermost.begin, outermost.code.place());
            floating.push([group, begin, place, call.begin, !end, call.code.0])
        };
        while let Some([key, time, code, process]) = edges.next().map_err(failed)? {
            let event = Paired::new(time, Code(code), process);
            let paired = pairs.event(key, event, last, &mut hand_on, &mut misfits);
            paired.map_err(failed)?;
        }
        let ended = pairs.finish(last, &mut hand_on, &mut misfits);
        ended.map_err(failed)?;
        Ok(PairedCalls {
            calls: self.calls,
            floating: self.floating,
            last: self.last,
            misfits,
        })
    }
}

/// Calls, each with its begin and its end.
pub(super) struct PairedCalls {
    calls: Sorter<4>,
    floating: Sorter<6>,
    last: Vec<u64>,
    misfits: Misfits,
}

impl PairedCalls {
    /// Writes the calls to a log, with times from `zero` on; `name` says whose thread a row is. Returns sentences about
    /// what does not fit together.
    pub(super) fn write(
        self,
        zero: i64,
        file: Bytes,
        log: &mut CallLogWriter,
        mut name: impl FnMut(Row) -> CallThread,
    ) -> Decoded<Vec<String>> {
        let mut rows = Rows {
            log,
            known: HashMap::new(),
            misfits: self.misfits,
            zero: in_order(zero),
            left: Pieces {
                file,
                left: most_frames(file),
            },
        };
        let mut calls = self.calls.sorted().map_err(failed)?;
        rows.threads(|| calls.next(), &self.last, &mut name)?;
        let mut floating = self.floating.sorted().map_err(failed)?;
        rows.floating(|| floating.next(), &mut name)?;
        Ok(rows.misfits.warnings())
    }
}

/// The threads that floating calls of one group share.
#[derive(Default)]
struct Lanes {
    /// By lane: its thread of the log.
    rows: Vec<usize>,
    /// Lanes with the end of the calls in them, the earliest first.
    busy: BinaryHeap<Reverse<(u64, usize)>>,
    free: BinaryHeap<Reverse<usize>>,
}

impl Lanes {
    /// The first lane that is free at a time, which may be a new one. Times only go on.
    fn free_at(&mut self, time: u64) -> usize {
        while let Some(&Reverse((end, lane))) = self.busy.peek()
            && end <= time
        {
            self.busy.pop();
            self.free.push(Reverse(lane));
        }
        self.free
            .pop()
            .map_or(self.rows.len(), |Reverse(lane)| lane)
    }
}

/// Writes calls in order to the threads of a log.
struct Rows<'l> {
    log: &'l mut CallLogWriter,
    /// How many threads are called so.
    known: HashMap<CallThread, u32>,
    misfits: Misfits,
    zero: u64,
    left: Pieces,
}

impl Rows<'_> {
    fn threads(
        &mut self,
        mut next: impl FnMut() -> io::Result<Option<Record<4>>>,
        last: &[u64],
        name: &mut impl FnMut(Row) -> CallThread,
    ) -> Decoded<()> {
        let mut current: Option<(u64, Nested, usize)> = None;
        while let Some([thread, begin, end, code]) = next().map_err(failed)? {
            if current.as_ref().is_none_or(|&(open, ..)| open != thread) {
                self.end(current.take())?;
                let row = self.row(name(Row::Thread(thread as u32)));
                let last = last.get(thread as usize).map_or(0, |last| last - self.zero);
                current = Some((thread, Nested::new(last), row));
            }
            if let Some((_, nested, row)) = &mut current {
                self.call(nested, *row, (begin, !end, Code(code)))?;
            }
        }
        self.end(current)
    }

    /// Floating calls go to the first lane of their group that is free from the begin of the outermost one on.
    fn floating(
        &mut self,
        mut next: impl FnMut() -> io::Result<Option<Record<6>>>,
        name: &mut impl FnMut(Row) -> CallThread,
    ) -> Decoded<()> {
        let mut lanes = Lanes::default();
        let mut last_group = None;
        let mut current: Option<(Nested, usize)> = None;
        let mut last = None;
        let mut ended = 0;
        while let Some([group, outermost, place, begin, end, code]) = next().map_err(failed)? {
            if last != Some((group, outermost, place)) {
                last = Some((group, outermost, place));
                if let Some((nested, lane)) = current.take() {
                    self.end(Some((0, nested, lanes.rows[lane])))?;
                    lanes.busy.push(Reverse((ended, lane)));
                }
                if last_group != Some(group) {
                    last_group = Some(group);
                    lanes = Lanes::default();
                }
                let lane = lanes.free_at(outermost);
                if lane == lanes.rows.len() {
                    lanes.rows.push(self.row(name(Row::Group(group))));
                }
                ended = outermost;
                current = Some((Nested::new(0), lane));
            }
            if let Some((nested, lane)) = &mut current {
                ended = ended.max(!end);
                self.call(nested, lanes.rows[*lane], (begin, !end, Code(code)))?;
            }
        }
        let Some((nested, lane)) = current else {
            return Ok(());
        };
        self.end(Some((0, nested, lanes.rows[lane])))
    }

    /// A thread of the log. Those that are called alike get numbers.
    fn row(&mut self, thread: CallThread) -> usize {
        let known = self.known.entry(thread.clone()).or_default();
        *known += 1;
        let mut thread = thread;
        if *known > 1 {
            thread.name = format!("{} ({known})", thread.name).trim_start().to_owned();
        }
        self.log.thread(thread).get()
    }

    fn call(
        &mut self,
        nested: &mut Nested,
        row: usize,
        (begin, end, code): (u64, u64, Code),
    ) -> Decoded<()> {
        let log = &mut self.log.thread_logs()[row];
        let (begin, end) = (begin - self.zero, end - self.zero);
        let Some(function) = code.function() else {
            return Ok(());
        };
        let end = (code.kind() != Kind::Endless).then_some(end);
        nested.begin(
            (function, begin, end),
            log,
            &mut self.misfits,
            &mut self.left,
        )
    }

    fn end(&mut self, row: Option<(u64, Nested, usize)>) -> Decoded<()> {
        let Some((_, mut nested, row)) = row else {
            return Ok(());
        };
        let log = &mut self.log.thread_logs()[row];
        nested.advance(u64::MAX, log, &mut self.left)
    }
}

fn failed(error: impl ToString) -> DecodeError {
    DecodeError::unsupported(error.to_string())
}

/// How many pieces calls may still be written in that outlast those that they begin in: each may end all the others
/// that are open.
struct Pieces {
    file: Bytes,
    left: u64,
}

impl Pieces {
    fn take(&mut self, pieces: u64) -> Decoded<()> {
        self.left = self.left.checked_sub(pieces).ok_or_else(|| {
            let problem = format!(
                "calls that last longer than those that they begin in go on in more than {} pieces; as many are read of \
                 a file of {} bytes. Expected calls to end within their callers",
                most_frames(self.file),
                self.file.0
            );
            DecodeError::new("the calls of the trace", problem)
        })?;
        Ok(())
    }
}

/// How often events do not fit together.
#[derive(Default)]
struct Misfits {
    open: u64,
    ends: u64,
    ended_with_caller: u64,
    outlasting: u64,
    endless: u64,
}

impl Misfits {
    fn warnings(&self) -> Vec<String> {
        let all = [
            (
                self.open,
                "calls begin and do not end; they are taken to last up to the last event of their thread",
            ),
            (
                self.ended_with_caller,
                "calls do not end before their caller does; they are taken to end with it",
            ),
            (
                self.ends,
                "events end a call that is not open in their thread; they were left out",
            ),
            (
                self.outlasting,
                "calls last longer than the call that they begin in; from its end on they are counted without it",
            ),
            (
                self.endless,
                "complete events do not say how long they took; they are taken to last as long as their caller",
            ),
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
