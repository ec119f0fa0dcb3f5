//! V8's samples in a trace: a `Profile` event a thread, and `ProfileChunk` events with the rest.

use super::{Event, Recorder};
use crate::formats::error::Decoded;
use crate::formats::v8::{Node, Nodes, Run};
use crate::formats::wire::json::{Id, Number, same_length};
use crate::recording::ThreadIx;
use crate::units::Unit;
use hashbrown::HashMap;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Args<'b> {
    data: Data<'b>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Data<'b> {
    cpu_profile: CpuProfile<'b>,
    time_deltas: Vec<Number>,
    lines: Vec<i64>,
    /// Microseconds.
    start_time: Option<Number>,
    end_time: Option<Number>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct CpuProfile<'b> {
    nodes: Vec<Node<'b>>,
    samples: Vec<u64>,
    time_deltas: Vec<Number>,
    lines: Vec<i64>,
}

/// The profile of a thread, put together from its chunks.
#[derive(Default)]
struct Profile {
    /// The event that begins it.
    begun: usize,
    nodes: Nodes,
    ids: Vec<u64>,
    deltas: Vec<Number>,
    lines: Vec<i64>,
    start: Option<i128>,
    end: Option<i128>,
}

/// Adds the samples of all profiles in a trace.
pub(super) fn add<'b>(
    events: &[Event<'b>],
    at: &dyn Fn(usize) -> String,
    trace: &mut Recorder<'b>,
) -> Decoded<Option<String>> {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut indices: HashMap<(Id, Id), usize> = HashMap::new();
    for (ix, event) in events.iter().enumerate() {
        let is_first = event.is("P", "Profile");
        if !is_first && !event.is("P", "ProfileChunk") {
            continue;
        }
        let at = at(ix);
        let Args { data } = event.args(&at)?;
        let key = (event.pid.clone(), event.id.clone());
        let known = indices.get(&key).copied().filter(|_| !is_first);
        let index = known.unwrap_or(profiles.len());
        if known.is_none() {
            indices.insert(key, index);
            profiles.push(Profile {
                begun: ix,
                ..Profile::default()
            });
        }
        profiles[index].add(data, &format!("{at}.args.data"), trace)?;
    }
    for profile in &mut profiles {
        if profile.start.is_none() {
            let begun = profile.begun;
            profile.start = Some(events[begun].time(&at(begun))?);
        }
    }
    // With several profilers at work in a thread, the same time is sampled by each.
    profiles.sort_by_key(|profile| Reverse(profile.ids.len()));
    // None overlaps another, so they are in order by their ends too.
    let mut taken: HashMap<ThreadIx, BTreeSet<(i128, i128)>> = HashMap::new();
    let mut left_out = 0;
    let mut sample_type = None;
    for mut profile in profiles {
        let event = &events[profile.begun];
        let thread = trace.thread(&event.pid, &event.tid);
        let (start, end) = profile.time();
        let taken = taken.entry(thread).or_default();
        let before = taken.range(..(end, i128::MIN)).next_back();
        if before.is_some_and(|&(_, ended)| start < ended) {
            left_out += 1;
            continue;
        }
        taken.insert((start, end));
        let sample_type = *sample_type
            .get_or_insert_with(|| trace.builder.sample_type("wall", Unit::Nanoseconds));
        let run = Run {
            measured: (thread, sample_type),
            ids: &profile.ids,
            deltas: &profile.deltas,
            lines: &profile.lines,
            start,
            end: profile.end,
            zero: trace.zero,
            path: &|column, ix| {
                format!(
                    "{column}[{ix}] of the profile that {} begins",
                    at(profile.begun)
                )
            },
        };
        profile.nodes.samples(&run, &mut trace.builder)?;
    }
    Ok((left_out > 0).then(|| {
        format!(
            "{left_out} profiles were left out: of profiles of a thread at one time, that with most \
             samples is read."
        )
    }))
}

impl Profile {
    /// When it began, and when its last sample was taken.
    fn time(&self) -> (i128, i128) {
        let start = self.start.unwrap_or(0);
        let took = self.deltas.iter().filter_map(|delta| delta.times(1000));
        let end = took.fold(start, i128::saturating_add);
        (start, end.max(start))
    }

    fn add(&mut self, data: Data<'_>, at: &str, trace: &mut Recorder<'_>) -> Decoded<()> {
        let time = |time: Option<Number>| time.and_then(|time| time.times(1000));
        self.start = self.start.or(time(data.start_time));
        self.end = time(data.end_time).or(self.end);
        let CpuProfile {
            nodes,
            samples,
            time_deltas,
            lines,
        } = data.cpu_profile;
        for (ix, node) in nodes.iter().enumerate() {
            let at = format!("{at}.cpuProfile.nodes[{ix}]");
            self.nodes.add(node, &at, &mut trace.builder)?;
        }
        // Both are beside the profile in newer versions, and in it in older ones.
        let deltas = [data.time_deltas, time_deltas].concat();
        let at = || format!("{at}.timeDeltas");
        same_length(deltas.len(), (samples.len(), "cpuProfile.samples"), at)?;
        self.ids.extend(samples);
        self.deltas.extend(deltas);
        self.lines.extend(data.lines.into_iter().chain(lines));
        // Where some have none, the others' indices are kept.
        self.lines.resize(self.ids.len(), 0);
        Ok(())
    }
}
