//! The JSON of `node --prof-process --preprocess`.

use super::{GARBAGE_COLLECTION, code, function, garbage_collector};
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{Built, Location, LocationIx, RecordingBuilder, SampleTypeIx, ThreadIx};
use crate::source::{Head, ReadOptions};
use crate::wire::json::{Text, parse};
use crate::wire::text::base_name;
use serde::Deserialize;
use sto_model::FrameKind;
use sto_model::units::{Cost, Nanoseconds, Unit};

pub(crate) fn matches(head: &Head<'_>) -> bool {
    // The other keys may come after the examined bytes.
    head.keys().first() == Some(&&b"code"[..])
        && memchr::memmem::find(head.bytes, b"\"SHARED_LIB\"").is_some()
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Log<'b> {
    code: Vec<Code<'b>>,
    ticks: Vec<Tick>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Code<'b> {
    name: Text<'b>,
    #[serde(rename = "type")]
    of: Text<'b>,
    #[serde(default)]
    kind: Text<'b>,
}

#[derive(Deserialize)]
struct Tick {
    /// Microseconds.
    #[serde(rename = "tm")]
    time: u64,
    #[serde(rename = "vm")]
    state: u64,
    /// Leaf first: an index of code and an offset in it, or -1 and an address.
    #[serde(rename = "s")]
    stack: Vec<i64>,
}

pub(crate) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let log: Log<'_> = parse(bytes)?;
    let mut builder = options.builder();
    let mut locations = vec![None; log.code.len()];
    let (thread, ticks) = (ThreadIx(0), SampleTypeIx(0));
    let mut stack = Vec::new();
    for (ix, tick) in log.ticks.iter().enumerate() {
        let at = || format!("ticks[{ix}].s");
        stack.clear();
        for (depth, frame) in tick.stack.chunks(2).enumerate().rev() {
            if depth == 0 && tick.state == GARBAGE_COLLECTION {
                stack.push(garbage_collector(&mut builder).map_err(DecodeError::at(at()))?);
            }
            let id = frame[0];
            let location = match usize::try_from(id) {
                Err(_) if depth > 0 => continue,
                Err(_) => builder.unnamed_location(Location::Unmapped),
                Ok(id) => match (locations.get(id).copied(), log.code.get(id)) {
                    (Some(Some(known)), _) => Ok(known),
                    (_, Some(code)) => {
                        let location = location(code, &mut builder);
                        locations[id] = location.as_ref().ok().copied();
                        location
                    }
                    _ => {
                        return Err(DecodeError::index_out_of_range(
                            at(),
                            "code",
                            log.code.len(),
                            frame[0],
                        ));
                    }
                },
            };
            stack.push(location.map_err(DecodeError::at(at()))?);
        }
        let stack = builder.stack(&stack).map_err(DecodeError::at(at()))?;
        let time = Nanoseconds(tick.time.saturating_mul(1000));
        builder.push((thread, ticks), stack, Some(time), Cost::from_count(1));
    }
    builder.sample_type("ticks", Unit::Samples);
    Ok(builder)
}

fn location(written: &Code<'_>, builder: &mut RecordingBuilder) -> Built<LocationIx> {
    let name = &*written.name.0;
    match (&*written.of.0, &*written.kind.0) {
        (b"JS", b"Unopt") => function(name, FrameKind::Interpreted, builder),
        (b"JS", b"Sparkplug" | b"Baseline") => function(name, FrameKind::JitBaseline, builder),
        (b"JS", _) => function(name, FrameKind::Jit, builder),
        (b"SHARED_LIB", _) => {
            let module = base_name(name);
            let frame = NamedFrame {
                symbol: &[b"[", module, b"]"].concat(),
                module,
                ..NamedFrame::default()
            };
            frame.add(builder)
        }
        (b"CPP", _) => {
            let frame = NamedFrame {
                symbol: name,
                ..NamedFrame::default()
            };
            frame.add(builder)
        }
        (_, kind) => code(kind, name, builder),
    }
}
