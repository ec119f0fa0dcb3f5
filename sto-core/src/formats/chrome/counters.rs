//! Counters in a trace (`C`), and those that Chrome's developer tools show of a page (`UpdateCounters`).

use super::{Event, Recorder};
use crate::formats::error::Decoded;
use crate::formats::wire::json::{Id, Text};
use crate::recording::{beginning, over_time};
use crate::units::Nanoseconds;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;

/// A counter of a process.
#[derive(Clone, Copy)]
struct Counter<'e> {
    pid: &'e Id,
    name: &'e [u8],
    id: &'e [u8],
}

/// In which processes there is a counter of a name, and under which ids.
#[derive(Default)]
struct Named<'e> {
    pids: HashSet<&'e Id>,
    ids: HashSet<&'e [u8]>,
}

/// One of a counter's values over time.
struct Series<'b> {
    /// Index of its counter.
    counter: usize,
    name: Text<'b>,
    points: Vec<(Nanoseconds, f64)>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Page<'b> {
    #[serde(borrow)]
    data: Values<'b>,
}

type Values<'b> = BTreeMap<Text<'b>, &'b RawValue>;

/// Adds what counters had over time; says in a sentence what was left out.
pub(super) fn add<'b>(
    events: &[Event<'b>],
    at: &dyn Fn(usize) -> String,
    trace: &mut Recorder<'b>,
) -> Option<String> {
    let mut counters: Vec<Counter<'_>> = Vec::new();
    let mut counter_of: HashMap<(&Id, &[u8], &[u8]), usize> = HashMap::new();
    let mut all: Vec<Series<'b>> = Vec::new();
    let mut series_of: HashMap<(usize, Text<'b>), usize> = HashMap::new();
    let mut left_out = 0;
    for (ix, event) in events.iter().enumerate() {
        let is_page = event.is("I", "UpdateCounters");
        if !is_page && *event.ph.0 != *b"C" {
            continue;
        }
        let path = at(ix);
        let values: Decoded<Values<'b>> = match is_page {
            true => event.args::<Page<'b>>(&path).map(|page| page.data),
            false => event.args(&path),
        };
        // What was so before the first call is so when it begins.
        let since = event.time(&path);
        let since = since.map(|time| u64::try_from((time - trace.zero).max(0)));
        let (Ok(values), Ok(Ok(since))) = (values, since) else {
            left_out += 1;
            continue;
        };
        let (pid, id) = (&event.pid, beginning(event.id.0.as_bytes()));
        let name = event
            .name
            .as_ref()
            .map_or(&[][..], |name| beginning(&name.0));
        let counter = *counter_of.entry((pid, name, id)).or_insert_with(|| {
            counters.push(Counter { pid, name, id });
            counters.len() - 1
        });
        for (name, value) in values {
            let Ok(value) = value.get().trim_matches('"').parse() else {
                left_out += 1;
                continue;
            };
            let known = series_of.entry((counter, name));
            let known = *known.or_insert_with_key(|(_, name)| {
                all.push(Series {
                    counter,
                    name: name.clone(),
                    points: Vec::new(),
                });
                all.len() - 1
            });
            all[known].points.push((Nanoseconds(since), value));
        }
    }
    let mut named: HashMap<&[u8], Named<'_>> = HashMap::new();
    for Counter { pid, name, id } in &counters {
        let named = named.entry(name).or_default();
        named.pids.insert(pid);
        named.ids.insert(id);
    }
    for series in all {
        let Counter { pid, name, id } = counters[series.counter];
        let Named { pids, ids } = &named[name];
        let mut full = Vec::new();
        if let Some(program) = trace.programs.get(pid)
            && pids.len() > 1
        {
            full.extend([beginning(&program.0), b": "].concat());
        }
        full.extend(name);
        if !id.is_empty() && ids.len() > 1 {
            full.extend([b"[", id, b"]"].concat());
        }
        full.push(b'.');
        full.extend(beginning(&series.name.0));
        let full = trace.builder.text(&full).into_owned();
        if let Some(levels) = over_time::levels(&full, series.points) {
            trace.builder.add_metric(levels);
        }
    }
    (left_out > 0).then(|| {
        format!(
            "{left_out} values of counters have no time, or are no numbers; they were left out."
        )
    })
}
