//! The Callgrind format, written by `valgrind --tool=callgrind`, Cachegrind, and other tools for
//! KCachegrind.
//!
//! Source: *Callgrind Format Specification* in Valgrind's manual. The format has a call graph, not
//! stacks; `stacks` derives them.
//!
//! See [the manual](crate::manual::callgrind).

mod events;
mod flow;
mod graph;
mod line;
mod names;
mod paths;
mod stacks;

use crate::recording::RecordingBuilder;
use crate::report::Report;
use crate::source::Head;
use crate::wire::text::{base_name, excerpt, lines, words};
use events::{EventIx, Events};
pub(super) use graph::Graph;
use graph::Threads;
use line::{Line, Position};
pub(super) use names::FunctionIx;
use names::Names;
pub(super) use stacks::{Writer, add_graph};
use sto_model::limits::MAX_SAMPLE_TYPES;

/// Returns `true` if the first line of a profile says so, or if it begins with a header that names
/// events.
pub(super) fn matches(head: &Head<'_>) -> bool {
    let is_header = |line: &&[u8]| matches!(Line::parse(line), Ok(Line::Header { .. }));
    head.bytes.starts_with(b"# callgrind format")
        || lines(head.bytes)
            .map(|(_, line)| line.trim_ascii_end())
            .filter(|line| !is_passed_over(line))
            .take_while(is_header)
            .any(|line| line.starts_with(b"events:"))
}

fn is_passed_over(line: &[u8]) -> bool {
    line.is_empty() || line.starts_with(b"#")
}

/// Reads lines to distinct names and the costs of lines and calls.
#[derive(Default)]
pub(super) struct Callgrind {
    names: Names,
    events: Events,
    threads: Threads,
    part: Part,
    program: String,
    pid: u32,
    writer: Writer,
    /// Whether the writer ends each part with totals.
    has_totals: bool,
    is_ours: bool,
}

/// The context of the lines that follow.
#[derive(Default)]
struct Part {
    /// The event of each cost in a line; empty before the header that names them.
    events: Vec<EventIx>,
    has_address: bool,
    has_no_line: bool,
    address: u64,
    line: u64,
    function: Option<FunctionIx>,
    /// The callee whose cost is in the next line.
    call: Option<FunctionIx>,
    /// Sum of the self costs, by index in `events`.
    sums: Vec<u64>,
    has_costs: bool,
    is_ended: bool,
}

impl Report for Callgrind {
    fn line(&mut self, line: &[u8], builder: &mut RecordingBuilder) -> Result<(), String> {
        let text = line.trim_ascii_end();
        if is_passed_over(text) {
            return Ok(());
        }
        match (Line::parse(text)?, &mut self.part) {
            (Line::Costs(numbers), _) => self.costs(numbers),
            (_, Part { call: Some(_), .. }) => Err(format!(
                "expected the costs of the call in the line before, found {}",
                excerpt(text)
            )),
            (Line::Header { key, value }, _) => self.header(key, value, builder),
            (Line::Name { field, name }, part) => {
                let function = self.names.set(field, name);
                part.function = function.or(part.function);
                Ok(())
            }
            (Line::Call, part) => {
                part.call = Some(self.names.take_called()?);
                Ok(())
            }
            (Line::Jump, _) => Ok(()),
        }
    }

    fn cut(&self) -> Option<&'static str> {
        let is_cut = self.part.call.is_some() || (self.has_totals && !self.part.is_ended);
        is_cut.then_some("a part, which its `totals:` end")
    }

    fn finish(self, builder: &mut RecordingBuilder) -> Result<(), String> {
        let process = builder.process(self.pid, &self.program);
        for tid in self.threads.ids() {
            builder.new_thread(process, tid, "");
        }
        let numbers = self.events.sample_types(self.is_ours, builder);
        let frames = self.names.frames(builder)?;
        let graphs = self.threads.graphs();
        let warnings = stacks::add(graphs, &numbers, &frames, &self.writer, builder)?;
        builder.warnings.extend(warnings);
        Ok(())
    }
}

impl Callgrind {
    fn header(
        &mut self,
        key: &[u8],
        value: &[u8],
        builder: &mut RecordingBuilder,
    ) -> Result<(), String> {
        if self.part.has_costs && !matches!(key, b"totals" | b"summary") {
            if self.cut().is_some() {
                return Err(NO_TOTALS.to_owned());
            }
            // A part may rely on definitions of the parts before.
            let part = std::mem::take(&mut self.part);
            self.part = Part {
                events: part.events,
                has_address: part.has_address,
                has_no_line: part.has_no_line,
                ..Part::default()
            };
        }
        match key {
            b"creator" => {
                self.writer = Writer::from_creator(value);
                self.is_ours = value.starts_with(b"sto ");
                self.has_totals = self.is_ours || value.starts_with(b"callgrind-");
            }
            b"cmd" if !self.is_ours => {
                let file = words(value).next().unwrap_or(b"");
                self.program = builder.text(base_name(file)).into_owned();
            }
            b"pid" => self.pid = line::id(value)?,
            b"thread" => self.threads.choose(line::id(value)?),
            b"positions" => {
                let has = |word: &[u8]| words(value).any(|found| found == word);
                self.part.has_address = has(b"instr");
                self.part.has_no_line = !has(b"line");
            }
            b"event" => {
                let (name, title) = line::title(value);
                let (name, title) = (builder.text(name), builder.text(title).into_owned());
                self.events.describe(&name, title);
            }
            b"events" => {
                self.part.events.clear();
                for name in words(value) {
                    let name = builder.text(name);
                    self.part.events.push(self.events.find_or_add(&name)?);
                    if self.part.events.len() > MAX_SAMPLE_TYPES {
                        return Err(format!("files of up to {MAX_SAMPLE_TYPES} events are read"));
                    }
                }
            }
            b"totals" => self.totals(value)?,
            _ => {}
        }
        Ok(())
    }

    fn costs(&mut self, numbers: &[u8]) -> Result<(), String> {
        let part = &mut self.part;
        let mut numbers = words(numbers);
        if part.has_address {
            part.address = Position::parse(numbers.next())?.from(part.address)?;
        }
        if !part.has_no_line {
            part.line = Position::parse(numbers.next())?.from(part.line)?;
        }
        let mut events = part.events.iter();
        let mut costs = Vec::new();
        for word in numbers {
            let &event = events.next().ok_or_else(|| too_many(part.events.len()))?;
            costs.push((event, line::number(word)?));
        }
        let function = part.function.ok_or(NO_FUNCTION)?;
        part.has_costs = true;
        if let Some(called) = part.call.take() {
            self.threads.add_call(function, called, &costs);
            return Ok(());
        }
        part.sums.resize(part.events.len(), 0);
        for (sum, &(event, cost)) in part.sums.iter_mut().zip(&costs) {
            self.events.add(event, cost)?;
            *sum += cost;
        }
        // The lines of code inlined from another file are not lines of the function's file.
        let line = if self.names.is_at_file_of(function) {
            u32::try_from(part.line).unwrap_or(0)
        } else {
            0
        };
        self.threads.add_self_cost(function, line, &costs);
        Ok(())
    }

    fn totals(&mut self, value: &[u8]) -> Result<(), String> {
        let totals = words(value).map(line::number);
        let mut totals = totals.collect::<Result<Vec<_>, _>>()?;
        // Trailing zeros are omitted.
        totals.resize(self.part.events.len(), 0);
        self.part.sums.resize(self.part.events.len(), 0);
        let mut both = totals.iter().zip(&self.part.sums);
        let other = both.find(|(total, sum)| total != sum);
        if let Some((total, sum)) = other.filter(|_| self.has_totals) {
            return Err(format!(
                "a total of {total}, where the lines before add up to {sum}; was the file edited, or \
                 the copy cut short? Copy it again"
            ));
        }
        self.part.is_ended = true;
        Ok(())
    }
}

const NO_FUNCTION: &str = "costs before `fn=`, which names their function";
const NO_TOTALS: &str = "a part ends here, without its `totals:`, and another one begins; were files put \
    together? Record again";

fn too_many(events: usize) -> String {
    match events {
        0 => {
            "costs before `events:`, which names their units; was the beginning cut off?".to_owned()
        }
        _ => format!("more costs than the {events} that `events:` names"),
    }
}
