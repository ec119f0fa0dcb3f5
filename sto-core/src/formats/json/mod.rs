//! What the formats that are written in JSON share.
//!
#![doc = include_str!("json.md")]

mod spans;
mod threads;
mod tree;

pub(super) use spans::Spans;
pub(super) use threads::Threads;
pub(super) use tree::{CallTree, Caller};

use super::error::DecodeError;
use super::named::NamedStacks;
use super::source::Source;
use super::{Format, FormatError};
use crate::id::SourceDigest;
use crate::model::Origin;
use crate::recording::{Process, Recording, Sample, Thread};
use crate::units::{Bytes, SampleType};

/// The parts of a [`Recording`] that a format in JSON fills.
pub(super) struct Parts {
    pub(super) origin: Origin,
    pub(super) sample_types: Vec<SampleType>,
    pub(super) processes: Vec<Process>,
    pub(super) threads: Vec<Thread>,
    pub(super) modules: Vec<crate::recording::Module>,
    pub(super) named: NamedStacks,
    pub(super) samples: Vec<Sample>,
    pub(super) warnings: Vec<String>,
}

/// Reads a file with `parts`, and digests it meanwhile.
pub(super) fn recording(
    source: &Source<'_>,
    format: Format,
    parts: impl FnOnce(&[u8]) -> Result<Parts, DecodeError> + Send,
) -> Result<Recording, FormatError> {
    let &Source { path, bytes, .. } = source;
    let (digest, parts) = rayon::join(|| SourceDigest::of(bytes), || parts(bytes));
    let Parts {
        origin,
        sample_types,
        processes,
        threads,
        modules,
        named,
        mut samples,
        warnings,
    } = parts.map_err(|error| error.in_file(path, bytes))?;
    samples.sort_by_key(|sample| sample.time);
    let stacks = named.finish();
    Ok(Recording {
        format,
        source: digest,
        source_bytes: Bytes(bytes.len() as u64),
        origin,
        sample_types,
        processes,
        threads,
        modules,
        locations: stacks.locations,
        named: stacks.frames,
        stacks: stacks.stacks,
        samples,
        lost: 0,
        warnings: stacks.warnings.into_iter().chain(warnings).collect(),
    })
}
