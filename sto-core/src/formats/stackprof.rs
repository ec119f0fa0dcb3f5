//! The JSON of Ruby's stackprof (`stackprof --json`, `StackProf::Report#print_json`), recorded with `raw: true`: frames
//! by id, and stacks with how often each was seen.

use super::error::{DecodeError, Decoded};
use super::names::NamedFrame;
use super::report::one_thread;
use super::source::Head;
use super::wire::json::{Number, Text, first_keys, parse};
use crate::recording::{LocationIx, RecordingBuilder};
use crate::units::{Cost, Unit};
use hashbrown::HashMap;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Whether a file is an object with what a report has.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let keys = first_keys(head.bytes);
    [&b"mode"[..], b"interval", b"samples", b"frames"]
        .iter()
        .all(|key| keys.contains(key))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Report<'b> {
    mode: Text<'b>,
    /// Microseconds of time, or objects, from a sample to the next.
    interval: Number,
    #[serde(default)]
    missed_samples: u64,
    frames: BTreeMap<String, Frame<'b>>,
    /// Of each stack how many frames it has, their ids from the root, and how often it was seen.
    raw: Option<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Frame<'b> {
    #[serde(default)]
    name: Option<Text<'b>>,
    #[serde(default)]
    file: Option<Text<'b>>,
    line: Option<i64>,
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let report: Report<'_> = parse(bytes)?;
    let mut builder = RecordingBuilder::default();
    let (event, unit, factor) = match &*report.mode.0 {
        b"wall" => ("wall", Unit::Nanoseconds, 1000),
        b"cpu" => ("cpu", Unit::Nanoseconds, 1000),
        b"object" => ("objects", Unit::Events, 1),
        // `StackProf.sample`, called by the program.
        _ => ("samples", Unit::Samples, 0),
    };
    let period = match factor {
        0 => 1,
        factor => report.interval.weight(factor, || "interval".to_owned())?,
    };
    let Some(raw) = report.raw else {
        let problem =
            "there are functions and no stacks; record with `raw: true` (`STACKPROF_RAW=1`)";
        return Err(DecodeError::new("raw", problem));
    };
    let mut frames = Frames {
        written: &report.frames,
        known: HashMap::new(),
    };
    let (mut at, mut stack) = (0, Vec::new());
    while at < raw.len() {
        let end = usize::try_from(raw[at])
            .ok()
            .and_then(|length| (at + 1).checked_add(length));
        let Some((end, &count)) = end.and_then(|end| Some((end, raw.get(end)?))) else {
            let problem = "a stack that ends beyond the list; expected its frames and their count";
            return Err(DecodeError::new(format!("raw[{at}]"), problem));
        };
        stack.clear();
        for (&id, ix) in raw[at + 1..end].iter().zip(at + 1..) {
            stack.push(frames.of(id, ix, &mut builder)?);
        }
        let value = count.checked_mul(period);
        let added = builder.stack(&stack).and_then(|stack| {
            let value = value.ok_or_else(|| "costs of more than 2^64 - 1".to_owned())?;
            let cost = Cost {
                samples: count,
                value,
            };
            one_thread(&mut builder, 0, stack, cost)
        });
        added.map_err(DecodeError::at(format!("raw[{at}]")))?;
        at = end + 1;
    }
    builder.sample_type(event, unit);
    builder.lost = report.missed_samples;
    Ok(builder)
}

struct Frames<'f, 'b> {
    written: &'f BTreeMap<String, Frame<'b>>,
    known: HashMap<u64, LocationIx>,
}

impl Frames<'_, '_> {
    fn of(&mut self, id: u64, at: usize, builder: &mut RecordingBuilder) -> Decoded<LocationIx> {
        if let Some(&known) = self.known.get(&id) {
            return Ok(known);
        }
        let at = || format!("raw[{at}]");
        let frame = self.written.get(&id.to_string());
        let frame = frame
            .ok_or_else(|| DecodeError::new(at(), format!("{id}; expected the id of a frame")))?;
        let text = |text: &Option<Text<'_>>| {
            text.as_ref()
                .map(|text| text.0.to_vec())
                .unwrap_or_default()
        };
        let (symbol, mut file) = (text(&frame.name), text(&frame.file));
        if file == b"<cfunc>" {
            file.clear();
        }
        let named = NamedFrame {
            symbol: &symbol,
            file: &file,
            line: frame
                .line
                .and_then(|line| u32::try_from(line).ok())
                .unwrap_or(0),
            ..NamedFrame::default()
        };
        let location = named.add(builder).map_err(DecodeError::at(at()))?;
        self.known.insert(id, location);
        Ok(location)
    }
}
