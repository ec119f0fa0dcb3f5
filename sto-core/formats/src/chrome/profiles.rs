//! V8's samples in a trace: a `Profile` event per thread and `ProfileChunk` events with the
//! samples; before Chrome 67, one `CpuProfile` event with everything.

use super::event::Event;
use super::names::{Names, Times};
use crate::error::Decoded;
use crate::recording::{RecordingBuilder, ThreadIx};
use crate::v8::{Delta, Node, Nodes, Run};
use crate::wire::json::{Number, same_length};
use hashbrown::HashMap;
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use sto_model::units::Unit;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Args<'b> {
    #[serde(default)]
    data: Data<'b>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Data<'b> {
    cpu_profile: CpuProfile<'b>,
    time_deltas: Vec<Delta>,
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
    time_deltas: Vec<Delta>,
    lines: Vec<i64>,
    start_time: Option<Number>,
    end_time: Option<Number>,
}

/// Returns `true` if an event belongs to a profile.
pub(super) fn is_profile_event(event: &Event<'_>) -> bool {
    is_whole(event) || event.is(b'P', "Profile") || event.is(b'P', "ProfileChunk")
}

fn is_whole(event: &Event<'_>) -> bool {
    event.is(b'I', "CpuProfile")
}

/// The profiles of all threads.
#[derive(Default)]
pub(super) struct Profiles {
    profiles: Vec<Profile>,
    /// Index of the last profile by process and id.
    indices: HashMap<(String, String), usize>,
    /// Number of chunks of profiles without a begin.
    undeclared: u64,
}

/// The profile of a thread, assembled from its chunks.
struct Profile {
    pid: String,
    tid: String,
    /// Path of the event that begins the profile.
    begun: String,
    begun_at: Option<i64>,
    nodes: Nodes,
    ids: Vec<u64>,
    deltas: Vec<Delta>,
    lines: Vec<i64>,
    start: Option<i128>,
    end: Option<i128>,
}

fn in_nanoseconds(time: &Option<Number>) -> Option<i128> {
    time.as_ref().and_then(|time| time.multiply(1000))
}

impl Profiles {
    /// Adds an event of a profile.
    pub(super) fn add(
        &mut self,
        event: &Event<'_>,
        times: &mut Times<'_>,
        builder: &mut RecordingBuilder,
    ) -> Decoded<()> {
        let begun_at = event.time().map(|_| times.read(event)).transpose()?;
        let is_first = is_whole(event) || event.is(b'P', "Profile");
        let at = (times.at)();
        let Args { data } = event.args(&at)?;
        if let Some(start) = in_nanoseconds(&data.cpu_profile.start_time)
            && let Ok(start) = i64::try_from(start)
        {
            times.observe(start);
        }
        let key = (event.pid.to_string(), event.id.to_string());
        if is_first {
            self.indices.insert(key.clone(), self.profiles.len());
            self.profiles.push(Profile {
                pid: key.0.clone(),
                tid: event.tid.to_string(),
                begun: at.clone(),
                begun_at,
                nodes: Nodes::with_lost_parts(),
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

    /// Adds the samples of all profiles, with times relative to `zero`. Returns warnings about data
    /// that were left out.
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
        // If several profilers were active in a thread, each sampled the same time.
        profiles.sort_by_key(|profile| Reverse(profile.ids.len()));
        // Intervals in the set do not overlap, so they are also sorted by end.
        let mut taken: HashMap<ThreadIx, BTreeSet<(i128, i128)>> = HashMap::new();
        let (mut left_out, mut missing) = (0, 0);
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
                deltas: profile.deltas,
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
            profile.nodes.samples(run, builder)?;
            missing += profile.nodes.missing_count();
        }
        let mut warnings = Vec::new();
        if missing > 0 {
            warnings.push(format!(
                "{missing} references of V8's samples are to functions missing in the trace; such callers are left out, and such samples are unknown."
            ));
        }
        if left_out > 0 {
            warnings.push(format!(
                "{left_out} profiles were left out: of simultaneous profiles of a thread, only the one with most samples is read."
            ));
        }
        if self.undeclared > 0 {
            warnings.push(format!(
                "{} parts of profiles were left out: the beginnings of these profiles are missing in the trace.",
                self.undeclared
            ));
        }
        Ok(warnings)
    }
}

impl Profile {
    /// The times of the begin and of the last sample.
    fn time(&self) -> (i128, i128) {
        let start = self.start.unwrap_or(0);
        let took = self.deltas.iter().map(|delta| i128::from(delta.0));
        let end = took.fold(start, i128::saturating_add);
        (start, end.max(start))
    }

    fn add(&mut self, data: Data<'_>, at: &str, builder: &mut RecordingBuilder) -> Decoded<()> {
        let CpuProfile {
            nodes,
            samples,
            time_deltas,
            lines,
            start_time,
            end_time,
        } = data.cpu_profile;
        // Newer versions have the times next to the profile, older ones in it.
        let start = data.start_time.or(start_time);
        let end = data.end_time.or(end_time);
        self.start = self.start.or(in_nanoseconds(&start));
        self.end = in_nanoseconds(&end).or(self.end);
        for (ix, node) in nodes.iter().enumerate() {
            let at = format!("{at}.cpuProfile.nodes[{ix}]");
            self.nodes.add(node, &at, builder)?;
        }
        self.nodes.link(&nodes, &format!("{at}.cpuProfile.nodes"))?;
        let deltas = either(data.time_deltas, time_deltas);
        let at = || format!("{at}.timeDeltas");
        same_length(deltas.len(), (samples.len(), "cpuProfile.samples"), at)?;
        let lines = either(data.lines, lines);
        if !lines.is_empty() {
            // Pad with zeros if earlier samples have no lines.
            self.lines.resize(self.ids.len(), 0);
            self.lines.extend(lines);
        }
        self.ids.extend(samples);
        self.deltas.extend(deltas);
        Ok(())
    }
}

/// The first list unless it is empty, otherwise the second.
fn either<T>(first: Vec<T>, second: Vec<T>) -> Vec<T> {
    if first.is_empty() { second } else { first }
}
