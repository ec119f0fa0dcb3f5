//! OTLP: the profiles signal of OpenTelemetry, sent by SDKs, the eBPF profiler and collectors.
//!
//! ```text
//! file             exports      exports one by one
//!   |
//! JSON             json         the same messages in JSON, one per line
//!   |
//! bytes            protobuf     fields of messages, in place
//!   |              schema       resources, profiles, and their common dictionary
//!   v
//! samples          samples      values and times, in the numbering of their version
//! dictionary       pprof        mappings, functions, lines: as in pprof, with other field numbers
//! attributes       attributes   threads, processes, other labels, kinds of frames, build ids
//! ```
//!
//! The signal is in development and its messages changed with each release of the protocol. Versions
//! 1.9 to 1.11 are read.
//!
//! Source: `opentelemetry/proto/profiles/v1development/profiles.proto` of
//! <https://github.com/open-telemetry/opentelemetry-proto>, and the semantic conventions of
//! <https://opentelemetry.io/docs/specs/semconv/>.
//!
//! See [the manual](crate::manual::otlp).

mod attributes;
mod exports;
mod json;
mod messages;
mod samples;
mod schema;
mod threads;

pub(super) use exports::read;

use crate::compressed::CompressedParts;
use crate::source::Head;
use crate::wire::protobuf::Message;

/// Returns `true` if a file begins like an export of profiles.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let is_export = |head: &Head<'_>| is_protobuf(head) || is_json(head);
    if is_export(head) {
        return true;
    }
    let Some((length, rest)) = framed(head.bytes) else {
        return false;
    };
    let bytes = &rest[..length.min(rest.len())];
    let is_all = length <= rest.len();
    if CompressedParts::is_compressed(bytes) {
        is_export(&Head::new(&CompressedParts::beginning(bytes), false))
    } else {
        is_protobuf(&Head::new(bytes, is_all))
    }
}

/// The length of the first message, and the text after the length, of a file whose messages are
/// preceded by their length in 4 bytes, as written by the Collector's file exporter.
fn framed(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (length, rest) = bytes.split_at_checked(4)?;
    let length = length
        .iter()
        .fold(0, |length, &byte| length << 8 | usize::from(byte));
    Some((length, rest))
}

/// Returns `true` if a file begins with a resource's profiles or a dictionary that contain only
/// messages with known field numbers.
fn is_protobuf(head: &Head<'_>) -> bool {
    let Some((number, mut message)) = Message::from_file(head.bytes).partial_message() else {
        return false;
    };
    let is_known = |field: u32| match number {
        1 => matches!(field, 1..=3),
        2 => matches!(field, 1..=7),
        _ => false,
    };
    let mut fields = 0;
    while let Some((field, _)) = message.partial_message() {
        if !is_known(field) {
            return false;
        }
        fields += 1;
        // Nothing can be read after an incomplete field.
        if !message.next().is_ok_and(|field| field.is_some()) {
            return !head.is_all;
        }
    }
    fields > 0 && message.bytes().is_empty()
}

/// Returns `true` if a file begins with an object whose first key is a key of an export.
fn is_json(head: &Head<'_>) -> bool {
    match head.keys().first() {
        Some(&b"resourceProfiles") => true,
        Some(&b"dictionary") => memchr::memmem::find(head.bytes, b"\"stringTable\"").is_some(),
        _ => false,
    }
}
