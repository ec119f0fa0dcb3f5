//! Reports of stackprof in JSON.

use super::{Frame, Report};
use crate::error::{DecodeError, Decoded};
use crate::source::Head;
use crate::wire::json::{Number, Text, parse};
use serde::Deserialize;
use std::collections::BTreeMap;

/// Returns `true` if a file is an object with the keys of a report.
pub(super) fn matches(head: &Head<'_>) -> bool {
    head.has_keys(["mode", "interval", "samples", "frames"])
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Written<'b> {
    mode: Text<'b>,
    interval: Number,
    #[serde(default)]
    missed_samples: u64,
    frames: BTreeMap<String, WrittenFrame<'b>>,
    raw: Option<Vec<u64>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct WrittenFrame<'b> {
    #[serde(default)]
    name: Option<Text<'b>>,
    #[serde(default)]
    file: Option<Text<'b>>,
    line: Option<i64>,
    #[serde(default)]
    samples: u64,
    #[serde(default)]
    edges: BTreeMap<String, u64>,
    /// Total and self samples by line.
    #[serde(default)]
    lines: BTreeMap<String, (u64, u64)>,
}

pub(super) fn read(bytes: &[u8]) -> Decoded<Report<'_>> {
    let written: Written<'_> = parse(bytes)?;
    let frames = written.frames.into_iter();
    let frames = frames.map(|(id, frame)| Ok((number(&id, "frames")?, frame.read()?)));
    Ok(Report {
        mode: written.mode.0,
        interval: written.interval,
        missed_samples: written.missed_samples,
        frames: frames.collect::<Decoded<_>>()?,
        raw: written.raw,
    })
}

impl<'b> WrittenFrame<'b> {
    fn read(self) -> Decoded<Frame<'b>> {
        let edges = self.edges.iter();
        let edges = edges.map(|(id, &samples)| Ok((number(id, "edges")?, samples)));
        let lines = self.lines.iter();
        let lines = lines.map(|(line, &(_, own))| Ok((line_of(number(line, "lines")?), own)));
        Ok(Frame {
            name: self.name.unwrap_or_default().0,
            file: self.file.unwrap_or_default().0,
            line: self
                .line
                .map_or(0, |line| u64::try_from(line).map_or(0, line_of)),
            samples: self.samples,
            edges: edges.collect::<Decoded<_>>()?,
            lines: lines.collect::<Decoded<_>>()?,
        })
    }
}

fn line_of(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(0)
}

fn number(key: &str, of: &str) -> Decoded<u64> {
    let number = key.parse();
    number.map_err(|_| DecodeError::new(of, format!("the key {key:?}; expected a number")))
}
