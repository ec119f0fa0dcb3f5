//! Profiles of Hermes, React Native's engine: samples that refer to a call tree, in an object for
//! Chrome's trace events.
//!
//! Source: `lib/VM/Profiler/ChromeTraceSerializer.cpp` of Hermes; "Trace Event Format", *JSON
//! Object Format* (`stackFrames`, `samples`).

use crate::chrome::{Event, Names};
use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use crate::source::{Head, ReadOptions};
use crate::v8;
use crate::v8::split_trailing_number;
use crate::wire::json::{Id, Text, parse};
use crate::wire::text::{decimal, excerpt};
use hashbrown::HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// Returns `true` if an object of trace events also has samples.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.has_keys(["traceEvents", "samples"])
        && memchr::memmem::find(head.bytes, b"\"sf\"").is_some()
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Profile<'b> {
    /// Only metadata events are read: names of processes and threads.
    trace_events: Vec<Event<'b>>,
    samples: Vec<Sample>,
    stack_frames: BTreeMap<String, Frame<'b>>,
}

#[derive(Deserialize)]
struct Sample {
    /// Microseconds.
    ts: Id,
    #[serde(default)]
    pid: Id,
    #[serde(default)]
    tid: Id,
    /// The innermost frame.
    sf: Id,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Frame<'b> {
    #[serde(default)]
    name: Text<'b>,
    #[serde(default)]
    parent: Option<Id>,
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    let mut builder = options.builder();
    let ids = profile.stack_frames.keys().map(String::as_str);
    let entry_of: HashMap<&str, u32> = ids.zip(0..).collect();
    let mut entries = Vec::with_capacity(entry_of.len());
    for (id, frame) in &profile.stack_frames {
        let at = || format!("stackFrames.{id}");
        let caller = frame.parent.as_ref().map(|parent| {
            let entry = entry_of.get(parent.0.as_str()).copied();
            entry.ok_or_else(|| no_frame(format!("{}.parent", at()), parent))
        });
        let location = place(frame, &mut builder).map_err(DecodeError::at(at()))?;
        entries.push(Caller {
            caller: caller.transpose()?,
            location: Some(location),
        });
    }
    let mut tree = CallTree::new(entries);
    let mut names = Names::default();
    for (ix, event) in profile.trace_events.iter().enumerate() {
        names.add(event, &|| format!("traceEvents[{ix}]"))?;
    }
    let mut first = None;
    for (ix, sample) in profile.samples.iter().enumerate() {
        let at = |key: &str| format!("samples[{ix}].{key}");
        let time = decimal(sample.ts.0.as_bytes()).ok_or_else(|| {
            let problem = format!("{}; expected microseconds", excerpt(sample.ts.0.as_bytes()));
            DecodeError::new(at("ts"), problem)
        })?;
        let since = time.saturating_sub(*first.get_or_insert(time));
        let entry = entry_of.get(sample.sf.0.as_str());
        let &entry = entry.ok_or_else(|| no_frame(at("sf"), &sample.sf))?;
        let thread = names.thread(&sample.pid.0, &sample.tid.0, &mut builder);
        let stack = tree.stack(entry, &mut builder);
        let stack = stack.map_err(DecodeError::at(at("sf")))?;
        let time = Nanoseconds(since.saturating_mul(1000));
        builder.push(
            (thread, SampleTypeIx(0)),
            stack,
            Some(time),
            Cost::from_count(1),
        );
    }
    builder.sample_type("samples", Unit::Samples);
    Ok(builder)
}

fn no_frame(at: String, id: &Id) -> DecodeError {
    let problem = format!(
        "{}; expected the id of a frame in `stackFrames`",
        excerpt(id.0.as_bytes())
    );
    DecodeError::new(at, problem)
}

/// `work(http://localhost:8081/index.bundle:17:3)`, `[GC Young Gen]`, `[root]`.
fn place(frame: &Frame<'_>, builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let name = &*frame.name.0;
    let place = memchr::memchr(b'(', name).and_then(|at| {
        let place = name[at + 1..].strip_suffix(b")")?;
        let (place, _column) = split_trailing_number(place)?;
        let (file, line) = split_trailing_number(place)?;
        Some((&name[..at], file, line))
    });
    let (symbol, file, line) = place.unwrap_or((name, b"", 0));
    let frame = NamedFrame {
        kind: Some(FrameKind::Interpreted),
        ..v8::function(symbol, file, line)
    };
    frame.add(builder)
}
