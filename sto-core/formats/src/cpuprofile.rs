//! V8's `.cpuprofile`, written by `node --cpu-prof` and Chrome.

use crate::error::Decoded;
use crate::json::{add_thread, walk};
use crate::recording::{RecordingBuilder, SampleTypeIx};
use crate::source::{Head, ReadOptions};
use crate::v8::{CallFrame, Delta, Node, Nodes, Run};
use crate::wire::json::{Id, Number, Text, parse, same_length};
use serde::Deserialize;
use serde_json::value::RawValue;
use sto_model::units::{Nanoseconds, Unit};

/// Returns `true` if a file begins with call nodes, in a list or as a tree.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let keys = head.keys();
    let has = |key: &str, nodes: &str| {
        keys.contains(&key.as_bytes())
            && memchr::memmem::find(head.bytes, nodes.as_bytes()).is_some()
    };
    has("nodes", "\"callFrame\"") || has("head", "\"hitCount\"")
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Profile<'b> {
    #[serde(default)]
    nodes: Vec<Node<'b>>,
    /// The nodes as a tree, before Chrome 58 and Node 8.
    head: Option<&'b RawValue>,
    samples: Option<Vec<u64>>,
    time_deltas: Option<Vec<Delta>>,
    /// The time of each sample, and possibly of the end, in microseconds, if nodes are a tree.
    timestamps: Option<Vec<Number>>,
    /// Microseconds.
    start_time: Option<Number>,
    end_time: Option<Number>,
}

/// A node of a tree.
#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct OldNode<'b> {
    id: u64,
    #[serde(default)]
    function_name: Text<'b>,
    #[serde(default)]
    url: Text<'b>,
    /// First line of the function, from 1.
    line_number: Option<i64>,
    hit_count: Option<u64>,
}

/// Converts a profile with a tree to the newer form.
fn modernized<'b>(bytes: &'b [u8], profile: &mut Profile<'b>) -> Decoded<()> {
    let Some(head) = profile.head else {
        return Ok(());
    };
    walk(bytes, head, |node: OldNode<'b>, parent| {
        profile.nodes.push(Node {
            id: node.id,
            call_frame: CallFrame {
                function_name: node.function_name,
                url: node.url,
                line_number: node.line_number.map(|line| line.saturating_sub(1)),
            },
            hit_count: node.hit_count,
            children: Vec::new(),
            parent,
            position_ticks: Vec::new(),
        });
        Ok(node.id)
    })?;
    // These are in seconds and by another clock.
    (profile.start_time, profile.end_time) = (None, None);
    let (Some(samples), Some(times)) = (&profile.samples, &mut profile.timestamps) else {
        return Ok(());
    };
    if times.len() > samples.len() {
        profile.end_time = times.pop();
    }
    profile.start_time = times.first().copied();
    let mut before = profile.start_time.and_then(|time| time.multiply(1000));
    let deltas = times.iter().map(|time| {
        let now = time.multiply(1000);
        let delta = now
            .zip(before)
            .map_or(0, |(now, before)| now.saturating_sub(before));
        before = now;
        Delta(i64::try_from(delta).unwrap_or(i64::MAX))
    });
    profile.time_deltas = Some(deltas.collect());
    Ok(())
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let mut profile: Profile<'_> = parse(bytes)?;
    modernized(bytes, &mut profile)?;
    let mut builder = options.builder();
    let mut nodes = Nodes::default();
    for (ix, node) in profile.nodes.iter().enumerate() {
        nodes.add(node, &format!("nodes[{ix}]"), &mut builder)?;
    }
    nodes.link(&profile.nodes, "nodes")?;
    let (id, name) = (Id::default(), Text::default());
    let thread = add_thread(&mut builder, (&id, &name), (&id, &name));
    let nanoseconds = |time: Option<Number>| time.and_then(|time| time.multiply(1000));
    let (start, end) = (
        nanoseconds(profile.start_time),
        nanoseconds(profile.end_time),
    );
    match (&profile.samples, profile.time_deltas) {
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
            nodes.samples(run, &mut builder)?;
            builder.sample_type("wall", Unit::Nanoseconds);
        }
        _ => {
            let column = (thread, SampleTypeIx(0));
            nodes.add_hit_counts(&profile.nodes, column, &mut builder)?;
            builder.sample_type("samples", Unit::Samples);
        }
    }
    let duration = start
        .zip(end)
        .and_then(|(start, end)| u64::try_from(end - start).ok());
    builder.origin.duration = duration.map(Nanoseconds);
    Ok(builder)
}
