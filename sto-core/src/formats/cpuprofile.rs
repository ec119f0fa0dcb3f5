//! V8's `.cpuprofile`, of `node --cpu-prof` and Chrome.

use super::error::Decoded;
use super::json::add_thread;
use super::source::Head;
use super::v8::{Node, Nodes, Run};
use super::wire::json::{Id, Number, Text, first_keys, parse, same_length};
use crate::recording::{RecordingBuilder, SampleTypeIx};
use crate::units::{Nanoseconds, Unit};
use serde::Deserialize;

/// Whether a file begins with call nodes.
pub(super) fn matches(head: &Head<'_>) -> bool {
    first_keys(head.bytes).contains(&&b"nodes"[..])
        && memchr::memmem::find(head.bytes, b"\"callFrame\"").is_some()
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Profile<'b> {
    nodes: Vec<Node<'b>>,
    samples: Option<Vec<u64>>,
    time_deltas: Option<Vec<Number>>,
    /// Microseconds.
    start_time: Option<Number>,
    end_time: Option<Number>,
}

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let profile: Profile<'_> = parse(bytes)?;
    let mut builder = RecordingBuilder::default();
    let mut nodes = Nodes::default();
    for (ix, node) in profile.nodes.iter().enumerate() {
        nodes.add(node, &format!("nodes[{ix}]"), &mut builder)?;
    }
    nodes.link(&profile.nodes, "nodes")?;
    let (id, name) = (Id::default(), Text::default());
    let thread = add_thread(&mut builder, (&id, &name), (&id, &name));
    let nanoseconds = |time: Option<Number>| time.and_then(|time| time.times(1000));
    let (start, end) = (
        nanoseconds(profile.start_time),
        nanoseconds(profile.end_time),
    );
    match (&profile.samples, &profile.time_deltas) {
        (Some(ids), Some(deltas)) => {
            let at = || "timeDeltas".to_owned();
            same_length(deltas.len(), (ids.len(), "samples"), at)?;
            let zero = start.unwrap_or(0);
            let run = Run {
                measured: (thread, SampleTypeIx(0)),
                ids,
                deltas,
                lines: &[],
                start: zero,
                end,
                zero,
                path: &|column, ix| format!("{column}[{ix}]"),
            };
            nodes.samples(&run, &mut builder)?;
            builder.sample_type("wall", Unit::Nanoseconds);
        }
        _ => {
            let column = (thread, SampleTypeIx(0));
            nodes.hits(&profile.nodes, column, &mut builder)?;
            builder.sample_type("samples", Unit::Samples);
        }
    }
    let duration = start
        .zip(end)
        .and_then(|(start, end)| u64::try_from(end - start).ok());
    builder.origin.duration = duration.map(Nanoseconds);
    Ok(builder)
}
