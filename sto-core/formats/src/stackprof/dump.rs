//! Reports of stackprof in Ruby's `Marshal` format.

use super::{Frame, Report};
use crate::error::{DecodeError, Decoded};
use crate::source::Head;
use crate::wire::json::Number;
use crate::wire::ruby::{MAGIC, Marshalled, Value, ValueIx};
use std::borrow::Cow;

/// Number of bytes searched for the keys at the beginning of a report.
const JUDGED: usize = 256;

/// Returns `true` if a file is a hash with the keys of a report.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let start = &head.bytes[..head.bytes.len().min(JUDGED)];
    let has = |symbol: &[u8]| memchr::memmem::find(start, symbol).is_some();
    start.starts_with(MAGIC)
        && start.get(MAGIC.len()) == Some(&b'{')
        && has(b":\x09mode")
        && has(b":\x0dinterval")
}

pub(super) fn read(bytes: &[u8]) -> Decoded<Report<'_>> {
    let file = Marshalled::read(bytes)?;
    let report = entries(&file, file.root)?;
    let find = |key: &[u8]| find(&file, report, key);
    let interval = match find(b"interval").map(|interval| file.get(interval)) {
        Some(Value::Whole(number)) => Number::Whole(*number),
        Some(Value::Fraction(number)) => Number::Fraction(*number),
        // Of samples taken by the program itself.
        _ => Number::Whole(0),
    };
    let frames = find(b"frames").ok_or_else(|| unexpected("frames"))?;
    let frames = entries(&file, frames)?.iter();
    let frames = frames.map(|&(id, frame)| Ok((whole(&file, id)?, read_frame(&file, frame)?)));
    let raw = find(b"raw").map(|raw| match file.get(raw) {
        Value::Array(values) => values.iter().map(|&value| whole(&file, value)).collect(),
        _ => Err(unexpected("an array of stacks")),
    });
    Ok(Report {
        mode: text(&file, find(b"mode")),
        interval,
        missed_samples: find(b"missed_samples").map_or(Ok(0), |count| whole(&file, count))?,
        frames: frames.collect::<Decoded<_>>()?,
        raw: raw.transpose()?,
    })
}

fn read_frame<'b>(file: &Marshalled<'b>, frame: ValueIx) -> Decoded<Frame<'b>> {
    let frame = entries(file, frame)?;
    let find = |key: &[u8]| find(file, frame, key);
    let line = find(b"line").and_then(|line| whole(file, line).ok());
    let by_number = |key: &[u8]| find(key).map_or(Ok(&[][..]), |hash| entries(file, hash));
    let edges = by_number(b"edges")?.iter();
    let edges = edges.map(|&(id, samples)| Ok((whole(file, id)?, whole(file, samples)?)));
    let lines = by_number(b"lines")?.iter();
    let lines = lines.map(|&(line, samples)| match file.get(samples) {
        // The total samples at a line, then its self samples.
        Value::Array(samples) if samples.len() == 2 => {
            Ok((line_of(whole(file, line)?), whole(file, samples[1])?))
        }
        _ => Err(unexpected("two numbers of samples of a line")),
    });
    Ok(Frame {
        name: text(file, find(b"name")),
        file: text(file, find(b"file")),
        line: line.map_or(0, line_of),
        samples: find(b"samples").map_or(Ok(0), |samples| whole(file, samples))?,
        edges: edges.collect::<Decoded<_>>()?,
        lines: lines.collect::<Decoded<_>>()?,
    })
}

fn line_of(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(0)
}

fn unexpected(expected: &str) -> DecodeError {
    DecodeError::unsupported(format!(
        "a dump of stackprof with another structure: expected {expected}; write it by `StackProf.run(out: FILE)`"
    ))
}

fn entries<'f>(file: &'f Marshalled<'_>, value: ValueIx) -> Decoded<&'f [(ValueIx, ValueIx)]> {
    match file.get(value) {
        Value::Hash(entries) => Ok(entries),
        _ => Err(unexpected("a hash")),
    }
}

fn find(file: &Marshalled<'_>, hash: &[(ValueIx, ValueIx)], key: &[u8]) -> Option<ValueIx> {
    let found = hash
        .iter()
        .find(|(name, _)| *file.get(*name) == Value::Text(key));
    found.map(|&(_, value)| value)
}

fn whole(file: &Marshalled<'_>, value: ValueIx) -> Decoded<u64> {
    match *file.get(value) {
        Value::Whole(number) => Ok(number),
        _ => Err(unexpected("a number of 0 or more")),
    }
}

fn text<'b>(file: &Marshalled<'b>, value: Option<ValueIx>) -> Cow<'b, [u8]> {
    match value.map(|value| file.get(value)) {
        Some(Value::Text(text)) => Cow::Borrowed(text),
        _ => Cow::default(),
    }
}
