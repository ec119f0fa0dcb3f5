//! OTLP: the profiles signal of OpenTelemetry, as SDKs, the eBPF profiler and collectors send it.
//!
//! ```text
//! JSON             json         the same messages as bytes, a message a line
//!   |
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
//!
#![doc = include_str!("otlp.md")]

mod attributes;
mod json;
mod messages;
mod samples;
mod schema;
mod threads;

use super::error::{DecodeError, Decoded};
use super::source::Head;
use super::wire::json::first_keys;
use super::wire::protobuf::Message;
use crate::recording::RecordingBuilder;
use samples::{Numbering, Samples};

/// Whether a file that begins with these bytes is an export of profiles.
pub(super) fn matches(head: &Head<'_>) -> bool {
    is_protobuf(head)
        || is_json(head)
        || framed(head.bytes).is_some_and(|(first, _)| is_protobuf(&first))
}

/// The first message of a file in which each stands behind its length, in 4 bytes, as the Collector's file exporter
/// writes them; and what follows it.
fn framed(bytes: &[u8]) -> Option<(Head<'_>, &[u8])> {
    let (length, rest) = bytes.split_at_checked(4)?;
    let length = length
        .iter()
        .fold(0, |length, &byte| length << 8 | usize::from(byte));
    let is_all = length <= rest.len();
    let (bytes, rest) = rest.split_at(length.min(rest.len()));
    Some((Head { bytes, is_all }, rest))
}

/// Whether a file begins with a resource's profiles or with the dictionary, and in these are messages
/// alone, under numbers that they have.
fn is_protobuf(head: &Head<'_>) -> bool {
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
        // After one that is not all there, nothing can be read.
        if !message.next().is_ok_and(|field| field.is_some()) {
            return !head.is_all;
        }
    }
    fields > 0 && message.bytes().is_empty()
}

/// Whether a file begins with an object whose first key is one of an export.
fn is_json(head: &Head<'_>) -> bool {
    let start = &head.bytes[..head.bytes.len().min(4096)];
    match first_keys(start).first() {
        Some(&b"resourceProfiles") => true,
        Some(&b"dictionary") => memchr::memmem::find(head.bytes, b"\"stringTable\"").is_some(),
        _ => false,
    }
}

/// Reads an export, or several that follow each other.
pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let is_object = bytes.trim_ascii_start().starts_with(b"{");
    let is_json = is_object && !is_protobuf(&Head::all(bytes));
    let exports = match is_json {
        true => json::exports(bytes)?,
        false => Vec::new(),
    };
    let mut samples = Samples::of_file(bytes.len());
    if !is_json && is_protobuf(&Head::all(bytes)) {
        samples.add(bytes, None)?;
    } else if !is_json {
        let mut rest = bytes;
        while let Some((message, after)) = framed(rest) {
            let at = bytes.len() - rest.len() + 4;
            if !message.is_all {
                return Err(DecodeError::new(
                    at,
                    "a message that ends beyond the end of the file; was the copy cut short?",
                ));
            }
            let added = samples.add(message.bytes, None);
            added.map_err(|error| error.moved(|byte| format!("byte {}", at + byte)))?;
            rest = after;
        }
        if !rest.is_empty() {
            return Err(DecodeError::new(
                bytes.len() - rest.len(),
                "expected the 4 bytes of a message's length; was the copy cut short?",
            ));
        }
    }
    for export in &exports {
        let added = samples.add(&export.bytes, Some(Numbering::V1_10));
        added.map_err(|error| error.moved(|byte| export.path(bytes, byte)))?;
    }
    Ok(samples.finish())
}
