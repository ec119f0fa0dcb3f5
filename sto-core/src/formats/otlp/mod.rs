//! OTLP: the profiles signal of OpenTelemetry, as SDKs, the eBPF profiler and collectors send it.
//!
//! ```text
//! bytes            protobuf     fields of messages, in place
//!   |              schema       resources, profiles, and the dictionary that they share
//!   v
//! samples          samples      values and times, in the numbering of their version
//! dictionary       pprof        mappings, functions, lines: those of pprof under other numbers
//! attributes       attributes   threads, processes, other labels, kinds of frames, build ids
//! ```
//!
//! The signal is in development, and its messages changed with each release of the protocol. Read are
//! those of 1.9 to 1.11.
//!
//! Source: `opentelemetry/proto/profiles/v1development/profiles.proto` of
//! <https://github.com/open-telemetry/opentelemetry-proto>, and the semantic conventions of
//! <https://opentelemetry.io/docs/specs/semconv/>.

mod attributes;
mod samples;
mod schema;
mod threads;

use super::detect::{Head, Source};
use super::named::NamedStacks;
use super::pprof::damage::Damage;
use super::pprof::frames::Frames;
use super::protobuf::Message;
use super::{Format, FormatError, Recording};
use crate::id::SourceDigest;
use crate::model::Origin;
use crate::units::{Bytes, Nanoseconds, UnixSeconds};
use samples::{SampleReader, numbering};
use schema::{Data, Profile};

/// Whether a file that begins with these bytes is an export of profiles: it begins with a resource's
/// profiles or with the dictionary, and in these are messages alone, under numbers that they have.
pub(super) fn is_told(head: &Head<'_>) -> bool {
    let Some((number, mut message)) = Message::of_file(head.bytes).begun() else {
        return false;
    };
    let is_known = |field: u32| match number {
        1 => matches!(field, 1..=3),
        2 => matches!(field, 1..=7),
        _ => false,
    };
    let mut fields = 0;
    while let Some((field, _)) = message.begun() {
        if !is_known(field) {
            return false;
        }
        fields += 1;
        // Behind one that is not all there, nothing can be read.
        if !message.next().is_ok_and(|field| field.is_some()) {
            return !head.is_all;
        }
    }
    fields > 0 && message.bytes().is_empty()
}

/// Reads an export.
pub(super) fn read(source: &Source<'_>) -> Result<Recording, FormatError> {
    let &Source { path, bytes, .. } = source;
    recording(bytes).map_err(|damage| damage.in_file(path, bytes))
}

fn recording(bytes: &[u8]) -> Result<Recording, Damage> {
    let data = Data::parse(bytes)?;
    let mut stacks = NamedStacks::default();
    let (frames, modules) = Frames::of(&data.dictionary.tables, &mut stacks)?;
    let samples = || data.profiles.iter().flat_map(|profile| &profile.samples);
    let numbering = numbering(samples().copied(), data.dictionary.attributes.len())?;
    let mut reader = SampleReader::new(&data.dictionary, &frames, &modules, stacks, numbering);
    let mut profiles = data.profiles.iter();
    let (source, read) = rayon::join(
        || SourceDigest::of(bytes),
        || profiles.try_for_each(|profile| reader.read(profile)),
    );
    read?;
    let mut read = reader.finish();
    if read.samples.iter().any(|sample| sample.time.is_some()) {
        read.samples.sort_by_key(|sample| sample.time);
    }
    let origin = origin(&data.profiles, &mut read.stacks);
    let stacks = read.stacks.finish();
    Ok(Recording {
        format: Format::Otlp,
        source,
        source_bytes: Bytes(bytes.len() as u64),
        origin,
        sample_types: read.sample_types,
        processes: read.processes,
        threads: read.threads,
        modules,
        locations: stacks.locations,
        named: stacks.frames,
        stacks: stacks.stacks,
        samples: read.samples,
        lost: 0,
        warnings: stacks.warnings.into_iter().chain(read.warnings).collect(),
    })
}

/// When and where the first of the profiles was recorded, and how long the longest took.
fn origin(profiles: &[Profile<'_>], stacks: &mut NamedStacks) -> Origin {
    // 0 says that it was never set.
    let times = profiles.iter().map(|profile| profile.time);
    let first = times.filter(|&time| time > 0).min();
    let longest = profiles.iter().map(|profile| profile.duration).max();
    let mut first_of = |names: Vec<&[u8]>| {
        let name = names.into_iter().find(|name| !name.is_empty())?;
        Some(stacks.text(name).into_owned())
    };
    let whose = || profiles.iter().map(|profile| profile.whose);
    Origin {
        recorded: first.map(|time| UnixSeconds(time / 1_000_000_000)),
        duration: longest.filter(|&time| time > 0).map(Nanoseconds),
        host: first_of(whose().map(|whose| whose.host).collect()),
        arch: first_of(whose().map(|whose| whose.architecture).collect()),
        ..Origin::default()
    }
}
