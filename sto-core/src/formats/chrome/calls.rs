//! Calls in a trace: complete events (`X`), and such that begin and end (`B`, `E`).
//!
//! What begins and ends is paired first, by time and name, as if there were no complete events; both are then
//! nested by their times. Perfetto's trace processor and Chrome's `trace_event_importer` do the same, but draw a
//! call that outlasts its caller elsewhere, where here its time must not count twice.

use super::{Event, Recorder};
use crate::formats::error::{DecodeError, Decoded};
use crate::formats::json::Spans;
use crate::formats::names::NamedFrame;
use crate::formats::wire::json::{Id, Text};
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::units::Unit;
use hashbrown::HashMap;
use std::cmp::Reverse;

/// What happens in a thread.
struct Change {
    /// Nanoseconds from the first event of the trace.
    at: u64,
    kind: Kind,
    /// Index of the event in the file.
    event: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Begin(LocationIx),
    /// With the time of its end.
    Complete(LocationIx, u64),
    /// Of a call of this name, if the event has one.
    End(Option<LocationIx>),
}

/// A call of a thread, in nanoseconds from the first event of the trace.
struct Call {
    begin: u64,
    end: u64,
    location: LocationIx,
    /// Index of the event that begins it.
    event: usize,
}

/// Adds what each stack of calls took; says in sentences what does not fit together.
pub(super) fn add<'b>(
    events: &[Event<'b>],
    at: &dyn Fn(usize) -> String,
    trace: &mut Recorder<'b>,
) -> Decoded<Vec<String>> {
    let mut by_thread: HashMap<(&Id, &Id), usize> = HashMap::new();
    let mut threads: Vec<((&Id, &Id), Vec<Change>)> = Vec::new();
    for (ix, event) in events.iter().enumerate() {
        if !matches!(&*event.ph.0, b"B" | b"E" | b"X") {
            continue;
        }
        let change = trace.change(event, ix, &at(ix))?;
        let key = (&event.pid, &event.tid);
        let thread = *by_thread.entry(key).or_insert(threads.len());
        if thread == threads.len() {
            threads.push((key, Vec::new()));
        }
        threads[thread].1.push(change);
    }
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let sample_type = trace.builder.sample_type("spans", Unit::Nanoseconds);
    let mut misfits = Misfits::default();
    for ((pid, tid), mut changes) in threads {
        let thread = trace.thread(pid, tid);
        // Events of one time keep the order of the file.
        changes.sort_by_key(|change| change.at);
        let mut calls = paired(&changes, &mut misfits);
        // Of calls that begin at once, the longest made the others.
        calls.sort_by_key(|call| (call.begin, Reverse(call.end), call.event));
        let mut nested = Nested {
            spans: Spans::new((thread, sample_type), true),
            open: Vec::new(),
            builder: &mut trace.builder,
        };
        for call in &calls {
            let begun = nested.begin(call, &mut misfits);
            begun.map_err(|limit| DecodeError::new(at(call.event), limit))?;
        }
        let ended = nested.advance(u64::MAX);
        ended.map_err(DecodeError::at("the end of the trace"))?;
    }
    Ok(misfits.warnings())
}

/// Calls of a name that begin and end.
#[derive(Default)]
struct OfName {
    open: usize,
    /// How many were ended at a time by the end of their caller, and did not end themselves yet.
    ended_with_caller: usize,
    at: u64,
}

/// The calls of a thread, of what happens in it by time.
fn paired(changes: &[Change], misfits: &mut Misfits) -> Vec<Call> {
    let mut calls: Vec<Call> = Vec::new();
    // Indices of calls whose end is not reached, outermost first.
    let mut open: Vec<usize> = Vec::new();
    let mut names: HashMap<LocationIx, OfName> = HashMap::new();
    let mut last = 0;
    for &Change { at, kind, event } in changes {
        last = last.max(at);
        let ended = match kind {
            Kind::Begin(location) => {
                names.entry(location).or_default().open += 1;
                open.push(calls.len());
                calls.push(Call {
                    begin: at,
                    end: at,
                    location,
                    event,
                });
                continue;
            }
            Kind::Complete(location, end) => {
                last = last.max(end);
                calls.push(Call {
                    begin: at,
                    end,
                    location,
                    event,
                });
                continue;
            }
            Kind::End(name) => name.or_else(|| open.last().map(|&ix| calls[ix].location)),
        };
        let of_name = ended.and_then(|ended| names.get_mut(&ended));
        match of_name {
            Some(of_name) if of_name.open > 0 => {}
            // Of ends at one time, that of the caller may stand first.
            Some(of_name) if of_name.ended_with_caller > 0 && of_name.at == at => {
                of_name.ended_with_caller -= 1;
                misfits.ended_with_caller -= 1;
                continue;
            }
            _ => {
                misfits.ends += 1;
                continue;
            }
        }
        while let Some(ix) = open.pop() {
            let call = &mut calls[ix];
            call.end = at;
            let of_name = names.entry(call.location).or_default();
            of_name.open -= 1;
            if Some(call.location) == ended {
                break;
            }
            if of_name.at != at {
                of_name.ended_with_caller = 0;
                of_name.at = at;
            }
            of_name.ended_with_caller += 1;
            misfits.ended_with_caller += 1;
        }
    }
    misfits.open += open.len();
    for ix in open {
        calls[ix].end = last;
    }
    calls
}

impl<'b> Recorder<'b> {
    fn change(&mut self, event: &Event<'b>, ix: usize, path: &str) -> Decoded<Change> {
        let since = event.time(path)? - self.zero;
        let too_late = |field: &str| {
            DecodeError::new(
                format!("{path}.{field}"),
                "expected times within 500 years of each other",
            )
        };
        let at = u64::try_from(since).map_err(|_| too_late("ts"))?;
        let location = match &event.name {
            Some(name) => Some(self.location(name).map_err(DecodeError::at(path))?),
            None => None,
        };
        let begun =
            || location.ok_or_else(|| DecodeError::new(path, "expected a name, found none"));
        let kind = match &*event.ph.0 {
            b"B" => Kind::Begin(begun()?),
            b"E" => Kind::End(location),
            _ => {
                let Some(dur) = event.dur else {
                    return Err(DecodeError::new(
                        format!("{path}.dur"),
                        "expected microseconds, found none",
                    ));
                };
                let took = dur.weight(1000, || format!("{path}.dur"))?;
                let end = at.checked_add(took).ok_or_else(|| too_late("dur"))?;
                Kind::Complete(begun()?, end)
            }
        };
        Ok(Change {
            at,
            kind,
            event: ix,
        })
    }

    fn location(&mut self, name: &Text<'_>) -> Built<LocationIx> {
        let (symbol, file, line) = name_and_source(&name.0);
        let frame = NamedFrame {
            symbol,
            file,
            line,
            ..NamedFrame::default()
        };
        frame.add(&mut self.builder)
    }
}

/// The parts of `work (/srv/work.py:12)`, as VizTracer names calls.
fn name_and_source(name: &[u8]) -> (&[u8], &[u8], u32) {
    let parts = || {
        let start = memchr::memmem::rfind(name, b" (")?;
        let source = name[start + 2..].strip_suffix(b")")?;
        let colon = memchr::memrchr(b':', source)?;
        let line = std::str::from_utf8(&source[colon + 1..])
            .ok()?
            .parse()
            .ok()?;
        Some((&name[..start], &source[..colon], line))
    };
    parts().unwrap_or((name, b"", 0))
}

/// The open calls of a thread, outermost first.
struct Nested<'t> {
    spans: Spans,
    open: Vec<Open>,
    builder: &'t mut RecordingBuilder,
}

struct Open {
    end: u64,
    /// The earliest end of the call and of those that it stands in.
    earliest: u64,
}

impl Nested<'_> {
    /// Begins a call that begins no earlier than the one before.
    fn begin(&mut self, call: &Call, misfits: &mut Misfits) -> Built<()> {
        self.advance(call.begin)?;
        let around = self.open.last().map_or(u64::MAX, |open| open.earliest);
        misfits.outlasting += usize::from(around < call.end);
        self.spans.open(call.location);
        self.open.push(Open {
            end: call.end,
            earliest: around.min(call.end),
        });
        Ok(())
    }

    /// Goes on to a time; calls that end until then are ended.
    fn advance(&mut self, to: u64) -> Built<()> {
        while let Some(last) = self.open.last()
            && last.earliest <= to
        {
            let (end, is_last) = (last.earliest, last.end == last.earliest);
            self.spans.advance(end, self.builder)?;
            match is_last {
                true => {
                    self.spans.close();
                    self.open.pop();
                }
                false => self.end_within(end)?,
            }
        }
        self.spans.advance(to, self.builder)
    }

    /// Ends the calls that end at a time although calls within them go on.
    fn end_within(&mut self, at: u64) -> Built<()> {
        let open = &mut self.open;
        let first = open.partition_point(|call| call.earliest > at);
        let is_kept = |depth: usize| open[depth].end > at;
        self.spans.keep(first, is_kept, self.builder)?;
        let mut earliest = first
            .checked_sub(1)
            .map_or(u64::MAX, |last| open[last].earliest);
        for call in open.split_off(first) {
            if call.end > at {
                earliest = earliest.min(call.end);
                open.push(Open { earliest, ..call });
            }
        }
        Ok(())
    }
}

/// How often events do not fit together.
#[derive(Default)]
struct Misfits {
    open: usize,
    ends: usize,
    ended_with_caller: usize,
    outlasting: usize,
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
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
