//! V8's samples in a trace: a `Profile` event a thread, and `ProfileChunk` events with the rest.

use super::{Event, Recorder};
use crate::formats::json::{Damage, Id, Number};
use crate::formats::v8::{Node, Nodes, Run};
use hashbrown::HashMap;
use serde::Deserialize;

#[derive(Deserialize)]
struct Args<'b> {
    #[serde(borrow)]
    data: Data<'b>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'b> {
    #[serde(borrow, default)]
    cpu_profile: CpuProfile<'b>,
    #[serde(default)]
    time_deltas: Vec<Number>,
    #[serde(default)]
    lines: Vec<i64>,
    /// Microseconds.
    #[serde(default)]
    start_time: Option<Number>,
    #[serde(default)]
    end_time: Option<Number>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct CpuProfile<'b> {
    #[serde(borrow, default)]
    nodes: Vec<Node<'b>>,
    #[serde(default)]
    samples: Vec<u64>,
    #[serde(default)]
    time_deltas: Vec<Number>,
    #[serde(default)]
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
) -> Result<(), Damage> {
    let mut profiles: Vec<Profile> = Vec::new();
    let mut places: HashMap<(Id, Id), usize> = HashMap::new();
    for (ix, event) in events.iter().enumerate() {
        let is_first = event.is("P", "Profile");
        if !is_first && !event.is("P", "ProfileChunk") {
            continue;
        }
        let at = at(ix);
        let Args { data } = event.args(&at)?;
        let key = (event.pid.clone(), event.id.clone());
        let known = places.get(&key).copied().filter(|_| !is_first);
        let place = known.unwrap_or(profiles.len());
        if known.is_none() {
            places.insert(key, place);
            profiles.push(Profile {
                begun: ix,
                ..Profile::default()
            });
        }
        profiles[place].add(data, &format!("{at}.args.data"), trace)?;
    }
    let mut sample_type = None;
    for mut profile in profiles {
        let event = &events[profile.begun];
        let thread = trace.thread(&event.pid, &event.tid);
        let sample_type = *sample_type.get_or_insert_with(|| trace.sample_type("wall"));
        let start = match profile.start {
            Some(start) => start,
            None => event.time(&at(profile.begun))?,
        };
        let run = Run {
            thread,
            sample_type,
            ids: &profile.ids,
            deltas: &profile.deltas,
            lines: &profile.lines,
            start,
            end: profile.end,
            zero: trace.zero,
            place: &|column, ix| {
                format!(
                    "{column}[{ix}] of the profile that {} begins",
                    at(profile.begun)
                )
            },
        };
        profile
            .nodes
            .samples(&run, &mut trace.named, &mut trace.samples)?;
    }
    Ok(())
}

impl Profile {
    fn add(&mut self, data: Data<'_>, at: &str, trace: &mut Recorder<'_>) -> Result<(), Damage> {
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
            self.nodes.add(node, &at, &mut trace.named)?;
        }
        // Both are beside the profile in newer versions, and in it in older ones.
        let deltas = [data.time_deltas, time_deltas].concat();
        if deltas.len() != samples.len() {
            let problem = format!(
                "{} entries; expected {}, as many as `cpuProfile.samples` has",
                deltas.len(),
                samples.len()
            );
            return Err(Damage::new(format!("{at}.timeDeltas"), problem));
        }
        self.ids.extend(samples);
        self.deltas.extend(deltas);
        self.lines.extend(data.lines.into_iter().chain(lines));
        // Where some have none, the others' places are kept.
        self.lines.resize(self.ids.len(), 0);
        Ok(())
    }
}
