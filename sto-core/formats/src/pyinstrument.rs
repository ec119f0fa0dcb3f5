//! Output of pyinstrument: `-r json`, a call tree with total times, and `-r pyisession`
//! (`Session.save`), the stacks it is built from.
//!
//! A frame in a stack is the function, file and line, separated by zeros, followed by attributes,
//! each after `\u{1}`: `l12` is the executed line. The first frame is the thread.
//!
//! Source: `session.py` and `frame_info.py` of pyinstrument.

use crate::error::{DecodeError, Decoded};
use crate::json::{CallTree, Caller, walk};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx};
use crate::report::{add_to_only_thread, time};
use crate::source::{Head, ReadOptions};
use crate::wire::json::{Number, Text, parse};
use crate::wire::text::decimal;
use hashbrown::HashMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use sto_model::units::{Cost, Nanoseconds, Unit, UnixSeconds};

/// Returns `true` if a file is an object with the keys of a session and its tree.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let keys = head.keys();
    let has = |key: &[u8]| keys.contains(&key);
    has(b"sample_count") && (has(b"root_frame") || has(b"start_call_stack"))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Session<'b> {
    /// `None` if there are no samples.
    root_frame: Option<&'b RawValue>,
    /// Stacks with their durations.
    #[serde(default)]
    frame_records: Vec<&'b RawValue>,
    /// Seconds since 1970.
    start_time: Option<Number>,
    /// Seconds, like the other times.
    duration: Option<Number>,
    #[serde(default)]
    target_description: Option<Text<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Frame<'b> {
    function: Text<'b>,
    #[serde(default)]
    file_path: Option<Text<'b>>,
    line_no: Option<i64>,
    /// Including the time of its children.
    time: Number,
}

const NANOSECONDS: u64 = 1_000_000_000;

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let session: Session<'_> = parse(bytes)?;
    let mut builder = options.builder();
    if let Some(root) = session.root_frame {
        add_tree(bytes, root, &mut builder)?;
    }
    let wall = builder.sample_type("wall", Unit::Nanoseconds);
    add_records(&session.frame_records, wall, &mut builder)?;
    let whole = |time: Option<Number>, factor: u64| {
        time.and_then(|time| time.multiply(factor))
            .and_then(|time| u64::try_from(time).ok())
    };
    builder.origin.duration = whole(session.duration, NANOSECONDS).map(Nanoseconds);
    builder.origin.recorded = whole(session.start_time, 1).map(UnixSeconds);
    let target = session
        .target_description
        .map(|text| builder.text(&text.0).into_owned());
    builder.origin.command = target.filter(|target| !target.is_empty());
    Ok(builder)
}

/// Adds a stack for each call with self time.
fn add_tree(bytes: &[u8], root: &RawValue, builder: &mut RecordingBuilder) -> Decoded<()> {
    let mut tree = CallTree::default();
    // For each entry, its time without its children, and the number of children.
    let mut own: Vec<(u64, u64)> = Vec::new();
    walk(bytes, root, |frame: Frame<'_>, caller| {
        let file = frame.file_path.as_ref().map_or(&b""[..], |file| &file.0);
        let file = if file == BUILT_IN { b"" } else { file };
        let named = NamedFrame {
            symbol: &frame.function.0,
            file,
            line: frame
                .line_no
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0),
            ..NamedFrame::default()
        };
        let location = named.add(builder).map_err(DecodeError::at("root_frame"))?;
        // A child `[self]` is self time.
        let is_self = *frame.function.0 == *b"[self]";
        let location = (!is_self).then_some(location);
        let time = frame.time.weight(NANOSECONDS, || "time".to_owned())?;
        if let Some(caller) = caller {
            let (of_caller, children): &mut (u64, u64) = &mut own[caller as usize];
            // The times are rounded.
            *of_caller = of_caller.saturating_sub(time);
            *children += 1;
        }
        own.push((time, 0));
        Ok(tree.push(Caller { caller, location }))
    })?;
    for (entry, (own, children)) in (0..).zip(own) {
        // Ignore what only comes from rounding.
        if own >= children * 1000 && own > 0 {
            let stack = tree.stack(entry, builder);
            let added = stack.and_then(|stack| add_to_only_thread(builder, 0, stack, time(own)));
            added.map_err(DecodeError::at("root_frame"))?;
        }
    }
    Ok(())
}

/// Adds the stacks in order; the time of each is the sum of the durations before it.
fn add_records(
    records: &[&RawValue],
    wall: SampleTypeIx,
    builder: &mut RecordingBuilder,
) -> Decoded<()> {
    let mut known = HashMap::new();
    let mut locations = Vec::new();
    let mut now: u64 = 0;
    for (ix, record) in records.iter().enumerate() {
        let at = || format!("frame_records[{ix}]");
        let (frames, time): (Vec<Text<'_>>, Number) = parse(record.get().as_bytes())?;
        let time = time.weight(NANOSECONDS, at)?;
        let mut thread = None;
        locations.clear();
        for Text(frame) in &frames {
            let parts = FrameParts::parse(frame);
            if parts.file == b"<thread>" {
                let name = builder.text(parts.symbol).into_owned();
                thread = Some(name);
                continue;
            }
            let location = match known.get(&**frame) {
                Some(&location) => location,
                None => {
                    let location = parts.add(builder).map_err(DecodeError::at(at()))?;
                    known.insert(frame.to_vec(), location);
                    location
                }
            };
            locations.push(location);
        }
        let process = builder.process(0, "");
        let thread = builder.thread_unchecked(process, 0, &thread.unwrap_or_default());
        let stack = builder.stack(&locations).map_err(DecodeError::at(at()))?;
        let cost = Cost {
            samples: 1,
            value: time,
        };
        builder.push((thread, wall), stack, Some(Nanoseconds(now)), cost);
        now = now.saturating_add(time);
    }
    Ok(())
}

struct FrameParts<'b> {
    symbol: &'b [u8],
    file: &'b [u8],
    line: u32,
}

impl<'b> FrameParts<'b> {
    fn parse(frame: &'b [u8]) -> FrameParts<'b> {
        let mut parts = frame.split(|&byte| byte == 1);
        let mut identity = parts.next().unwrap_or_default().split(|&byte| byte == 0);
        let symbol = identity.next().unwrap_or_default();
        let file = identity.next().unwrap_or_default();
        let line = parts.find_map(|mark| decimal(mark.strip_prefix(b"l")?));
        let line = line.or_else(|| decimal(identity.next()?));
        FrameParts {
            symbol,
            file: if file == BUILT_IN { b"" } else { file },
            line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
        }
    }

    fn add(&self, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let frame = NamedFrame {
            symbol: self.symbol,
            file: self.file,
            line: self.line,
            ..NamedFrame::default()
        };
        frame.add(builder)
    }
}

const BUILT_IN: &[u8] = b"<built-in>";
