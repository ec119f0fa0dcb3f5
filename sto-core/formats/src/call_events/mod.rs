//! Calls as traces of viewers have them: events of many threads, in any order of time.
//!
//! What begins and ends is paired first, by time and name, as if there were no complete events; both are then nested
//! by their times. Perfetto's trace processor and Chrome's `trace_event_importer` do the same, but draw a call that
//! outlasts its caller elsewhere, where here its time must not count twice. Either step needs events in an order that
//! the file does not have, so each sorts them outside of memory where they are many.

mod code;
mod functions;
mod misfits;
mod nest;
mod pair;
mod sorter;
mod write;

use crate::error::{DecodeError, Decoded};
use crate::source::ReadOptions;
use code::{Code, Kind};
pub(super) use functions::Functions;
use misfits::{Misfits, failed};
use pair::{Paired, Pairs};
use sorter::{Scratch, Sorter};
use std::sync::Arc;
use sto_model::trace::arguments::CallArguments;
use sto_model::trace::log::nameless;
use sto_model::trace::paths::FunctionNo;

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
    arguments: CallArguments,
}

/// What memory holds of each order, in bytes.
const HELD: usize = 32 << 20;

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
            arguments: CallArguments::default(),
        }
    }

    /// What calls are called with: numbers of functions with arguments stand for these in the other events.
    pub(super) fn arguments(&mut self) -> &mut CallArguments {
        &mut self.arguments
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
        let mut pairs = Pairs::of(self.arguments);
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
            arguments: pairs.into_arguments(),
            misfits,
        })
    }
}

/// Calls, each with its begin and its end.
pub(super) struct PairedCalls {
    calls: Sorter<4>,
    floating: Sorter<6>,
    last: Vec<u64>,
    arguments: CallArguments,
    misfits: Misfits,
}
