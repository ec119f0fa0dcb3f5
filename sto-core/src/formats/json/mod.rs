//! What the formats that are written in JSON share.
//!
#![doc = include_str!("json.md")]

mod spans;
mod tree;

pub(super) use spans::Spans;
pub(super) use tree::{CallTree, Caller};

use super::error::DecodeError;
use super::source::Source;
use super::wire::json::{Id, Text};
use super::{Format, FormatError};
use crate::id::SourceDigest;
use crate::recording::{Recording, RecordingBuilder, ThreadIx};
use crate::units::Bytes;

/// Reads a file with `build`, and digests it meanwhile.
pub(super) fn recording(
    source: &Source<'_>,
    format: Format,
    build: impl FnOnce(&[u8]) -> Result<RecordingBuilder, DecodeError> + Send,
) -> Result<Recording, FormatError> {
    let &Source { path, bytes, .. } = source;
    let (digest, built) = rayon::join(|| SourceDigest::of(bytes), || build(bytes));
    let built = built.map_err(|error| error.in_file(path, bytes))?;
    Ok(built.finish(format, digest, Bytes(bytes.len() as u64)))
}

/// Adds a thread, and its process if that is new, as viewers name them.
pub(super) fn add_thread(
    builder: &mut RecordingBuilder,
    (pid, program): (&Id, &Text<'_>),
    (tid, name): (&Id, &Text<'_>),
) -> ThreadIx {
    let (program, name) = (builder.text(&program.0), builder.text(&name.0));
    let process = builder.process(pid.number(), &program);
    builder.new_thread(process, tid.number(), &name)
}
