//! Conversion of call graphs to samples of stacks.
//!
//! A call graph has the cost of each function by caller, but not by the callers of these. The cost
//! of a function is therefore divided among its callers in proportion to the costs of their calls,
//! as gprof does (Graham, Kessler, McKusick: *gprof: a call graph execution profiler*, 1982). Self
//! costs are unchanged, and so are costs of calls and totals unless there is recursion. Stacks of
//! functions that all have a single caller are exact.

use super::events::{EventIx, Numbers};
use super::flow::{Flow, FlowIx};
use super::graph::Graph;
use super::names::FunctionIx;
use super::paths::{Context, Paths};
use crate::recording::{Built, LocationIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx};
use crate::report::time;
use sto_model::units::Cost;

/// Limit to the pieces that the costs of all graphs are divided into, except that each function
/// with a cost has one.
const MAX_PIECES: usize = 1 << 21;

/// A cost in nanoseconds or bytes, with one sample per million units.
fn scaled(cost: u64, factor: u64) -> Built<Cost> {
    let value = cost.checked_mul(factor);
    Ok(time(value.ok_or_else(|| {
        format!("a cost of {cost}, {factor} times which is more than 2^64 - 1")
    })?))
}

/// Adds the samples. Returns warnings about estimated stacks.
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
                let counted = Cost::from_count(cost);
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

/// Passes each stack of one graph to `add` with its cost. Returns warnings about estimated stacks.
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

/// A tool that records calls instead of stacks.
pub(crate) struct Writer {
    pub(crate) name: &'static str,
    /// How to record exact stacks.
    pub(crate) instead: &'static str,
}

impl Writer {
    /// The tool named in `creator:`.
    pub(super) fn from_creator(creator: &[u8]) -> Writer {
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

/// Statistics of a divided graph.
#[derive(Default)]
struct Divided {
    cost: u64,
    /// The part of the cost whose stacks are estimates because functions have several callers.
    estimated: u64,
    /// The part of the cost moved to larger stacks because there were too many.
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
                "{} records calls, not stacks: for {:.1} % of the total cost the stacks are an estimate, because functions with several callers were divided by the costs of their calls. Functions and their \
                 totals are exact{}. {} for exact stacks.",
                writer.name,
                percent(self.estimated as f64),
                if self.has_recursion { ", but for recursion" } else { "" },
                writer.instead
            ));
        }
        if percent(self.moved) >= 0.1 {
            warnings.push(format!(
                "There are more call paths than the limit: {:.1} % of the total cost was moved to larger stacks of the same function.",
                percent(self.moved)
            ));
        }
        warnings
    }
}

/// Divides a graph into stacks, in at most `most` pieces if possible, and passes each to `add` with
/// its cost. `frames` are the locations of functions.
fn divide(
    graph: &Graph,
    most: usize,
    frames: &[LocationIx],
    builder: &mut RecordingBuilder,
    mut add: impl FnMut(&mut RecordingBuilder, StackIx, u64) -> Built<()>,
) -> Built<Divided> {
    let flow = Flow::new(graph);
    let paths = Paths::new(&flow, most);
    let mut divided = Divided {
        has_recursion: flow.has_recursion,
        pieces: paths.pieces,
        ..Divided::default()
    };
    let frame_of = |function: FlowIx| frames[flow.functions[function].0 as usize];
    // The stack of each context. Callers precede callees.
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

/// Divides each function's costs completely among its contexts, and passes each context to `piece`
/// with a line and its cost.
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

/// Takes `part` of the remaining costs by line, whose sum is `whole`, in proportion.
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
