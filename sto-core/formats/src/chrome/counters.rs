//! Counters in a trace (`C`), including counters of a page from Chrome's developer tools
//! (`UpdateCounters`).

use super::event::Event;
use super::names::Names;
use crate::error::Decoded;
use crate::recording::{RecordingBuilder, over_time, text_prefix};
use crate::wire::json::Text;
use hashbrown::{HashMap, HashSet};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use sto_model::units::Nanoseconds;

/// The values of counters over time.
#[derive(Default)]
pub(super) struct Counters {
    counters: Vec<Counter>,
    counter_of: HashMap<Counter, usize>,
    series: Vec<Series>,
    series_of: HashMap<(usize, Vec<u8>), usize>,
    left_out: u64,
}

/// A counter of a process.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Counter {
    pid: String,
    name: Vec<u8>,
    id: Vec<u8>,
}

/// The processes with a counter of this name, and its ids.
#[derive(Default)]
struct Named<'e> {
    pids: HashSet<&'e str>,
    ids: HashSet<&'e [u8]>,
}

/// One of a counter's values over time.
struct Series {
    /// Index of its counter.
    counter: usize,
    name: Vec<u8>,
    /// Points by the trace's clock.
    points: Vec<(i64, f64)>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Page<'b> {
    #[serde(borrow)]
    data: Values<'b>,
}

type Values<'b> = BTreeMap<Text<'b>, &'b RawValue>;

impl Counters {
    /// Adds an event if it is of a counter.
    pub(super) fn add(&mut self, event: &Event<'_>, at: &dyn Fn() -> String) {
        let is_page = event.is(b'I', "UpdateCounters");
        if !is_page && event.phase() != b'C' {
            return;
        }
        let values: Decoded<Values<'_>> = if is_page {
            event.args::<Page<'_>>(&at()).map(|page| page.data)
        } else {
            event.args(&at())
        };
        let (Ok(values), Some(time)) = (values, event.time()) else {
            self.left_out += 1;
            return;
        };
        let name = event.name.as_ref();
        let counter = Counter {
            pid: event.pid.to_string(),
            name: name.map_or(Vec::new(), |name| text_prefix(&name.0).to_owned()),
            id: text_prefix(event.id.as_bytes()).to_owned(),
        };
        let counters = &mut self.counters;
        let counter = self.counter_of.entry(counter);
        let counter = *counter.or_insert_with_key(|counter| {
            counters.push(counter.clone());
            counters.len() - 1
        });
        for (name, value) in values {
            let Ok(value) = value.get().trim_matches('"').parse() else {
                self.left_out += 1;
                continue;
            };
            let all = &mut self.series;
            let known = self.series_of.entry((counter, name.0.into_owned()));
            let known = *known.or_insert_with_key(|(_, name)| {
                all.push(Series {
                    counter,
                    name: name.clone(),
                    points: Vec::new(),
                });
                all.len() - 1
            });
            self.series[known].points.push((time, value));
        }
    }

    /// Adds metrics with times relative to `zero`. Returns a warning about values that were left
    /// out.
    pub(super) fn finish(
        self,
        zero: i64,
        names: &Names,
        builder: &mut RecordingBuilder,
    ) -> Option<String> {
        let mut named: HashMap<&[u8], Named<'_>> = HashMap::new();
        for Counter { pid, name, id } in &self.counters {
            let named = named.entry(name).or_default();
            named.pids.insert(pid);
            named.ids.insert(id);
        }
        for series in self.series {
            let Counter { pid, name, id } = &self.counters[series.counter];
            let Named { pids, ids } = &named[&**name];
            let mut full = Vec::new();
            if let Some(program) = names.processes.get(pid)
                && pids.len() > 1
            {
                full.extend([text_prefix(program), b": "].concat());
            }
            full.extend(name);
            if !id.is_empty() && ids.len() > 1 {
                full.extend([b"[", &id[..], b"]"].concat());
            }
            full.push(b'.');
            full.extend(text_prefix(&series.name));
            let full = builder.text(&full).into_owned();
            // Values from before the first call apply at its begin.
            let since = |time: i64| u64::try_from(time.saturating_sub(zero)).unwrap_or(0);
            let points = series.points.into_iter();
            let points = points.map(|(time, value)| (Nanoseconds(since(time)), value));
            if let Some(levels) = over_time::level_metric(&full, points.collect()) {
                builder.add_metric(levels);
            }
        }
        (self.left_out > 0).then(|| {
            format!(
                "{} values of counters have no time or are not numbers; they were left out.",
                self.left_out
            )
        })
    }
}
