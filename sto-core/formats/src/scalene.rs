//! JSON of Scalene (`scalene run`), a profiler of Python: stacks with shares of time and allocated
//! memory.
//!
//! Source: `scalene_json.py` of Scalene 2.

use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder};
use crate::report::{add_to_only_thread, cost_per_unit};
use crate::source::Head;
use crate::wire::json::{Number, Text, parse};
use crate::wire::text::{base_name, decimal, excerpt};
use hashbrown::HashMap;
use serde::Deserialize;
use sto_model::units::{Cost, Nanoseconds, Unit, UnixSeconds};

/// Returns `true` if a file is an object with the first keys that Scalene writes.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.has_keys(["alloc_samples", "elapsed_time_sec"])
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Profile<'b> {
    elapsed_time_sec: Number,
    /// Seconds since 1970.
    start_time_absolute: Option<Number>,
    #[serde(default)]
    stacks: Vec<(Vec<Text<'b>>, Share)>,
    /// Stacks with allocated MiB.
    #[serde(default)]
    memory_stacks: Vec<(Vec<Frame<'b>>, Number)>,
}

#[derive(Deserialize)]
struct Share {
    count: u64,
    /// Share of all sampled time.
    cpu_samples: Number,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Frame<'b> {
    kind: Text<'b>,
    display_name: Text<'b>,
    filename_or_module: Text<'b>,
    line: Option<u32>,
}

const NANOSECONDS: u64 = 1_000_000_000;

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    if profile.stacks.is_empty() && profile.memory_stacks.is_empty() {
        let problem = "a profile of Scalene without stacks; record with Scalene 2 or newer, and with `--stacks`";
        return Err(DecodeError::unsupported(problem.to_owned()));
    }
    let elapsed = profile
        .elapsed_time_sec
        .weight(NANOSECONDS, || "elapsed_time_sec".to_owned())?;
    let mut builder = RecordingBuilder::default();
    let mut known = HashMap::new();
    let mut stack = Vec::new();
    for (ix, (frames, share)) in profile.stacks.iter().enumerate() {
        let at = || format!("stacks[{ix}]");
        stack.clear();
        for Text(frame) in frames {
            let location = match known.get(&**frame) {
                Some(&location) => location,
                None => {
                    let location = place(frame, &mut builder).map_err(DecodeError::at(at()))?;
                    known.insert(frame.to_vec(), location);
                    location
                }
            };
            stack.push(location);
        }
        let cost = Cost {
            samples: share.count,
            value: share.cpu_samples.weight(elapsed, at)?,
        };
        let added = builder
            .stack(&stack)
            .and_then(|stack| add_to_only_thread(&mut builder, 0, stack, cost));
        added.map_err(DecodeError::at(at()))?;
    }
    builder.sample_type("wall", Unit::Nanoseconds);
    for (ix, (frames, size)) in profile.memory_stacks.iter().enumerate() {
        let at = || format!("memory_stacks[{ix}]");
        let cost = cost_per_unit(1 << 20, size.weight(1 << 20, at)?);
        let memory = builder.sample_type("memory", Unit::Bytes);
        stack.clear();
        for frame in frames {
            let location = frame.add(&mut builder).map_err(DecodeError::at(at()))?;
            stack.push(location);
        }
        let added = builder
            .stack(&stack)
            .and_then(|stack| add_to_only_thread(&mut builder, memory.0, stack, cost));
        added.map_err(DecodeError::at(at()))?;
    }
    builder.origin.duration = Some(Nanoseconds(elapsed));
    let recorded = profile
        .start_time_absolute
        .and_then(|time| time.multiply(1));
    builder.origin.recorded = recorded
        .and_then(|time| u64::try_from(time).ok())
        .map(UnixSeconds);
    Ok(builder)
}

/// A function in a stack: `/home/me/app.py work:12;`.
fn place(frame: &[u8], builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let parts = || {
        let text = frame.strip_suffix(b";").unwrap_or(frame);
        let colon = memchr::memrchr(b':', text)?;
        let space = memchr::memrchr(b' ', &text[..colon])?;
        let line = u32::try_from(decimal(&text[colon + 1..])?).ok()?;
        Some((&text[..space], &text[space + 1..colon], line))
    };
    let (file, symbol, line) = parts().ok_or_else(|| {
        format!(
            "expected a file, a function and a line, as in `app.py work:12;`, found {}",
            excerpt(frame)
        )
    })?;
    let frame = NamedFrame {
        symbol,
        file,
        line,
        ..NamedFrame::default()
    };
    frame.add(builder)
}

impl Frame<'_> {
    fn add(&self, builder: &mut RecordingBuilder) -> Built<LocationIx> {
        let path = &*self.filename_or_module.0;
        let frame = NamedFrame {
            symbol: &self.display_name.0,
            ..NamedFrame::default()
        };
        let frame = match &*self.kind.0 {
            b"py" => NamedFrame {
                file: path,
                line: self.line.unwrap_or(0),
                ..frame
            },
            _ => NamedFrame {
                module: base_name(path),
                ..frame
            },
        };
        frame.add(builder)
    }
}
