//! Reports of Ruby's stackprof: dumps of `StackProf.run(out: FILE)`, and JSON (`stackprof --json`,
//! `StackProf::Report#print_json`).
//!
//! They have frames by id and, if recorded with `raw: true`, stacks with counts. Otherwise there
//! are calls but no stacks, and stacks are estimated as for Callgrind.
//!
//! Source: `ext/stackprof/stackprof.c` and `lib/stackprof/report.rb` of stackprof.

mod dump;
mod json;

use crate::callgrind::{FunctionIx, Graph, Writer, add_graph};
use crate::error::{DecodeError, Decoded};
use crate::names::NamedFrame;
use crate::recording::{LocationIx, RecordingBuilder};
use crate::report::add_to_only_thread;
use crate::source::Head;
use crate::wire::json::Number;
use hashbrown::HashMap;
use std::borrow::Cow;
use sto_model::units::{Cost, Unit};

pub(super) fn matches(head: &Head<'_>) -> bool {
    json::matches(head) || dump::matches(head)
}

struct Report<'b> {
    mode: Cow<'b, [u8]>,
    /// Microseconds or objects between samples.
    interval: Number,
    missed_samples: u64,
    /// Frames with their ids.
    frames: Vec<(u64, Frame<'b>)>,
    /// For each stack, the number of its frames, their ids from the root, and its count.
    raw: Option<Vec<u64>>,
}

#[derive(Default)]
struct Frame<'b> {
    name: Cow<'b, [u8]>,
    file: Cow<'b, [u8]>,
    line: u32,
    /// Self samples.
    samples: u64,
    /// Samples of calls, by callee.
    edges: Vec<(u64, u64)>,
    /// Self samples by line.
    lines: Vec<(u32, u64)>,
}

const WITHOUT_STACKS: Writer = Writer {
    name: "stackprof without `raw: true`",
    instead: "Record with it (`STACKPROF_RAW=1`)",
};

pub(super) fn read(bytes: &[u8]) -> Decoded<RecordingBuilder> {
    let report = if dump::matches(&Head::all(bytes)) {
        dump::read(bytes)?
    } else {
        json::read(bytes)?
    };
    let mut builder = RecordingBuilder::default();
    let (event, unit, factor) = match &*report.mode {
        b"wall" => ("wall", Unit::Nanoseconds, 1000),
        b"cpu" => ("cpu", Unit::Nanoseconds, 1000),
        b"object" => ("objects", Unit::Events, 1),
        // Samples taken by the program itself with `StackProf.sample`.
        _ => ("samples", Unit::Samples, 0),
    };
    let period = match factor {
        0 => 1,
        factor => report.interval.weight(factor, || "interval".to_owned())?,
    };
    let mut frames = Frames::default();
    for (id, frame) in &report.frames {
        frames.add(*id, frame, &mut builder)?;
    }
    match &report.raw {
        Some(raw) => add_stacks(raw, &frames, period, &mut builder)?,
        None => add_calls(&report.frames, &frames, period, &mut builder)?,
    }
    builder.sample_type(event, unit);
    builder.lost = report.missed_samples;
    Ok(builder)
}

fn cost(samples: u64, period: u64) -> Result<Cost, String> {
    let value = samples.checked_mul(period);
    let value = value.ok_or("costs of more than 2^64 - 1")?;
    Ok(Cost { samples, value })
}

fn add_stacks(
    raw: &[u64],
    frames: &Frames,
    period: u64,
    builder: &mut RecordingBuilder,
) -> Decoded<()> {
    let (mut at, mut stack) = (0, Vec::new());
    while at < raw.len() {
        let end = usize::try_from(raw[at])
            .ok()
            .and_then(|length| (at + 1).checked_add(length));
        let Some((end, &count)) = end.and_then(|end| Some((end, raw.get(end)?))) else {
            let problem = "a stack that ends beyond the list; expected its frames and their count";
            return Err(DecodeError::new(format!("raw[{at}]"), problem));
        };
        stack.clear();
        for (&id, ix) in raw[at + 1..end].iter().zip(at + 1..) {
            let function = frames.find(id, || format!("raw[{ix}]"))?;
            stack.push(frames.locations[function.get()]);
        }
        let added = builder.stack(&stack).and_then(|stack| {
            let cost = cost(count, period)?;
            add_to_only_thread(builder, 0, stack, cost)
        });
        added.map_err(|limit| DecodeError::new(format!("raw[{at}]"), limit))?;
        at = end + 1;
    }
    Ok(())
}

fn add_calls(
    written: &[(u64, Frame<'_>)],
    frames: &Frames,
    period: u64,
    builder: &mut RecordingBuilder,
) -> Decoded<()> {
    let mut graph = Graph::default();
    for (id, frame) in written {
        let at = || format!("frames[{id}]");
        let caller = frames.find(*id, at)?;
        let by_line = frame
            .lines
            .iter()
            .try_fold(0u64, |sum, (_, samples)| sum.checked_add(*samples));
        if by_line == Some(frame.samples) {
            graph.own.extend(
                frame
                    .lines
                    .iter()
                    .map(|&(line, samples)| (caller, line, samples)),
            )
        } else {
            graph.own.push((caller, frame.line, frame.samples))
        }
        for &(callee, samples) in &frame.edges {
            graph
                .calls
                .push((caller, frames.find(callee, at)?, samples));
        }
    }
    graph.own.retain(|(.., samples)| *samples > 0);
    graph.own.sort_unstable();
    graph.calls.sort_unstable();
    let all = graph
        .own
        .iter()
        .try_fold(0u64, |sum, (.., samples)| sum.checked_add(*samples));
    all.ok_or_else(|| DecodeError::new("frames", "samples of more than 2^64 - 1"))?;
    let warnings = add_graph(
        &graph,
        &frames.locations,
        &WITHOUT_STACKS,
        builder,
        |builder, stack, samples| add_to_only_thread(builder, 0, stack, cost(samples, period)?),
    );
    let warnings = warnings.map_err(DecodeError::at("frames"))?;
    builder.warnings.extend(warnings);
    Ok(())
}

#[derive(Default)]
struct Frames {
    ids: HashMap<u64, FunctionIx>,
    locations: Vec<LocationIx>,
}

impl Frames {
    fn add(&mut self, id: u64, frame: &Frame<'_>, builder: &mut RecordingBuilder) -> Decoded<()> {
        let named = NamedFrame {
            symbol: &frame.name,
            file: match &*frame.file {
                b"<cfunc>" => b"",
                file => file,
            },
            line: frame.line,
            ..NamedFrame::default()
        };
        let at = || format!("frames[{id}]");
        let location = named.add(builder).map_err(DecodeError::at(at()))?;
        let function = FunctionIx(self.locations.len() as u32);
        self.locations.push(location);
        match self.ids.insert(id, function) {
            None => Ok(()),
            Some(_) => Err(DecodeError::new(at(), "a second frame with the same id")),
        }
    }

    fn find(&self, id: u64, at: impl FnOnce() -> String) -> Decoded<FunctionIx> {
        let known = self.ids.get(&id).copied();
        known.ok_or_else(|| DecodeError::new(at(), format!("{id}; expected the id of a frame")))
    }
}
