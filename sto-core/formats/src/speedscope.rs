//! speedscope's JSON, with sampled and evented profiles.
//!
//! Source: `src/lib/file-format-spec.ts` of <https://github.com/jlfwong/speedscope>.

use crate::calls;
use crate::error::{DecodeError, Decoded};
use crate::json::{Spans, add_thread};
use crate::names::{NamedFrame, nanoseconds_in};
use crate::recording::{LocationIx, RecordingBuilder, SampleKey, StackIx, Stacks, ThreadIx};
use crate::source::{Head, ReadOptions};
use crate::wire::json::{Number, Text, entry, parse, quote_name, same_length};
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, Error, SeqAccess, Visitor};
use std::fmt;
use sto_model::trace::CallThread;
use sto_model::trace::log::CallLogWriter;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::units::{Cost, Nanoseconds, Unit};

/// Returns `true` if a file begins with speedscope's schema or with shared frames.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let keys = head.keys();
    let has = |key: &[u8]| keys.contains(&key);
    let names_schema = || memchr::memmem::find(head.bytes, b"speedscope.app/file-format").is_some();
    (has(b"$schema") && names_schema()) || (has(b"shared") && has(b"profiles"))
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct File<'b> {
    shared: Shared<'b>,
    profiles: Vec<Profile<'b>>,
    exporter: Option<Text<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Shared<'b> {
    frames: Vec<SharedFrame<'b>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct SharedFrame<'b> {
    name: Text<'b>,
    file: Option<Text<'b>>,
    line: Option<Number>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"), rename_all = "camelCase")]
struct Profile<'b> {
    r#type: Text<'b>,
    #[serde(default)]
    name: Text<'b>,
    #[serde(default)]
    unit: Text<'b>,
    start_value: Number,
    end_value: Number,
    #[serde(default)]
    samples: Sampled,
    #[serde(default)]
    weights: Vec<Number>,
    /// Events of an evented profile.
    #[serde(default)]
    events: Vec<Event<'b>>,
}

/// Samples of a sampled profile, each with its stack's number.
#[derive(Default)]
struct Sampled {
    /// Stacks of indices of shared frames, root first.
    stacks: Stacks,
    samples: Vec<StackIx>,
}

impl<'d> Deserialize<'d> for Sampled {
    fn deserialize<D: Deserializer<'d>>(deserializer: D) -> Result<Sampled, D::Error> {
        deserializer.deserialize_seq(Samples)
    }
}

struct Samples;

impl<'d> Visitor<'d> for Samples {
    type Value = Sampled;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of samples")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<Sampled, A::Error> {
        let (mut sampled, mut frames) = (Sampled::default(), Vec::new());
        while let Some(()) = list.next_element_seed(FramesInto(&mut frames))? {
            let stack = sampled.stacks.try_insert(&frames);
            sampled.samples.push(stack.ok_or_else(|| {
                A::Error::custom("distinct stacks of more than 2^32 frames; split the file")
            })?);
            frames.clear();
        }
        Ok(sampled)
    }
}

/// A list of frames, appended to this vector.
struct FramesInto<'f>(&'f mut Vec<LocationIx>);

impl<'d> DeserializeSeed<'d> for FramesInto<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'d>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'d> Visitor<'d> for FramesInto<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of frames")
    }

    fn visit_seq<A: SeqAccess<'d>>(self, mut list: A) -> Result<(), A::Error> {
        while let Some(frame) = list.next_element()? {
            self.0.push(LocationIx(frame));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'b"))]
struct Event<'b> {
    r#type: Text<'b>,
    frame: u32,
    at: Number,
}

pub(super) fn read(bytes: &[u8], options: &ReadOptions) -> Decoded<RecordingBuilder> {
    let file: File<'_> = parse(bytes)?;
    let mut builder = options.builder();
    let locations = file.shared.frames.iter().enumerate();
    let locations = locations
        .map(|(ix, frame)| location(frame, &format!("shared.frames[{ix}]"), &mut builder))
        .collect::<Result<Vec<_>, _>>()?;
    let by = file.exporter.as_ref();
    let mut reader = Reader {
        // In files written by sto, profiles are sample types; in others, threads.
        is_ours: by.is_some_and(|by| by.0.starts_with(b"sto@")),
        locations,
        builder,
        fractions: Fractions::default(),
        calls: CallLogWriter::new(options.call_folder.as_deref()),
        called: HashMap::new(),
    };
    for (ix, profile) in file.profiles.iter().enumerate() {
        reader.profile(profile, &format!("profiles[{ix}]"))?;
    }
    reader.builder.warnings.extend(reader.fractions.warning());
    calls::finish(reader.builder, reader.calls, &reader.locations, options)
}

fn location(
    frame: &SharedFrame<'_>,
    at: &str,
    builder: &mut RecordingBuilder,
) -> Decoded<LocationIx> {
    let line = match frame.line {
        Some(Number::Whole(line)) => u32::try_from(line).unwrap_or(0),
        _ => 0,
    };
    let frame = NamedFrame {
        symbol: &frame.name.0,
        file: frame.file.as_ref().map_or(b"", |file| &file.0),
        line,
        ..NamedFrame::default()
    };
    frame.add(builder).map_err(DecodeError::at(at))
}

struct Reader {
    is_ours: bool,
    locations: Vec<LocationIx>,
    builder: RecordingBuilder,
    fractions: Fractions,
    /// The calls of evented profiles, whose functions are the shared frames.
    calls: CallLogWriter,
    /// Number of profiles by name.
    called: HashMap<String, u32>,
}

impl Reader {
    fn profile(&mut self, profile: &Profile<'_>, at: &str) -> Decoded<()> {
        let (unit, factor) = match &*profile.unit.0 {
            b"none" | b"" => (Unit::Samples, 1),
            b"bytes" => (Unit::Bytes, 1),
            time => {
                let factor = nanoseconds_in(time).ok_or_else(|| {
                    let problem = format!(
                        "{}; expected one of none, nanoseconds, microseconds, milliseconds, seconds, bytes",
                        quote_name(&profile.unit)
                    );
                    DecodeError::new(format!("{at}.unit"), problem)
                })?;
                (Unit::Nanoseconds, factor)
            }
        };
        if *profile.r#type.0 == *b"evented" && unit == Unit::Nanoseconds && !self.is_ours {
            return self.trace(profile, factor, at);
        }
        let event = match (self.is_ours, unit) {
            (true, _) => self.builder.text(&profile.name.0).into_owned(),
            (false, Unit::Nanoseconds) => "wall".to_owned(),
            (false, unit) => unit.name().to_owned(),
        };
        let sample_type = self.builder.try_sample_type(&event, unit);
        let sample_type = sample_type.map_err(DecodeError::at(at))?;
        let thread = match (self.is_ours, self.builder.threads.first()) {
            (true, Some(_)) => ThreadIx(0),
            (true, None) => self.thread(&Text::default()),
            (false, _) => self.thread(&profile.name),
        };
        let column = Column {
            measured: (thread, sample_type),
            unit,
            factor,
        };
        match &*profile.r#type.0 {
            b"sampled" => self.sampled(profile, column, at),
            b"evented" => self.evented(profile, column, at),
            _ => {
                let problem = format!(
                    "{}; expected `sampled` or `evented`",
                    quote_name(&profile.r#type)
                );
                Err(DecodeError::new(format!("{at}.type"), problem))
            }
        }
    }

    fn thread(&mut self, name: &Text<'_>) -> ThreadIx {
        let (id, program) = Default::default();
        add_thread(&mut self.builder, (&id, &program), (&id, name))
    }

    fn location(&self, frame: u32, path: impl Fn() -> String) -> Decoded<LocationIx> {
        entry(&self.locations, frame.into(), "shared.frames", path).copied()
    }

    fn sampled(&mut self, profile: &Profile<'_>, column: Column, at: &str) -> Decoded<()> {
        let (Sampled { stacks, samples }, weights) = (&profile.samples, &profile.weights);
        let at_weights = || format!("{at}.weights");
        same_length(weights.len(), (samples.len(), "samples"), at_weights)?;
        let mut stack_of: Vec<Option<StackIx>> = vec![None; stacks.len()];
        // Each sample lasts as long as its weight.
        let mut now = 0u64;
        for (ix, (&sample, &weight)) in samples.iter().zip(weights).enumerate() {
            let path = |column: &str| format!("{at}.{column}[{ix}]");
            let value = self.value(weight, column, || path("weights"))?;
            let stack = match stack_of[sample.get()] {
                Some(known) => known,
                None => {
                    let stack = self.stack(stacks.own_locations(sample), || path("samples"))?;
                    *stack_of[sample.get()].insert(stack)
                }
            };
            let samples = match column.unit {
                Unit::Samples => value,
                _ => u64::from(value > 0),
            };
            if value > 0 {
                let time = (column.unit == Unit::Nanoseconds).then_some(Nanoseconds(now));
                let cost = Cost { samples, value };
                self.builder.push(column.measured, stack, time, cost);
            }
            now = now.saturating_add(value);
        }
        Ok(())
    }

    /// The stack of these indices of shared frames.
    fn stack(&mut self, frames: &[LocationIx], path: impl Fn() -> String) -> Decoded<StackIx> {
        let frames = frames.iter().enumerate();
        let stack =
            frames.map(|(depth, frame)| self.location(frame.0, || format!("{}[{depth}]", path())));
        let stack = stack.collect::<Decoded<Vec<_>>>()?;
        let stack = self.builder.stack(&stack);
        stack.map_err(|limit| DecodeError::new(path(), limit))
    }

    fn evented(&mut self, profile: &Profile<'_>, column: Column, at: &str) -> Decoded<()> {
        let mut spans = Spans::new(column.measured, column.unit);
        self.events(profile, column.factor, at, |reader, change| match change {
            Change::Advance(value) => {
                let advanced = spans.advance(value, &mut reader.builder);
                advanced.map_err(|limit| limit.to_string())
            }
            Change::Open(frame) => {
                spans.open(reader.locations[frame as usize]);
                Ok(())
            }
            Change::Close => {
                spans.close();
                Ok(())
            }
        })
    }

    /// Reads an evented profile of times as a call trace.
    fn trace(&mut self, profile: &Profile<'_>, factor: u64, at: &str) -> Decoded<()> {
        let name = self.builder.text(&profile.name.0).into_owned();
        let called = self.called.entry(name.clone()).or_default();
        *called += 1;
        let thread = self.calls.intern_thread(CallThread {
            pid: 0,
            program: String::new(),
            tid: 0,
            name: match called {
                1 => name,
                _ => format!("{name} ({called})"),
            },
        });
        let mut now = Nanoseconds(0);
        self.events(profile, factor, at, |reader, change| {
            match change {
                Change::Advance(value) => now = Nanoseconds(value),
                Change::Close => reader.calls.end(thread, None, now),
                Change::Open(frame) => {
                    let begun = reader.calls.begin(thread, TraceFunctionIx(frame), now);
                    begun.map_err(|error| error.to_string())?;
                }
            }
            Ok(())
        })
    }

    /// Passes on the events of an evented profile, with values relative to its start.
    fn events(
        &mut self,
        profile: &Profile<'_>,
        factor: u64,
        at: &str,
        mut hand_on: impl FnMut(&mut Reader, Change) -> Result<(), String>,
    ) -> Decoded<()> {
        let scaled = |number: Number, path: &dyn Fn() -> String| {
            number.multiply(factor).ok_or_else(|| {
                DecodeError::new(
                    path(),
                    format!("{number}; expected a number that fits 64 bits"),
                )
            })
        };
        let start = scaled(profile.start_value, &|| format!("{at}.startValue"))?;
        let mut now = 0;
        let mut value_of = |number: Number, path: &dyn Fn() -> String| -> Decoded<u64> {
            let value = scaled(number, path)?.checked_sub(start);
            let value = value.and_then(|value| u64::try_from(value).ok());
            now = value.filter(|&value| value >= now).ok_or_else(|| {
                let problem = format!(
                    "{number}; expected a number that is no smaller than the one before, nor than startValue"
                );
                DecodeError::new(path(), problem)
            })?;
            Ok(now)
        };
        let mut open: Vec<u32> = Vec::new();
        for (ix, event) in profile.events.iter().enumerate() {
            let path = |field: &str| format!("{at}.events[{ix}].{field}");
            let limit =
                |field: &'static str| move |limit: String| DecodeError::new(path(field), limit);
            let value = value_of(event.at, &|| path("at"))?;
            hand_on(self, Change::Advance(value)).map_err(limit("at"))?;
            self.location(event.frame, || path("frame"))?;
            match &*event.r#type.0 {
                b"O" => {
                    open.push(event.frame);
                    hand_on(self, Change::Open(event.frame)).map_err(limit("frame"))?;
                }
                b"C" if open.last() == Some(&event.frame) => {
                    open.pop();
                    hand_on(self, Change::Close).map_err(limit("frame"))?;
                }
                b"C" => {
                    let problem = "the end of a call that is not the innermost one; expected calls to end after their callees";
                    return Err(DecodeError::new(path("frame"), problem));
                }
                _ => {
                    let problem = format!("{}; expected `O` or `C`", quote_name(&event.r#type));
                    return Err(DecodeError::new(path("type"), problem));
                }
            }
        }
        let end = || format!("{at}.endValue");
        let value = value_of(profile.end_value, &end)?;
        let ended = hand_on(self, Change::Advance(value));
        ended.map_err(|limit| DecodeError::new(end(), limit))?;
        if !open.is_empty() {
            let problem = format!(
                "{} calls begin here and do not end; was the recording cut short?",
                open.len()
            );
            return Err(DecodeError::new(format!("{at}.events"), problem));
        }
        Ok(())
    }

    fn value(&mut self, weight: Number, column: Column, path: impl Fn() -> String) -> Decoded<u64> {
        let value = weight.weight(column.factor, path)?;
        Ok(match weight {
            Number::Fraction(weight) if column.factor == 1 => self.fractions.whole(weight),
            _ => value,
        })
    }
}

/// Sum of the fractional weights so far, and of the integers returned for them.
#[derive(Default)]
struct Fractions {
    exact: f64,
    given: u64,
    any: bool,
}

impl Fractions {
    fn warning(&self) -> Option<String> {
        let warning = "Weights have fractions; they were rounded so that their sum is unchanged.";
        self.any.then(|| warning.to_owned())
    }

    fn whole(&mut self, fraction: f64) -> u64 {
        self.any |= fraction.fract() != 0.0;
        self.exact += fraction;
        let sum = self.exact.round() as u64;
        let whole = sum.saturating_sub(self.given);
        self.given += whole;
        whole
    }
}

/// An event of an evented profile.
enum Change {
    /// Advances to a value.
    Advance(u64),
    /// Begins a call of a frame.
    Open(u32),
    /// Ends the innermost call.
    Close,
}

/// The sample type of a profile's values.
#[derive(Clone, Copy)]
struct Column {
    measured: SampleKey,
    unit: Unit,
    /// Factor from the file's unit to ours.
    factor: u64,
}
