//! Pairing of begin and end events.

use super::code::{Code, Kind};
use super::mismatches::Mismatches;
use hashbrown::HashMap;
use std::io;
use sto_model::trace::arguments::{ArgumentTable, UNNAMED_FUNCTION};
use sto_model::trace::paths::TraceFunctionIx;

/// An event, or a call represented by its begin event.
#[derive(Clone, Copy)]
pub(super) struct PairableEvent {
    pub(super) begin: u64,
    pub(super) code: Code,
    pub(super) process: u64,
}

impl PairableEvent {
    pub(super) fn new(begin: u64, code: Code, process: u64) -> PairableEvent {
        PairableEvent {
            begin,
            code,
            process,
        }
    }
}

/// Pairs the events of one track after the other, in order of time.
pub(super) struct Pairing {
    arguments: ArgumentTable,
    track: u64,
    /// Calls without an end so far, outermost first.
    open: Vec<PairableEvent>,
    names: HashMap<TraceFunctionIx, OfName>,
    /// Time of the last event.
    last: u64,
}

/// Open and ended calls of one name.
#[derive(Default)]
struct OfName {
    open: usize,
    /// Number of calls that were ended together with their caller and whose own end event, at the
    /// same time, has not come yet.
    ended_with_caller: u64,
    at: u64,
}

/// A callback for calls: track, outermost call, the call, and its end.
pub(super) trait CallSink:
    FnMut(u64, &PairableEvent, &PairableEvent, u64) -> io::Result<()>
{
}

impl<F: FnMut(u64, &PairableEvent, &PairableEvent, u64) -> io::Result<()>> CallSink for F {}

impl Pairing {
    /// Makes pairs for events whose function numbers may stand for these arguments.
    pub(super) fn new(arguments: ArgumentTable) -> Pairing {
        Pairing {
            arguments,
            track: 0,
            open: Vec::new(),
            names: HashMap::new(),
            last: 0,
        }
    }

    pub(super) fn into_arguments(self) -> ArgumentTable {
        self.arguments
    }

    /// The function named by an event, without arguments.
    fn name(&self, event: &PairableEvent) -> Option<TraceFunctionIx> {
        let (function, _) = self.arguments.split(event.code.function()?);
        (function != UNNAMED_FUNCTION).then_some(function)
    }

    /// The outermost open call, or this one, without arguments.
    fn outermost(&self, call: &PairableEvent) -> PairableEvent {
        let first = self.open.first().unwrap_or(call);
        let code = match self.name(first) {
            Some(function) => first.code.with_function(function),
            None => first.code,
        };
        PairableEvent { code, ..*first }
    }

    /// Handles the next event and passes on the calls that it ends. `last` maps the time of a
    /// track's last event to the end of its unfinished calls.
    pub(super) fn event(
        &mut self,
        track: u64,
        event: PairableEvent,
        last: impl Fn(u64, u64) -> u64,
        hand_on: &mut impl CallSink,
        misfits: &mut Mismatches,
    ) -> io::Result<()> {
        if track != self.track {
            self.finish(last, hand_on, misfits)?;
            self.track = track;
        }
        self.last = event.begin;
        match (event.code.kind(), self.name(&event)) {
            (Kind::Begin, Some(function)) => {
                self.names.entry(function).or_default().open += 1;
                self.open.push(event);
                Ok(())
            }
            (Kind::End, name) => self.end(name, event, hand_on, misfits),
            _ => Ok(()),
        }
    }

    fn end(
        &mut self,
        name: Option<TraceFunctionIx>,
        end: PairableEvent,
        hand_on: &mut impl CallSink,
        misfits: &mut Mismatches,
    ) -> io::Result<()> {
        let at = end.begin;
        let ended = name.or_else(|| self.open.last().and_then(|open| self.name(open)));
        match ended.and_then(|ended| self.names.get_mut(&ended)) {
            Some(of_name) if of_name.open > 0 => {}
            // Of several ends at one time, the caller's may come first.
            Some(of_name) if of_name.ended_with_caller > 0 && of_name.at == at => {
                of_name.ended_with_caller -= 1;
                misfits.ended_with_caller -= 1;
                return Ok(());
            }
            _ => {
                misfits.ends += 1;
                return Ok(());
            }
        }
        while let Some(mut open) = self.open.pop() {
            let function = self.name(&open);
            let outermost = self.outermost(&open);
            if function == ended
                && let (Some(begin), Some(end)) = (open.code.function(), end.code.function())
            {
                let both = self.arguments.merge(begin, end);
                open.code = open.code.with_function(both);
            }
            hand_on(self.track, &outermost, &open, at)?;
            let Some(function) = function else {
                continue;
            };
            let of_name = self.names.entry(function).or_default();
            of_name.open -= 1;
            if Some(function) == ended {
                break;
            }
            if of_name.at != at {
                of_name.ended_with_caller = 0;
                of_name.at = at;
            }
            of_name.ended_with_caller += 1;
            misfits.ended_with_caller += 1;
        }
        Ok(())
    }

    /// Ends the open calls at the end of the track.
    pub(super) fn finish(
        &mut self,
        last: impl Fn(u64, u64) -> u64,
        hand_on: &mut impl CallSink,
        misfits: &mut Mismatches,
    ) -> io::Result<()> {
        misfits.open += self.open.len() as u64;
        while let Some(open) = self.open.pop() {
            let outermost = self.outermost(&open);
            hand_on(self.track, &outermost, &open, last(self.track, self.last))?;
        }
        self.names.clear();
        Ok(())
    }
}
