//! V8's samples in a trace: a `Profile` event a thread, and `ProfileChunk` events with the rest.

use super::event::Event;
use super::names::{Names, Times};
use crate::formats::error::Decoded;
use crate::formats::v8::{Node, Nodes, Run};
use crate::formats::wire::json::{Number, same_length};
use crate::recording::{RecordingBuilder, ThreadIx};
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

/// The profiles of all threads.
#[derive(Default)]
pub(super) struct Profiles {
    profiles: Vec<Profile>,
    /// The last one by its process and its id.
    indices: HashMap<(String, String), usize>,
    /// How many chunks are of profiles that do not begin.
    undeclared: u64,
}

/// The profile of a thread, put together from its chunks.
struct Profile {
    pid: String,
    tid: String,
    /// The path of the event that begins it.
    begun: String,
    begun_at: Option<i64>,
    nodes: Nodes,
    ids: Vec<u64>,
    deltas: Vec<Number>,
    lines: Vec<i64>,
    start: Option<i128>,
    end: Option<i128>,
}

impl Profiles {
    /// Adds what an event says, if it is one of a profile.
    pub(super) fn add(
        &mut self,
        event: &Event<'_>,
        times: &mut Times<'_>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let begun_at = event.time().map(|_| times.of(event)).transpose()?;
        let is_first = event.is(b'P', "Profile");
        if !is_first && !event.is(b'P', "ProfileChunk") {
            return Ok(());
        }
        let at = (times.at)();
        let Args { data } = event.args(&at)?;
        let key = (event.pid.to_string(), event.id.to_string());
        if is_first {
            self.indices.insert(key.clone(), self.profiles.len());
            self.profiles.push(Profile {
                pid: key.0.clone(),
                tid: event.tid.to_string(),
                begun: at.clone(),
                begun_at,
                nodes: Nodes::default(),
                ids: Vec::new(),
                deltas: Vec::new(),
                lines: Vec::new(),
                start: None,
                end: None,
            });
        }
        match self.indices.get(&key) {
            Some(&profile) => self.profiles[profile].add(data, &format!("{at}.args.data"), builder),
            None => {
                self.undeclared += 1;
                Ok(())
            }
        }
    }

    /// Adds the samples of all profiles, with times from `zero` on; says in sentences what was left out.
    pub(super) fn finish(
        self,
        zero: i64,
        names: &Names,
        builder: &mut RecordingBuilder,
    ) -> Decoded<Vec<String>> {
        let mut profiles = self.profiles;
        for profile in &mut profiles {
            profile.start = profile.start.or(profile.begun_at.map(i128::from));
        }
        // With several profilers at work in a thread, the same time is sampled by each.
        profiles.sort_by_key(|profile| Reverse(profile.ids.len()));
        // None overlaps another, so they are in order by their ends too.
        let mut taken: HashMap<ThreadIx, BTreeSet<(i128, i128)>> = HashMap::new();
        let mut left_out = 0;
        let mut sample_type = None;
        for mut profile in profiles {
            let thread = names.thread(&profile.pid, &profile.tid, builder);
            let (start, end) = profile.time();
            let taken = taken.entry(thread).or_default();
            let before = taken.range(..(end, i128::MIN)).next_back();
            if before.is_some_and(|&(_, ended)| start < ended) {
                left_out += 1;
                continue;
            }
            taken.insert((start, end));
            let sample_type =
                *sample_type.get_or_insert_with(|| builder.sample_type("wall", Unit::Nanoseconds));
            let run = Run {
                measured: (thread, sample_type),
                ids: &profile.ids,
                deltas: &profile.deltas,
                lines: &profile.lines,
                start,
                end: profile.end,
                zero: zero.into(),
                path: &|column, ix| {
                    format!(
                        "{column}[{ix}] of the profile that {} begins",
                        profile.begun
                    )
                },
            };
            profile.nodes.samples(&run, builder)?;
        }
        let mut warnings = Vec::new();
        if left_out > 0 {
            warnings.push(format!(
                "{left_out} profiles were left out: of profiles of a thread at one time, that with most samples is read."
            ));
        }
        if self.undeclared > 0 {
            warnings.push(format!(
                "{} parts of profiles were left out: the trace does not have the beginnings of these profiles.",
                self.undeclared
            ));
        }
        Ok(warnings)
    }
}

impl Profile {
    /// When it began, and when its last sample was taken.
    fn time(&self) -> (i128, i128) {
        let start = self.start.unwrap_or(0);
        let took = self.deltas.iter().filter_map(|delta| delta.times(1000));
        let end = took.fold(start, i128::saturating_add);
        (start, end.max(start))
    }

    fn add(&mut self, data: Data<'_>, at: &str, builder: &mut RecordingBuilder) -> Decoded<()> {
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
            self.nodes.add(node, &at, builder)?;
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
