//! What `pyinstrument -r json` writes: a tree of calls with the time of each, and of what it called.

use super::error::{DecodeError, Decoded};
use super::json::{CallTree, Caller, Parent, walk};
use super::names::NamedFrame;
use super::report::{one_thread, time};
use super::source::Head;
use super::wire::json::{Number, Text, first_keys, parse};
use crate::recording::RecordingBuilder;
use crate::units::{Nanoseconds, Unit, UnixSeconds};
use serde::Deserialize;
use serde_json::value::RawValue;

/// Whether a file is an object with what a session has, and its tree.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let keys = first_keys(head.bytes);
    [&b"root_frame"[..], b"sample_count"]
        .iter()
        .all(|key| keys.contains(key))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Session<'b> {
    /// `None` where no sample was taken.
    root_frame: Option<&'b RawValue>,
    /// Seconds since 1970.
    start_time: Option<Number>,
    /// Seconds, as are other times.
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
    /// With that of its children.
    time: Number,
    #[serde(default)]
    children: Vec<&'b RawValue>,
}

/// Of a frame, what its caller needs to know of it.
#[derive(Deserialize)]
struct Timed {
    time: Number,
}

impl<'b> Parent<'b> for Frame<'b> {
    fn children(&self) -> &[&'b RawValue] {
        &self.children
    }
}

const NANOSECONDS: u64 = 1_000_000_000;

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let session: Session<'_> = parse(bytes)?;
    let mut builder = RecordingBuilder::default();
    let mut tree = CallTree::default();
    let weight = |time: Number| time.weight(NANOSECONDS, || "time".to_owned());
    if let Some(root) = session.root_frame {
        walk(bytes, root, |frame: Frame<'_>, caller| {
            let file = frame.file_path.as_ref().map_or(&b""[..], |file| &file.0);
            let file = if file == b"<built-in>" { b"" } else { file };
            let named = NamedFrame {
                symbol: &frame.function.0,
                file,
                line: frame
                    .line_no
                    .and_then(|line| u32::try_from(line).ok())
                    .unwrap_or(0),
                ..NamedFrame::default()
            };
            let location = named
                .add(&mut builder)
                .map_err(DecodeError::at("root_frame"))?;
            // Its own time may be such a child, too.
            let is_self = *frame.function.0 == *b"[self]";
            let location = (!is_self).then_some(location);
            let entry = tree.push(Caller { caller, location });
            let mut own = weight(frame.time)?;
            for child in &frame.children {
                let child: Timed = parse(child.get().as_bytes())?;
                // They are rounded.
                own = own.saturating_sub(weight(child.time)?);
            }
            // So that what is left of rounding is no sample.
            if own >= frame.children.len() as u64 * 1000 && own > 0 {
                let stack = tree.stack(entry, &mut builder);
                let added = stack.and_then(|stack| one_thread(&mut builder, 0, stack, time(own)));
                added.map_err(DecodeError::at("root_frame"))?;
            }
            Ok(entry)
        })?;
    }
    builder.sample_type("wall", Unit::Nanoseconds);
    let whole = |time: Option<Number>, factor: u64| {
        time.and_then(|time| time.times(factor))
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
