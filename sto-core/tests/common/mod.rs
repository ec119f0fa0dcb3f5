//! Helpers of several tests: recordings as text, and symbols of formats that name functions.

pub(crate) mod panics;

use std::fmt::Write;
use std::path::Path;
use sto_core::formats::{FormatError, read_bytes};
use sto_core::model::{Frame, FrameKind};
use sto_core::recording::{Location, Recording, Sample, Thread};
use sto_core::stages::{CodeLine, CodeLineIx, Symbols};

/// Reads text as if it were the file `app.folded`.
pub(crate) fn read_text(text: &str) -> Result<Recording, FormatError> {
    read_bytes(
        Path::new("app.folded"),
        text.as_bytes(),
        &Default::default(),
    )
}

/// Returns the error message of reading these bytes.
#[track_caller]
pub(crate) fn error_of(bytes: &[u8]) -> String {
    read_bytes(Path::new("a/file"), bytes, &Default::default())
        .expect_err("not a recording")
        .to_string()
}

/// A stack's frames, root first, of a recording that names functions.
pub(crate) fn frames_of<'r>(recording: &'r Recording, sample: &Sample) -> Vec<Frame<'r>> {
    let stack = recording.stacks.get(sample.stack);
    stack
        .iter()
        .map(|location| match recording.locations[location.0 as usize] {
            Location::Named(frame) => recording.named.frame(frame),
            other => panic!("not a named frame: {other:?}"),
        })
        .collect()
}

/// Number of locations of the deepest stack.
pub(crate) fn deepest(recording: &Recording) -> usize {
    let stacks = recording.stacks.iter();
    stacks
        .map(|stack| recording.stacks.depth(stack))
        .max()
        .unwrap_or(0)
}

/// Formats the labels of a thread: `key=value key=value`.
pub(crate) fn labels_of(thread: &Thread) -> String {
    let labels = thread.labels.iter();
    let labels = labels.map(|label| format!("{}={}", label.key, label.text()));
    labels.collect::<Vec<_>>().join(" ")
}

/// Samples as folded text, with kinds and modules.
pub(crate) fn folded(recording: &Recording) -> Vec<String> {
    let samples = recording.samples.iter();
    samples
        .map(|sample| {
            let frames = frames_of(recording, sample);
            let frames: Vec<String> = frames.iter().map(show).collect();
            format!("{} {}", frames.join(";"), sample.cost.samples)
        })
        .collect()
}

/// A frame as `symbol`, `module!symbol` and, if it is not plain user code, its kind.
pub(crate) fn show(frame: &Frame<'_>) -> String {
    let mut text = String::new();
    if !frame.module.is_empty() {
        write!(text, "{}!", frame.module).unwrap();
    }
    text.push_str(frame.symbol);
    if frame.kind != FrameKind::User {
        write!(text, " ({})", frame.kind.name()).unwrap();
    }
    text
}

/// The symbols of a recording whose frames are all named: each location is one frame.
pub(crate) fn named_symbols(recording: &Recording) -> Symbols {
    let mut symbols = Symbols {
        frames: recording.named.clone(),
        ..Symbols::default()
    };
    for (ix, location) in recording.locations.iter().enumerate() {
        let &Location::Named(frame) = location else {
            panic!("not a named frame: {location:?}");
        };
        symbols.lines.push(CodeLine { frame, line: 0 });
        symbols.expansion.push(CodeLineIx(ix as u32));
        symbols.ends.push(ix as u32 + 1);
    }
    symbols
}
