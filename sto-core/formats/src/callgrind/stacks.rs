//! From call graphs to samples of stacks.
//!
//! A call graph says what each function called by each of its callers cost, but not what these were
//! called by in turn. What a function costs is divided among its callers in proportion of what
//! their calls cost, as gprof does (Graham, Kessler, McKusick: *gprof: a call graph execution
//! profiler*, 1982). Each function's own cost stays what it is, and so does that of calls and
//! totals, as far as there is no recursion. Stacks of functions that all have one caller are exact.

use super::events::{EventIx, Numbers};
use super::flow::{Flow, FlowIx};
use super::graph::Graph;
use super::names::FunctionIx;
use super::paths::{Context, Paths};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::time;
use sto_model::units::Cost;

/// How many pieces the costs of all graphs are divided into at most; each function with a cost has one anyway.
const MAX_PIECES: usize = 1 << 21;

/// A time of some nanoseconds, or some bytes; either is a sample for each million of what it is measured in.
fn scaled(cost: u64, factor: u64) -> Built<Cost> {
    let value = cost.checked_mul(factor);
    Ok(time(value.ok_or_else(|| {
        format!("a cost of {cost}, {factor} times which is more than 2^64 - 1")
    })?))
}

/// Adds the samples, and returns what to say of how their stacks were made.
pub(super) fn add(
    graphs: Vec<Vec<(EventIx, Graph)>>,
    numbers: &[(SampleTypeIx, Numbers)],
    frames: &[LocationIx],
    writer: &Writer,
    builder: &mut RecordingBuilder,
) -> Built<Vec<String>> {
    let mut first_event = Divided::default();
    let mut pieces_left = MAX_PIECES;
    for (thread, graphs) in (0..).map(ThreadIx).zip(graphs) {
        for (event, graph) in graphs {
            let (sample_type, numbers) = numbers[event.get()];
            let add = |builder: &mut RecordingBuilder, stack, cost| {
                let counted = Cost::counted(cost);
                let cost = match numbers {
                    Numbers::Both => counted,
                    Numbers::Values => Cost {
                        samples: 0,
                        ..counted
                    },
                    Numbers::Samples => Cost {
                        value: 0,
                        ..counted
                    },
                    Numbers::Scaled(factor) => scaled(cost, factor)?,
                };
                builder.add_cost(thread, sample_type, stack, cost)
            };
            let divided = divide(&graph, pieces_left, frames, builder, add)?;
            pieces_left = pieces_left.saturating_sub(divided.pieces);
            if sample_type == SampleTypeIx(0) && !matches!(numbers, Numbers::Samples) {
                first_event.add(&divided);
            }
        }
    }
    Ok(first_event.warnings(writer))
}

/// Adds the stacks of one graph, each by `add` with a cost, and returns what to say of how they were made.
pub(crate) fn add_graph(
    graph: &Graph,
    frames: &[LocationIx],
    writer: &Writer,
    builder: &mut RecordingBuilder,
    add: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Built<()>,
) -> Built<Vec<String>> {
    let divided = divide(graph, MAX_PIECES, frames, builder, add)?;
    Ok(divided.warnings(writer))
}

/// Who keeps calls instead of stacks.
pub(crate) struct Writer {
    pub(crate) name: &'static str,
    /// What to do for exact stacks.
    pub(crate) instead: &'static str,
}

impl Writer {
    /// Who wrote a file of Callgrind's format, by its `creator:`.
    pub(super) fn of(creator: &[u8]) -> Writer {
        if creator.starts_with(b"xdebug ") {
            Writer {
                name: "Xdebug",
                instead: "Record with a sampling profiler such as phpspy or Excimer",
            }
        } else {
            Writer::default()
        }
    }
}

impl Default for Writer {
    fn default() -> Writer {
        Writer {
            name: "Callgrind",
            instead: "Record with --separate-callers=10",
        }
    }
}

/// What to say of a graph that was divided.
#[derive(Default)]
struct Divided {
    cost: u64,
    /// Of that, what several callers share, so that the stacks above are an estimate.
    estimated: u64,
    /// Of that, what stands on the larger stacks of its function, as there were too many.
    moved: f64,
    has_recursion: bool,
    pieces: usize,
}

impl Divided {
    fn add(&mut self, other: &Divided) {
        self.cost += other.cost;
        self.estimated += other.estimated;
        self.moved += other.moved;
        self.has_recursion |= other.has_recursion;
    }

    fn warnings(&self, writer: &Writer) -> Vec<String> {
        let percent = |part: f64| 100.0 * part / self.cost as f64;
        let mut warnings = Vec::new();
        if self.estimated > 0 {
            warnings.push(format!(
                "{} keeps calls, not stacks: of {:.1} % of all cost the stacks are an estimate, as \
                 functions with several callers were divided by what their calls cost. Functions and their \
                 totals are exact{}. {} for exact stacks.",
                writer.name,
                percent(self.estimated as f64),
                if self.has_recursion { ", but for recursion" } else { "" },
                writer.instead
            ));
        }
        if percent(self.moved) >= 0.1 {
            warnings.push(format!(
                "There are more paths of calls than are kept: {:.1} % of all cost was moved to larger \
                 stacks of the same function.",
                percent(self.moved)
            ));
        }
        warnings
    }
}

/// Divides a graph into stacks, of which each is given to `add` with a cost, in at most `most` pieces if it can
/// be. `frames` are those of functions.
fn divide(
    graph: &Graph,
    most: usize,
    frames: &[LocationIx],
    builder: &mut RecordingBuilder,
    mut add: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Built<()>,
) -> Built<Divided> {
    let flow = Flow::of(graph);
    let paths = Paths::of(&flow, most);
    let mut divided = Divided {
        has_recursion: flow.has_recursion,
        pieces: paths.pieces,
        ..Divided::default()
    };
    let frame_of = |function: FlowIx| frames[flow.functions[function].0 as usize];
    // By context. Callers stand before what they call.
    let mut stacks: Vec<StackIx> = Vec::with_capacity(paths.contexts.len());
    for context in &paths.contexts {
        let caller = context.caller.map(|caller| stacks[caller]);
        stacks.push(builder.call(caller, frame_of(context.function))?);
    }
    give_out(&flow, &paths, &mut divided, |context, line, cost| {
        let Context {
            function, caller, ..
        } = paths.contexts[context];
        let leaf = builder.at_line(frame_of(function), line)?;
        let caller = caller.map(|caller| stacks[caller]);
        let stack = builder.call(caller, leaf)?;
        add(builder, stack, cost)
    })?;
    Ok(divided)
}

/// Divides each function's costs among its contexts, to the last one: gives each context to `piece` with a line
/// and its cost.
fn give_out(
    flow: &Flow<'_>,
    paths: &Paths<'_>,
    divided: &mut Divided,
    mut piece: impl FnMut(usize, u32, u64) -> Built<()>,
) -> Built<()> {
    let is_exact = flow.exact();
    let mut of_function: Vec<Vec<usize>> = vec![Vec::new(); flow.functions.len()];
    for (ix, context) in paths.contexts.iter().enumerate() {
        of_function[context.function].push(ix);
    }
    for (function, contexts) in of_function.iter().enumerate() {
        let mut lines = flow.own[function].to_vec();
        let cost = flow.own_cost(function);
        let shares: f64 = contexts
            .iter()
            .map(|&context| paths.contexts[context].share)
            .sum();
        divided.cost += cost;
        divided.estimated += if is_exact[function] { 0 } else { cost };
        divided.moved += cost as f64 * (1.0 - shares).max(0.0);
        let (mut given, mut given_share) = (0, 0.0);
        for (number, &context) in contexts.iter().enumerate() {
            given_share += paths.contexts[context].share;
            let up_to_here = if number + 1 == contexts.len() {
                cost
            } else {
                ((cost as f64 * (given_share / shares)).round() as u64).clamp(given, cost)
            };
            let part = up_to_here - given;
            if part > 0 {
                take(&mut lines, cost - given, part, |line, cost| {
                    piece(context, line, cost)
                })?;
            }
            given = up_to_here;
        }
    }
    Ok(())
}

/// Takes `part` of what is left of the costs by line, which is `whole`, in proportion.
fn take(
    lines: &mut [(FunctionIx, u32, u64)],
    whole: u64,
    part: u64,
    mut taken: impl FnMut(u32, u64) -> Built<()>,
) -> Built<()> {
    let (mut before, mut given) = (0u128, 0);
    for (_, line, left) in lines {
        before += u128::from(*left);
        // At most `part`, so it fits.
        let up_to_here = (before * u128::from(part) / u128::from(whole)) as u64;
        let piece = up_to_here - given;
        given = up_to_here;
        *left -= piece;
        if piece > 0 {
            taken(*line, piece)?;
        }
    }
    Ok(())
}
