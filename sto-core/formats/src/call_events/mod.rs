//! Calls recorded as events, of many threads and in any order of time.
//!
//! Begin and end events are first paired by time and name, as if there were no complete events;
//! then all calls are nested by time. Perfetto's trace processor and Chrome's
//! `trace_event_importer` do the same, but draw a call that outlasts its caller elsewhere, while
//! here its time must not be counted twice. Both steps need orders that the file does not have, so
//! each sorts the events, on disk if there are many.

mod code;
mod functions;
mod mismatches;
mod nest;
mod pair;
mod sorter;
mod write;

use crate::error::{DecodeError, Decoded};
use crate::source::ReadOptions;
use code::{Code, Kind};
pub(super) use functions::Functions;
use mismatches::{Mismatches, temporary_file_error};
use pair::{PairableEvent, Pairing};
use sorter::{Scratch, Sorter};
use std::sync::Arc;
use sto_model::trace::arguments::ArgumentTable;
use sto_model::trace::log::create_unnamed_file;
use sto_model::trace::paths::TraceFunctionIx;

/// The place of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Track {
    /// In the thread with this number.
    Thread(u32),
    /// In no thread, like asynchronous events: identified by a key, in the process with this
    /// number. Calls of one group share threads if they do not overlap.
    Floating { process: u64, key: u64 },
}

/// The outermost of nested floating calls.
#[derive(Clone, Copy, Debug)]
pub(super) struct OutermostCall {
    pub(super) process: u64,
    pub(super) key: u64,
    /// The function of the outermost call.
    pub(super) function: TraceFunctionIx,
}

/// The kind of a thread in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ThreadKind {
    /// A thread of the trace.
    Thread(u32),
    /// A thread for floating calls of this group.
    Group(u64),
}

/// Collects events in any order.
pub(super) struct CallEvents {
    /// Begin and end events in threads, by thread, time and place in the file.
    edges: Sorter<3>,
    /// Begin and end events of floating calls, by key, time and place, with their process.
    loose: Sorter<4>,
    /// Complete calls by thread, begin, latest end, and place in the file.
    calls: Sorter<4>,
    /// Floating calls, by group and outermost call.
    floating: Sorter<6>,
    /// Time of the last event of each thread.
    last: Vec<u64>,
    events: u64,
    arguments: ArgumentTable,
}

/// Memory for each sorter, in bytes.
const HELD: usize = 32 << 20;

/// Maps times to numbers of the same order.
fn in_order(time: i64) -> u64 {
    time as u64 ^ 1 << 63
}

/// A hash of all parts.
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
        let scratch: Scratch =
            folder.map(|folder| Arc::new(move || create_unnamed_file(&folder)) as _);
        CallEvents {
            edges: Sorter::new(HELD, scratch.clone()),
            loose: Sorter::new(HELD, scratch.clone()),
            calls: Sorter::new(HELD, scratch.clone()),
            floating: Sorter::new(HELD, scratch.clone()),
            last: Vec::new(),
            events: 0,
            arguments: ArgumentTable::default(),
        }
    }

    /// The arguments of calls. A function number of an event can stand for a function with
    /// arguments.
    pub(super) fn arguments(&mut self) -> &mut ArgumentTable {
        &mut self.arguments
    }

    /// Adds the begin of a call.
    pub(super) fn begin(
        &mut self,
        track: Track,
        function: TraceFunctionIx,
        time: i64,
    ) -> Decoded<()> {
        self.edge(track, Some(function), Kind::Begin, time)
    }

    /// Adds the end of the innermost open call of this name, or of any name without one.
    pub(super) fn end(
        &mut self,
        track: Track,
        function: Option<TraceFunctionIx>,
        time: i64,
    ) -> Decoded<()> {
        self.edge(track, function, Kind::End, time)
    }

    fn edge(
        &mut self,
        track: Track,
        function: Option<TraceFunctionIx>,
        kind: Kind,
        time: i64,
    ) -> Decoded<()> {
        let code = self.code(function, kind)?;
        let time = in_order(time);
        let pushed = match track {
            Track::Thread(thread) => {
                self.observe_time(thread, time);
                self.edges.push([thread.into(), time, code.0])
            }
            Track::Floating { process, key } => self.loose.push([key, time, code.0, process]),
        };
        pushed.map_err(temporary_file_error)
    }

    /// Adds a complete call of a thread. Without an end, it lasts as long as its caller.
    pub(super) fn call(
        &mut self,
        thread: u32,
        function: TraceFunctionIx,
        begin: i64,
        end: Option<i64>,
    ) -> Decoded<()> {
        let kind = match end {
            Some(_) => Kind::Begin,
            None => Kind::Endless,
        };
        let code = self.code(Some(function), kind)?;
        let (begin, end) = (in_order(begin), in_order(end.unwrap_or(begin)));
        self.observe_time(thread, end);
        let pushed = self.calls.push([thread.into(), begin, !end, code.0]);
        pushed.map_err(temporary_file_error)
    }

    fn observe_time(&mut self, thread: u32, time: u64) {
        let thread = thread as usize;
        if self.last.len() <= thread {
            self.last.resize(thread + 1, 0);
        }
        self.last[thread] = self.last[thread].max(time);
    }

    fn code(&mut self, function: Option<TraceFunctionIx>, kind: Kind) -> Decoded<Code> {
        let code = Code::new(self.events, function, kind).ok_or_else(|| {
            let problem =
                "more than 2^34 events, or 2^28 names of functions; record for a shorter time";
            DecodeError::unsupported(problem.to_owned())
        })?;
        self.events += 1;
        Ok(code)
    }

    /// Pairs begin and end events to calls. `group` returns the group of a floating call.
    pub(super) fn pair(
        mut self,
        mut group: impl FnMut(OutermostCall) -> u64,
    ) -> Decoded<PairedCalls> {
        let mut misfits = Mismatches::default();
        let calls = &mut self.calls;
        let mut pairs = Pairing::new(self.arguments);
        let mut edges = self.edges.sorted().map_err(temporary_file_error)?;
        let last = |thread: u64, _| self.last[thread as usize];
        let mut hand_on = |thread: u64, _: &PairableEvent, call: &PairableEvent, end: u64| {
            calls.push([thread, call.begin, !end, call.code.0])
        };
        while let Some([thread, time, code]) = edges.next().map_err(temporary_file_error)? {
            let event = PairableEvent::new(time, Code(code), 0);
            let paired = pairs.event(thread, event, last, &mut hand_on, &mut misfits);
            paired.map_err(temporary_file_error)?;
        }
        let ended = pairs.finish(last, &mut hand_on, &mut misfits);
        ended.map_err(temporary_file_error)?;
        let floating = &mut self.floating;
        let mut edges = self.loose.sorted().map_err(temporary_file_error)?;
        let last = |_, last: u64| last;
        let mut hand_on = |key: u64, outermost: &PairableEvent, call: &PairableEvent, end: u64| {
            let group = group(OutermostCall {
                process: outermost.process,
                key,
                function: outermost.code.function().unwrap_or(TraceFunctionIx(0)),
            });
            let (begin, place) = (outermost.begin, outermost.code.place());
            floating.push([group, begin, place, call.begin, !end, call.code.0])
        };
        while let Some([key, time, code, process]) = edges.next().map_err(temporary_file_error)? {
            let event = PairableEvent::new(time, Code(code), process);
            let paired = pairs.event(key, event, last, &mut hand_on, &mut misfits);
            paired.map_err(temporary_file_error)?;
        }
        let ended = pairs.finish(last, &mut hand_on, &mut misfits);
        ended.map_err(temporary_file_error)?;
        Ok(PairedCalls {
            calls: self.calls,
            floating: self.floating,
            last: self.last,
            arguments: pairs.into_arguments(),
            misfits,
        })
    }
}

/// Calls with begin and end.
pub(super) struct PairedCalls {
    calls: Sorter<4>,
    floating: Sorter<6>,
    last: Vec<u64>,
    arguments: ArgumentTable,
    misfits: Mismatches,
}
