//! Calls in a trace: complete events (`X`), and such that begin and end (`B`, `E`).

use super::{Event, Recorder};
use crate::formats::json::{Damage, Id, Spans, Text};
use crate::formats::named::NamedStacks;
use crate::formats::{LocationIx, Sample, kind_by_names};
use crate::model::Frame;
use crate::symbolize::source_path;
use hashbrown::HashMap;
use std::cmp::Reverse;

/// What happens in a thread.
struct Change {
    /// Nanoseconds from the first event of the trace.
    at: u64,
    kind: Kind,
    /// Place of the event in the file.
    event: usize,
}

#[derive(Clone, Copy)]
enum Kind {
    Begin(LocationIx),
    /// With the time of its end.
    Complete(LocationIx, u64),
    /// Of a call of this name, if it is told.
    End(Option<LocationIx>),
}

/// Adds what each stack of calls took; says in sentences what does not fit together.
pub(super) fn add<'b>(
    events: &[Event<'b>],
    at: &dyn Fn(usize) -> String,
    trace: &mut Recorder<'b>,
) -> Result<Vec<String>, Damage> {
    let mut by_thread: HashMap<(&Id, &Id), usize> = HashMap::new();
    let mut threads: Vec<((&Id, &Id), Vec<Change>)> = Vec::new();
    for (ix, event) in events.iter().enumerate() {
        if !matches!(&*event.ph.0, b"B" | b"E" | b"X") {
            continue;
        }
        let change = trace.change(event, ix, &at(ix))?;
        let key = (&event.pid, &event.tid);
        let place = *by_thread.entry(key).or_insert(threads.len());
        if place == threads.len() {
            threads.push((key, Vec::new()));
        }
        threads[place].1.push(change);
    }
    if threads.is_empty() {
        return Ok(Vec::new());
    }
    let sample_type = trace.sample_type("spans");
    let mut misfits = Misfits::default();
    for ((pid, tid), mut changes) in threads {
        let thread = trace.thread(pid, tid);
        // Of calls that begin at once, the longer one made the others.
        changes.sort_by_key(|change| {
            let end = match change.kind {
                Kind::Complete(_, end) => end,
                Kind::Begin(_) | Kind::End(_) => 0,
            };
            (change.at, Reverse(end))
        });
        let mut calls = Calls {
            spans: Spans::new(thread, sample_type, true),
            ends: Vec::new(),
            named: &mut trace.named,
            samples: &mut trace.samples,
        };
        for change in changes {
            let done = calls.apply(&change, &mut misfits);
            done.map_err(|limit| Damage::limit(at(change.event))(limit))?;
        }
        let last = calls.ends.iter().flatten().max().copied();
        let ended = calls.advance(last.unwrap_or(0));
        ended.map_err(Damage::limit("the end of the trace"))?;
        misfits.open += calls.ends.len();
    }
    Ok(misfits.warnings())
}

impl<'b> Recorder<'b> {
    fn change(&mut self, event: &Event<'b>, ix: usize, path: &str) -> Result<Change, Damage> {
        let since = event.time(path)? - self.zero;
        let too_late = |place: &str| {
            Damage::new(
                format!("{path}.{place}"),
                "expected times within 500 years of each other",
            )
        };
        let at = u64::try_from(since).map_err(|_| too_late("ts"))?;
        let location = match &event.name {
            Some(name) => Some(self.location(name).map_err(Damage::limit(path))?),
            None => None,
        };
        let begun = || location.ok_or_else(|| Damage::new(path, "expected a name, found none"));
        let kind = match &*event.ph.0 {
            b"B" => Kind::Begin(begun()?),
            b"E" => Kind::End(location),
            _ => {
                let Some(dur) = event.dur else {
                    return Err(Damage::new(
                        format!("{path}.dur"),
                        "expected microseconds, found none",
                    ));
                };
                let took = dur.weight(1000);
                let took = took.map_err(|problem| Damage::new(format!("{path}.dur"), problem))?;
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

    fn location(&mut self, name: &Text<'_>) -> Result<LocationIx, String> {
        let (name, file, line) = name_and_place(&name.0);
        let symbol = self.named.text(match name {
            b"" => b"[unknown]",
            name => name,
        });
        let file = self.named.text(file);
        self.named.frame_at_line(Frame {
            module: "",
            kind: kind_by_names(&symbol, ""),
            symbol: &symbol,
            file: &source_path(&file),
            line,
        })
    }
}

/// The parts of `work (/srv/work.py:12)`, as VizTracer names calls.
fn name_and_place(name: &[u8]) -> (&[u8], &[u8], u32) {
    let parts = || {
        let start = memchr::memmem::rfind(name, b" (")?;
        let place = name[start + 2..].strip_suffix(b")")?;
        let colon = memchr::memrchr(b':', place)?;
        let line = std::str::from_utf8(&place[colon + 1..])
            .ok()?
            .parse()
            .ok()?;
        Some((&name[..start], &place[..colon], line))
    };
    parts().unwrap_or((name, b"", 0))
}

/// The open calls of a thread.
struct Calls<'t> {
    spans: Spans,
    /// By open call, when it ends, if that is known.
    ends: Vec<Option<u64>>,
    named: &'t mut NamedStacks,
    samples: &'t mut Vec<Sample>,
}

impl Calls<'_> {
    fn apply(&mut self, change: &Change, misfits: &mut Misfits) -> Result<(), String> {
        self.advance(change.at)?;
        match change.kind {
            Kind::Begin(location) => {
                self.spans.open(location);
                self.ends.push(None);
            }
            Kind::Complete(location, end) => {
                let latest = self.ends.iter().rev().find_map(|end| *end);
                misfits.overlapping += usize::from(latest.is_some_and(|latest| latest < end));
                self.spans.open(location);
                self.ends
                    .push(Some(latest.map_or(end, |latest| latest.min(end))));
            }
            Kind::End(named) => {
                let is_it = self.ends.last() == Some(&None)
                    && named.is_none_or(|named| self.spans.top() == Some(named));
                if !is_it {
                    misfits.ends += 1;
                    return Ok(());
                }
                self.spans.close();
                self.ends.pop();
            }
        }
        Ok(())
    }

    /// Goes on to a time; calls that end before it are ended.
    fn advance(&mut self, to: u64) -> Result<(), String> {
        while let Some(&Some(end)) = self.ends.last()
            && end <= to
        {
            self.spans.advance(end, self.named, self.samples)?;
            self.spans.close();
            self.ends.pop();
        }
        self.spans.advance(to, self.named, self.samples)
    }
}

/// How often events do not fit together.
#[derive(Default)]
struct Misfits {
    open: usize,
    ends: usize,
    overlapping: usize,
}

impl Misfits {
    fn warnings(&self) -> Vec<String> {
        let all = [
            (
                self.open,
                "calls begin and do not end; they are taken to last up to the last event of their thread",
            ),
            (
                self.ends,
                "events end a call that is not the last one that began in their thread; they were left out",
            ),
            (
                self.overlapping,
                "calls last longer than those that made them; they are taken to end with these",
            ),
        ];
        let some = all.into_iter().filter(|&(count, _)| count > 0);
        some.map(|(count, what)| format!("{count} {what}."))
            .collect()
    }
}
