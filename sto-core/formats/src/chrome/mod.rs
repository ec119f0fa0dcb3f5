//! Chrome trace events, as an array or in an object: calls that begin and end, V8's samples,
//! and counters.
//!
//! Source: "Trace Event Format", <https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU>.

mod arguments;
mod calls;
mod counters;
mod cut;
mod event;
mod names;
mod profiles;

pub(super) use event::Event;
pub(super) use names::Names;

use crate::error::Decoded;
use crate::recording::RecordingBuilder;
use crate::source::{Head, LineReader, ReadOptions};
use crate::wire::json::{first_keys, syntax};
use calls::Calls;
use counters::Counters;
use cut::Cutter;
use names::Times;
use profiles::Profiles;
use rayon::prelude::*;

/// Returns `true` if a file begins with an event or an object that has events.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let start = head.bytes.trim_ascii_start();
    match start.strip_prefix(b"[") {
        Some(first) => first_keys(first.trim_ascii_start()).contains(&&b"ph"[..]),
        None => head.keys().contains(&&b"traceEvents"[..]),
    }
}

pub(super) fn reader(options: &ReadOptions) -> Box<dyn LineReader> {
    Box::new(Reader {
        cutter: Cutter::default(),
        events: 0,
        allow_truncated: options.allow_truncated,
        names: Names::default(),
        calls: Calls::new(options),
        profiles: Profiles::default(),
        counters: Counters::default(),
        zero: None,
        builder: options.builder(),
    })
}

struct Reader {
    cutter: Cutter,
    /// Number of events so far.
    events: usize,
    allow_truncated: bool,
    names: Names,
    calls: Calls,
    profiles: Profiles,
    counters: Counters,
    /// Time of the first call or sample; times are relative to it.
    zero: Option<i64>,
    builder: RecordingBuilder,
}

/// Number of events per task for a core.
const EVENTS: usize = 1024;

impl LineReader for Reader {
    fn takes_parts_of_lines(&self) -> bool {
        true
    }

    fn block(&mut self, bytes: &[u8]) -> Decoded<()> {
        let cut = self.cutter.block(bytes)?;
        let (held, at) = (self.cutter.bytes(), self.cutter.at());
        let parsed = cut.par_chunks(EVENTS).map(|cut| {
            let event = |cut: &std::ops::Range<usize>| {
                let parsed = serde_json::from_slice::<Event<'_>>(&held[cut.clone()]);
                parsed.map(Event::with_arguments).map_err(|error| {
                    syntax(&held[cut.start..cut.end], cut.start, &error).shift_offset(at)
                })
            };
            cut.iter().map(event).collect::<Decoded<Vec<_>>>()
        });
        let parsed: Vec<Decoded<Vec<Event<'_>>>> = parsed.collect();
        for events in parsed {
            for event in events? {
                let ix = self.events;
                self.events += 1;
                let at = || self.cutter.path(ix);
                let mut times = Times {
                    zero: &mut self.zero,
                    at: &at,
                };
                match event.phase() {
                    b'B' | b'E' | b'X' | b'b' | b'e' => {
                        self.calls.add(&event, &mut times, &mut self.builder)?;
                    }
                    b'P' | b'I' if profiles::is_profile_event(&event) => {
                        self.profiles.add(&event, &mut times, &mut self.builder)?;
                    }
                    b'C' | b'I' => self.counters.add(&event, &at),
                    b'M' => self.names.add(&event, &at)?,
                    _ => {}
                }
            }
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Decoded<RecordingBuilder> {
        let cut = self.cutter.finish(self.allow_truncated)?;
        let zero = self.zero.unwrap_or(0);
        let mut warnings = Vec::new();
        let (builder, names) = (&mut self.builder, &self.names);
        warnings.extend(self.profiles.finish(zero, names, builder)?);
        warnings.extend(self.counters.finish(zero, names, builder));
        warnings.extend(cut);
        let size = self.cutter.size();
        let mut built = self.calls.finish(zero, size, &self.names, self.builder)?;
        built.warnings.extend(warnings);
        Ok(built)
    }
}
