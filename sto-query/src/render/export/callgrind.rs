//! Callgrind's format.

use super::{check_any, title};
use crate::error::ExportError;
use crate::text::printable;
use crate::tree::{View, totals};
use hashbrown::HashMap;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use sto_core::model::Frame;
use sto_core::units::{Cost, Unit};

/// Writes functions, calls and their costs in every sample type in the format of Callgrind, for
/// KCachegrind, QCachegrind and `callgrind_annotate`.
///
/// The format has functions and calls between two functions, not stacks. A function is identified
/// by its symbol, module and source file; its line is the line of its frame, or 0. Each sample type
/// is two events, the number of samples and the value, or one if both are the same. Event names
/// consist of letters, digits and `_`. The number of calls is unknown; the number of samples takes
/// its place. The cost of a call counts a recursive stack once. Invisible characters in names are
/// escaped.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
pub fn callgrind(view: &View, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let events = events(view);
    let graph = Graph::new(view, &events);
    let mut writer = BufWriter::new(writer);
    writeln!(
        writer,
        "# callgrind format\nversion: 1\ncreator: sto {}",
        env!("CARGO_PKG_VERSION")
    )?;
    writeln!(writer, "cmd: {}\npositions: line", printable(&title(view)))?;
    for event in &events {
        writeln!(
            writer,
            "event: {} : {}",
            event.name,
            printable(&event.title)
        )?;
    }
    let names: Vec<&str> = events.iter().map(|event| &*event.name).collect();
    writeln!(
        writer,
        "events: {}\nsummary: {}",
        names.join(" "),
        numbers(&graph.whole)
    )?;
    let mut names = Names::default();
    for (ix, function) in graph.functions.iter().enumerate() {
        let names = &mut names;
        writeln!(writer, "\n{}", names.object("ob", function.key.module))?;
        writeln!(writer, "{}", names.file("fl", function.key.file))?;
        writeln!(writer, "{}", names.function("fn", function.key.symbol))?;
        for (line, costs) in &function.lines {
            writeln!(writer, "{line} {}", numbers(costs))?;
        }
        for ((_, callee), call) in graph.calls.range((ix, 0)..(ix + 1, 0)) {
            let key = &graph.functions[*callee].key;
            writeln!(writer, "{}", names.object("cob", key.module))?;
            writeln!(writer, "{}", names.file("cfi", key.file))?;
            writeln!(writer, "{}", names.function("cfn", key.symbol))?;
            writeln!(
                writer,
                "calls={} 0\n0 {}",
                call.samples,
                numbers(&call.costs)
            )?;
        }
    }
    writeln!(writer, "\ntotals: {}", numbers(&graph.whole))?;
    Ok(writer.flush()?)
}

/// A column of numbers.
struct Event {
    name: String,
    title: String,
    sample_type: usize,
    is_samples: bool,
}

impl Event {
    fn number(&self, costs: &[Vec<Cost>], node: usize) -> u64 {
        let cost = costs[self.sample_type][node];
        if self.is_samples {
            cost.samples
        } else {
            cost.value
        }
    }
}

fn events(view: &View) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for (sample_type, known) in view.sample_types.iter().enumerate() {
        let (event, unit) = (&known.event, known.unit.name());
        let mut columns = vec![(event.clone(), format!("{event} ({unit})"), false)];
        if known.unit != Unit::Samples {
            columns.push((format!("{event}_samples"), format!("{event} samples"), true));
        }
        for (name, title, is_samples) in columns {
            events.push(Event {
                name: event_name(&name, &events),
                title,
                sample_type,
                is_samples,
            });
        }
    }
    events
}

/// Returns a unique name of letters, digits and `_` that begins with a letter.
fn event_name(name: &str, others: &[Event]) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric();
    let mut name = name.replace(|c| !is_word(c), "_");
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        name.insert(0, 'e');
    }
    while others.iter().any(|other| other.name == name) {
        name.push('_');
    }
    name
}

/// Functions and the calls between them.
struct Graph<'v> {
    functions: Vec<Function<'v>>,
    /// Key: caller and callee.
    calls: BTreeMap<(usize, usize), Call>,
    whole: Vec<u64>,
}

struct Function<'v> {
    key: Key<'v>,
    /// Self costs by line, one number per event.
    lines: BTreeMap<u32, Vec<u64>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key<'v> {
    module: &'v str,
    file: &'v str,
    symbol: &'v str,
}

struct Call {
    samples: u64,
    costs: Vec<u64>,
    /// End of the subtree that was counted last. A call inside this subtree is on stacks that are
    /// already counted.
    counted_until: u32,
}

impl<'v> Graph<'v> {
    fn new(view: &'v View, events: &[Event]) -> Graph<'v> {
        let own: Vec<Vec<Cost>> = (0..view.sample_types.len())
            .map(|sample_type| view.self_costs(sample_type))
            .collect();
        let totals: Vec<Vec<Cost>> = own.iter().map(|own| totals(&view.tree, own)).collect();
        let ends = view.tree.subtree_ends();
        let mut functions: Vec<Function<'v>> = Vec::new();
        let mut known: HashMap<Key<'v>, usize> = HashMap::new();
        let of_frame: Vec<usize> = view
            .frames
            .iter()
            .map(|(_, frame)| {
                let Frame {
                    module,
                    file,
                    symbol,
                    ..
                } = frame;
                let key = Key {
                    module,
                    file,
                    symbol,
                };
                *known.entry(key).or_insert_with(|| {
                    let lines = BTreeMap::new();
                    functions.push(Function { key, lines });
                    functions.len() - 1
                })
            })
            .collect();
        let numbers = |costs: &[Vec<Cost>], node: usize| -> Vec<u64> {
            events
                .iter()
                .map(|event| event.number(costs, node))
                .collect()
        };
        let mut calls: BTreeMap<(usize, usize), Call> = BTreeMap::new();
        let mut whole = vec![0; events.len()];
        for node in view.tree.nodes() {
            let frame = view.tree.frame(node);
            let function = of_frame[frame.get()];
            let own = numbers(&own, node.get());
            if own.iter().any(|&number| number > 0) {
                add(&mut whole, &own);
                let line = view.frames.frame(frame).line;
                let sum = functions[function].lines.entry(line);
                add(sum.or_insert_with(|| vec![0; events.len()]), &own);
            }
            let Some(caller) = view.tree.parent(node) else {
                continue;
            };
            let edge = (of_frame[view.tree.frame(caller).get()], function);
            let call = calls.entry(edge).or_insert_with(|| Call {
                samples: 0,
                costs: vec![0; events.len()],
                counted_until: 0,
            });
            if node.0 >= call.counted_until {
                call.counted_until = ends[node.get()];
                add(&mut call.costs, &numbers(&totals, node.get()));
                let first = totals
                    .first()
                    .map_or(0, |totals| totals[node.get()].samples);
                call.samples = call.samples.saturating_add(first);
            }
        }
        Graph {
            functions,
            calls,
            whole,
        }
    }
}

fn add(sums: &mut [u64], numbers: &[u64]) {
    for (sum, number) in sums.iter_mut().zip(numbers) {
        *sum = sum.saturating_add(*number);
    }
}

fn numbers(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(" ")
}

/// Numbers of names. A name is written in full at its first use, and as its number afterwards.
#[derive(Default)]
struct Names<'v> {
    objects: HashMap<&'v str, usize>,
    files: HashMap<&'v str, usize>,
    functions: HashMap<&'v str, usize>,
}

impl<'v> Names<'v> {
    fn object(&mut self, field: &str, name: &'v str) -> String {
        numbered(&mut self.objects, field, name)
    }

    fn file(&mut self, field: &str, name: &'v str) -> String {
        numbered(&mut self.files, field, name)
    }

    fn function(&mut self, field: &str, name: &'v str) -> String {
        numbered(&mut self.functions, field, name)
    }
}

fn numbered<'v>(known: &mut HashMap<&'v str, usize>, field: &str, name: &'v str) -> String {
    let next = known.len() + 1;
    let number = *known.entry(name).or_insert(next);
    match (number == next, name) {
        // A number without a name would refer to a name that was defined before.
        (true, name) if name.trim().is_empty() => format!("{field}=({number}) ???"),
        (true, name) => format!("{field}=({number}) {}", printable(name)),
        (false, _) => format!("{field}=({number})"),
    }
}
