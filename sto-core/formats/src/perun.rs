//! Perun profiles: the resources found by its collectors, each with an amount. Stored profiles
//! (`.perun/objects`) begin with `profile TYPE SIZE` and a zero byte.
//!
//! Source: *Specification of Profile Format* in Perun's documentation,
//! <https://perfexionists.github.io/perun/profile.html>.

use crate::call_events::{CallEvents, Functions, ThreadKind};
use crate::calls;
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{Built, LocationIx, RecordingBuilder, StackIx};
use crate::source::{Head, ReadOptions};
use crate::wire::json::{Number, first_keys, parse};
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use sto_model::trace::log::CallLogWriter;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::trace::{CallThread, WALL_EVENT};
use sto_model::units::{Bytes, Cost, Unit};

/// The argument of a call by which Perun models its amount.
const SIZE: &str = "structure-unit-size";

/// Returns `true` if a file begins with keys that only Perun's profiles have, or with resources
/// that have amounts.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let stored;
    let keys = match profile_of(head.bytes) {
        all if all.len() == head.bytes.len() => head.keys(),
        part => {
            stored = first_keys(part);
            &stored
        }
    };
    let has = |key: &str| keys.contains(&key.as_bytes());
    let has_amounts = || memchr::memmem::find(head.bytes, b"\"amount\"").is_some();
    let has_resources = || ["resources", "global", "snapshots"].into_iter().any(has);
    has("collector_info") || has("resource_type_map") || (has_resources() && has_amounts())
}

/// The profile after the header of a stored object, or the whole file.
fn profile_of(bytes: &[u8]) -> &[u8] {
    let is_stored = bytes.starts_with(b"profile ");
    let end = memchr::memchr(0, bytes).filter(|_| is_stored);
    end.map_or(bytes, |end| &bytes[end + 1..])
}

#[derive(Deserialize)]
struct File<'b> {
    #[serde(default, borrow)]
    header: Header<'b>,
    #[serde(default, borrow)]
    collector_info: Collector<'b>,
    #[serde(borrow)]
    resources: Option<&'b RawValue>,
    /// By key of `resources`: the properties shared by all resources of the key.
    #[serde(default, borrow)]
    resource_type_map: BTreeMap<Cow<'b, str>, Kind<'b>>,
    /// Before Perun 0.17: single resources, by time or without one.
    #[serde(borrow)]
    global: Option<&'b RawValue>,
    #[serde(borrow)]
    snapshots: Option<&'b RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Header<'b> {
    #[serde(borrow)]
    cmd: Option<Cow<'b, str>>,
    #[serde(borrow)]
    args: Option<Cow<'b, str>>,
    #[serde(borrow)]
    workload: Option<Cow<'b, str>>,
    #[serde(borrow)]
    units: Option<&'b RawValue>,
}

#[derive(Default, Deserialize)]
struct Collector<'b> {
    #[serde(default, borrow)]
    name: Cow<'b, str>,
}

/// The properties of a resource.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Kind<'b> {
    #[serde(borrow)]
    uid: Uid<'b>,
    r#type: Option<String>,
    subtype: Option<String>,
    /// The stack, innermost first.
    #[serde(borrow)]
    trace: Vec<Uid<'b>>,
    #[serde(alias = "tid")]
    thread: Option<u32>,
    ncalls: Option<u64>,
    #[serde(rename = "Total Exclusive T [ms]")]
    exclusive: Option<f64>,
    /// The stack, added once a resource of it is read, because all stacks together may be large.
    #[serde(skip)]
    stack: OnceCell<StackIx>,
    /// The number of the function, once a call of it is read.
    #[serde(skip)]
    function: OnceCell<TraceFunctionIx>,
}

/// A function.
#[derive(Deserialize)]
#[serde(untagged)]
enum Uid<'b> {
    Name(Cow<'b, str>),
    Place {
        #[serde(default)]
        function: Cow<'b, str>,
        #[serde(default)]
        source: Cow<'b, str>,
        #[serde(default)]
        line: u32,
    },
    Other(IgnoredAny),
}

impl Default for Uid<'_> {
    fn default() -> Self {
        Uid::Name(Cow::Borrowed(""))
    }
}

/// The values of each resource of a kind.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "kebab-case")]
struct Columns {
    amount: Vec<Number>,
    structure_unit_size: Vec<Option<f64>>,
    timestamp: Vec<Option<f64>>,
}

/// Single resources.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Group<'b> {
    #[serde(borrow)]
    resources: Vec<Resource<'b>>,
}

#[derive(Deserialize)]
struct Resource<'b> {
    #[serde(flatten, borrow)]
    kind: Kind<'b>,
    amount: Option<f64>,
    #[serde(rename = "structure-unit-size")]
    structure_unit_size: Option<f64>,
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let file: File<'_> = parse(profile_of(bytes))?;
    let mut units = units(file.header.units);
    if file.collector_info.name == "complexity" {
        // Its library writes microseconds, whatever unit Perun states.
        units.insert("mixed(time delta)".to_owned(), "us".to_owned());
    }
    let mut reader = Reader {
        options,
        units,
        builder: RecordingBuilder::default(),
        events: CallEvents::new(options),
        functions: Functions::default(),
        threads: Vec::new(),
        thread_numbers: HashMap::new(),
        now: HashMap::new(),
        without_amount: 0,
    };
    let words = [&file.header.cmd, &file.header.args, &file.header.workload];
    let words = words.into_iter().flatten().filter(|word| !word.is_empty());
    let command = words.map(|word| &**word).collect::<Vec<_>>().join(" ");
    reader.builder.origin().command = Some(command).filter(|command| !command.is_empty());
    let is_list = |raw: &RawValue| raw.get().starts_with('[');
    match file.resources {
        Some(list) if is_list(list) => {
            let all: Vec<Resource<'_>> = within(list, "resources")?;
            reader.each(&all, "resources")?;
        }
        Some(map) => reader.columns(&file.resource_type_map, map)?,
        None => {}
    }
    for (raw, at) in [(file.global, "global"), (file.snapshots, "snapshots")] {
        let groups: Vec<Group<'_>> = match raw {
            Some(list) if is_list(list) => within(list, at)?,
            Some(one) => vec![within(one, at)?],
            None => Vec::new(),
        };
        for group in &groups {
            reader.each(&group.resources, at)?;
        }
    }
    reader.finish(bytes.len())
}

fn within<'b, T: Deserialize<'b>>(raw: &'b RawValue, at: &str) -> Decoded<T> {
    serde_json::from_str(raw.get()).map_err(|error| DecodeError::new(at, error.to_string()))
}

/// Units by type: `{"mixed(time delta)": "us"}`.
fn units(raw: Option<&RawValue>) -> BTreeMap<String, String> {
    raw.and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default()
}

struct Reader<'o> {
    options: &'o ReadOptions,
    units: BTreeMap<String, String>,
    builder: RecordingBuilder,
    /// Resources that are calls.
    events: CallEvents,
    functions: Functions,
    /// Ids of threads by number, and numbers by id.
    threads: Vec<u32>,
    thread_numbers: HashMap<u32, u32>,
    /// Begin of the next call of each thread, if calls have no times.
    now: HashMap<u32, i64>,
    without_amount: u64,
}

impl Reader<'_> {
    fn columns(&mut self, kinds: &BTreeMap<Cow<'_, str>, Kind<'_>>, raw: &RawValue) -> Decoded<()> {
        let all: BTreeMap<Cow<'_, str>, Columns> = within(raw, "resources")?;
        let unknown = Kind::default();
        for (key, columns) in &all {
            let at = || format!("resources.{}", key.escape_debug());
            let kind = kinds.get(key).unwrap_or(&unknown);
            if columns.amount.is_empty() {
                self.without_amount(kind, &at)?;
            }
            for (ix, amount) in columns.amount.iter().enumerate() {
                let of = |column: &[Option<f64>]| column.get(ix).copied().flatten();
                let (size, time) = (of(&columns.structure_unit_size), of(&columns.timestamp));
                let at = || format!("{}.amount[{ix}]", at());
                self.resource(kind, *amount, (size, time), &at)?;
            }
        }
        Ok(())
    }

    fn each(&mut self, all: &[Resource<'_>], list: &str) -> Decoded<()> {
        for (ix, resource) in all.iter().enumerate() {
            let at = || format!("{list}.resources[{ix}].amount");
            let size = resource.structure_unit_size;
            match resource.amount {
                Some(amount) => {
                    let amount = Number::Fraction(amount);
                    self.resource(&resource.kind, amount, (size, None), &at)?;
                }
                None => self.without_amount(&resource.kind, &at)?,
            }
        }
        Ok(())
    }

    fn resource(
        &mut self,
        kind: &Kind<'_>,
        amount: Number,
        (size, time): (Option<f64>, Option<f64>),
        at: &dyn Fn() -> String,
    ) -> Decoded<()> {
        let of = kind.r#type.as_deref().unwrap_or_default();
        let subtype = kind.subtype.as_deref().unwrap_or_default();
        if of == "mixed" || subtype == "time delta" {
            return self.call(kind, amount, (size, time), at);
        }
        let phase = match (&kind.uid, subtype) {
            (Uid::Name(name), "") => name,
            _ => subtype,
        };
        let unit = self.units.get(of).or_else(|| self.units.get("time"));
        let (event, unit, factor) = match (of, unit.map(String::as_str)) {
            ("memory", unit) if subtype == "free" => ("free", Unit::Bytes, bytes_in(unit)),
            ("memory", unit) => ("memory", Unit::Bytes, bytes_in(unit)),
            (_, Some("sample")) => ("samples", Unit::Samples, 1),
            ("time", unit) => {
                let event = match phase {
                    "user" | "sys" => phase,
                    _ => WALL_EVENT,
                };
                let factor = unit.map_or(Some(1_000_000_000), nanoseconds);
                (event, Unit::Nanoseconds, factor.unwrap_or(1))
            }
            (other, _) => (other, Unit::Events, 1),
        };
        let value = amount.weight(factor, at)?;
        let samples = if unit == Unit::Samples { value } else { 1 };
        self.sample(kind, (event, unit), Cost { samples, value }, at)
    }

    /// `ktrace` has numbers and self times of calls; other resources without an amount are only
    /// counted.
    fn without_amount(&mut self, kind: &Kind<'_>, at: &dyn Fn() -> String) -> Decoded<()> {
        let (Some(calls), Some(time)) = (kind.ncalls, kind.exclusive) else {
            self.without_amount += 1;
            return Ok(());
        };
        let value = Number::Fraction(time).weight(1_000_000, at)?;
        let cost = Cost {
            samples: calls,
            value,
        };
        self.sample(kind, (WALL_EVENT, Unit::Nanoseconds), cost, at)
    }

    fn sample(
        &mut self,
        kind: &Kind<'_>,
        (event, unit): (&str, Unit),
        cost: Cost,
        at: &dyn Fn() -> String,
    ) -> Decoded<()> {
        let event = if event.is_empty() { "amount" } else { event };
        let stack = match kind.stack.get() {
            Some(stack) => *stack,
            None => {
                let stack = self
                    .stack(kind)
                    .map_err(|limit| DecodeError::new(at(), limit))?;
                let stack = self
                    .builder
                    .stack(&stack)
                    .map_err(|limit| DecodeError::new(at(), limit))?;
                *kind.stack.get_or_init(|| stack)
            }
        };
        let process = self.builder.process(0, "");
        let tid = kind.thread.unwrap_or(0);
        let thread = self.builder.thread_unchecked(process, tid, "");
        let sample_type = self.builder.try_sample_type(event, unit);
        let sample_type = sample_type.map_err(|limit| DecodeError::new(at(), limit))?;
        if !cost.is_zero() {
            self.builder.push((thread, sample_type), stack, None, cost);
        }
        Ok(())
    }

    /// The stack, root first: the trace, or the functions in the name (`a;b;c`).
    fn stack(&mut self, kind: &Kind<'_>) -> Built<Vec<LocationIx>> {
        let builder = &mut self.builder;
        match (&kind.trace[..], &kind.uid) {
            ([], Uid::Name(name)) => {
                let functions = name.split(';').map(|name| Uid::Name(name.into()));
                functions.map(|uid| uid.frame().add(builder)).collect()
            }
            ([], uid) => Ok(vec![uid.frame().add(builder)?]),
            (trace, _) => {
                let outermost_first = trace.iter().rev();
                outermost_first
                    .map(|uid| uid.frame().add(builder))
                    .collect()
            }
        }
    }

    /// Adds a call of a function at its time, or directly after the thread's previous call.
    fn call(
        &mut self,
        kind: &Kind<'_>,
        amount: Number,
        (size, time): (Option<f64>, Option<f64>),
        at: &dyn Fn() -> String,
    ) -> Decoded<()> {
        let unit = self
            .units
            .iter()
            .find(|(of, _)| of.contains("time delta"))
            .map_or("us", |(_, unit)| unit);
        let factor = nanoseconds(unit).ok_or_else(|| {
            let problem = format!(
                "a unit of time `{}`; expected s, ms, us or ns",
                unit.escape_debug()
            );
            DecodeError::new("header.units", problem)
        })?;
        let took = amount.weight(factor, at)?;
        let name = match &kind.uid {
            Uid::Name(name) => name,
            Uid::Place { function, .. } => function,
            Uid::Other(_) => "",
        };
        let name = if name.is_empty() { "[unknown]" } else { name };
        let function = match kind.function.get() {
            Some(function) => *function,
            None => {
                let function = self.functions.number(name.as_bytes(), &mut self.builder);
                let function = function.map_err(|limit| DecodeError::new(at(), limit))?;
                *kind.function.get_or_init(|| function)
            }
        };
        let called = match size {
            Some(size) => self.events.arguments().intern(function, &[(SIZE, size)]),
            None => function,
        };
        let tid = kind.thread.unwrap_or(0);
        let thread = *self.thread_numbers.entry(tid).or_insert_with(|| {
            self.threads.push(tid);
            self.threads.len() as u32 - 1
        });
        let now = self.now.entry(thread).or_default();
        let begin = match time {
            Some(time) => (time * factor as f64) as i64,
            None => *now,
        };
        let end = i64::try_from(took)
            .ok()
            .and_then(|took| begin.checked_add(took));
        let end = end.filter(|_| begin >= 0).ok_or_else(|| {
            let problem = format!("{amount}; expected the times of all calls within 292 years");
            DecodeError::new(at(), problem)
        })?;
        // A call without duration must not become the parent of the next one.
        *now = end.saturating_add(1).max(*now);
        self.events.call(thread, called, begin, Some(end))
    }

    fn finish(mut self, size: usize) -> Decoded<RecordingBuilder> {
        if self.threads.is_empty() && self.builder.samples.is_empty() {
            let problem = match self.without_amount {
                0 => "it has no resources; did the collector find anything?".to_owned(),
                of => format!(
                    "none of its {of} resources has an amount, as written by the collectors of time, memory and calls"
                ),
            };
            return Err(DecodeError::unsupported(problem));
        }
        if self.without_amount > 0 {
            self.builder.warnings.push(format!(
                "{} resources have no amount; they were left out.",
                self.without_amount
            ));
        }
        let mut log = CallLogWriter::new(self.options.call_folder.as_deref());
        let threads = &self.threads;
        let row = |row: ThreadKind| {
            let tid = match row {
                ThreadKind::Thread(thread) => threads[thread as usize],
                ThreadKind::Group(_) => 0,
            };
            CallThread {
                pid: 0,
                program: String::new(),
                tid,
                name: String::new(),
            }
        };
        let paired = self.events.pair(|_| 0)?;
        let misfits = paired.write(0, Bytes(size as u64), &mut log, row)?;
        self.builder.warnings.extend(misfits);
        calls::finish(self.builder, log, self.functions.locations(), self.options)
    }
}

impl Uid<'_> {
    fn frame(&self) -> NamedFrame<'_> {
        match self {
            Uid::Name(name) => NamedFrame {
                symbol: name.as_bytes(),
                ..NamedFrame::default()
            },
            Uid::Place {
                function,
                source,
                line,
            } => NamedFrame {
                symbol: function.as_bytes(),
                // What it cannot find.
                file: match &**source {
                    "unreachable" => b"",
                    source => source.as_bytes(),
                },
                line: *line,
                ..NamedFrame::default()
            },
            Uid::Other(_) => NamedFrame::default(),
        }
    }
}

fn nanoseconds(unit: &str) -> Option<u64> {
    Some(match unit {
        "s" => 1_000_000_000,
        "ms" => 1_000_000,
        "us" | "µs" => 1_000,
        "ns" => 1,
        _ => return None,
    })
}

fn bytes_in(unit: Option<&str>) -> u64 {
    match unit {
        Some("kB" | "KB") => 1_000,
        Some("KiB") => 1 << 10,
        Some("MB") => 1_000_000,
        Some("MiB") => 1 << 20,
        _ => 1,
    }
}
