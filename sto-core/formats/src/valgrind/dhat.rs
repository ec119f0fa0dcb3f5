//! DHAT's profiles in JSON: allocated, copied or counted blocks by stack.
//!
//! Source: `dhat/dh_main.c` of Valgrind, which describes the file; <https://docs.rs/dhat>, which
//! also writes it.

use super::{Place, stack};
use crate::error::{DecodeError, Decoded};
use crate::recording::{RecordingBuilder, process_name};
use crate::report::add_to_only_thread;
use crate::source::Head;
use crate::wire::json::{Text, entry, parse};
use serde::Deserialize;
use sto_model::limits::MAX_NAME;
use sto_model::units::{Cost, Unit};

pub(crate) fn matches(head: &Head<'_>) -> bool {
    head.keys().contains(&&b"dhatFileVersion"[..])
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Profile<'b> {
    #[serde(rename = "dhatFileVersion")]
    version: u64,
    /// The unit of blocks; bytes if missing.
    #[serde(rename = "bsu", default)]
    unit: Option<Text<'b>>,
    #[serde(rename = "cmd", default)]
    command: Text<'b>,
    #[serde(default)]
    pid: u32,
    #[serde(rename = "pps")]
    points: Vec<Point>,
    #[serde(rename = "ftbl")]
    frames: Vec<Text<'b>>,
}

#[derive(Deserialize)]
struct Point {
    #[serde(rename = "tb")]
    bytes: u64,
    #[serde(rename = "tbk")]
    blocks: u64,
    #[serde(rename = "gb", default)]
    peak_bytes: u64,
    #[serde(rename = "gbk", default)]
    peak_blocks: u64,
    #[serde(rename = "eb", default)]
    end_bytes: u64,
    #[serde(rename = "ebk", default)]
    end_blocks: u64,
    #[serde(rename = "rb", default)]
    read: u64,
    #[serde(rename = "wb", default)]
    written: u64,
    /// Leaf first.
    #[serde(rename = "fs")]
    frames: Vec<i64>,
}

pub(crate) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    if profile.version != 2 {
        return Err(DecodeError::unsupported(format!(
            "a profile of DHAT in version {}; version 2 is read, which Valgrind 3.17 and later write",
            profile.version
        )));
    }
    let mut builder = RecordingBuilder::with_file_size(bytes.len());
    let places = profile.frames.iter().map(|text| Place::parse(&text.0));
    let places: Vec<Place<'_>> = places.collect();
    for (index, point) in profile.points.iter().enumerate() {
        let at = || format!("pps[{index}]");
        let leaf_first = point.frames.iter();
        let leaf_first = leaf_first
            .map(|&frame| entry(&places, frame, "ftbl", || format!("{}.fs", at())).copied());
        let leaf_first: Vec<Place<'_>> = leaf_first.collect::<Decoded<_>>()?;
        let added = stack(&leaf_first, None, &mut builder).and_then(|stack| {
            let counted = [
                (point.blocks, point.bytes),
                (point.peak_blocks, point.peak_bytes),
                (point.end_blocks, point.end_bytes),
                (u64::from(point.read > 0), point.read),
                (u64::from(point.written > 0), point.written),
            ];
            for ((samples, value), sample_type) in counted.into_iter().zip(0..) {
                add_to_only_thread(&mut builder, sample_type, stack, Cost { samples, value })?;
            }
            Ok(())
        });
        added.map_err(DecodeError::at(at()))?;
    }
    let unit = match profile.unit {
        Some(unit) if *unit.0 != *b"bytes" => Unit::Events,
        _ => Unit::Bytes,
    };
    for name in ["allocated", "peak", "at-end", "reads", "writes"] {
        builder.sample_type(name, unit);
    }
    let command = builder.text(&profile.command.0).into_owned();
    let program = command.split(' ').next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or_default();
    let process = builder.process(profile.pid, &process_name(program.as_bytes()));
    builder.new_thread(process, profile.pid, "");
    builder.origin().command =
        (command.len() <= MAX_NAME && !command.is_empty()).then_some(command);
    Ok(builder)
}
