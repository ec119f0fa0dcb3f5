//! pprof.

mod samples;

use super::protobuf::Message;
use super::{check_any, check_frames};
use crate::error::ExportError;
use crate::tree::{ContextCosts, View};
use flate2::Compression;
use flate2::write::GzEncoder;
use hashbrown::HashMap;
use samples::{Row, Samples, columns};
use std::collections::BTreeSet;
use std::io::{BufWriter, Write};
use sto_core::formats::{PPROF_SYSTEM_NAME_SUFFIXES, kind_by_names};
use sto_core::intern::{Context, NodeIx};
use sto_core::model::{FrameIx, FrameKind, LabelValue};

/// Writes the stacks in every sample type as pprof's Protocol Buffers, compressed by gzip.
///
/// Each sample type is two: the number of samples (`samples`, or where there are several
/// `EVENT_samples`), and their value, in nanoseconds, bytes or as a count; where the value is the
/// number of samples, it is one. The first of the view is the default. A module is a mapping, with
/// its build id where the profiles have it; the executable's is the first. Inlined frames are lines
/// of their function's location. Another kind of frame than its names suggest stands after its
/// function's system name, see [`PPROF_SYSTEM_NAME_SUFFIXES`]. Time is that of the latest profile,
/// durations are added up, and the commands that recorded are the comments.
///
/// All of a view's stacks and costs comes back, but for the runs that it is the sum of. Addresses
/// are not in it.
///
/// With what the view costs in each context, threads and labels of samples come back too: `thread`,
/// `thread_id` and `pid` are labels there. pprof takes labels that are an empty text, or zero without
/// a unit, for none, and those that are called as it calls threads, processes and times for these.
///
/// # Errors
/// Where there are no samples, the stacks are too deep to be written out, a value is larger than
/// 2^63 - 1, or `writer` fails.
pub fn pprof(
    view: &View,
    contexts: Option<&ContextCosts>,
    writer: impl Write,
) -> Result<(), ExportError> {
    check_any(view)?;
    let samples = match contexts {
        Some(contexts) => Samples::by_context(view, contexts),
        None => Samples::of(view),
    };
    let columns = columns(view, &samples.costs);
    check_frames(view, samples.rows.iter().map(|row| row.node), "pprof")?;
    let mut tables = Tables::default();
    tables.string("");
    tables.mapping(view, &view.selection.build.executable);
    let locations = Locations::of(view, &mut tables);

    let mut file = GzEncoder::new(BufWriter::new(writer), Compression::default());
    let mut message = Message::default();
    for column in &columns {
        message.message(1, &tables.value_type(&column.name, column.unit));
    }
    file.write_all(&message.take())?;
    for (row, &Row { node, context }) in samples.rows.iter().enumerate() {
        let mut sample = Message::default();
        sample.numbers(1, locations.stack(node));
        let values: Vec<u64> = columns
            .iter()
            .map(|column| column.value(&samples.costs, row))
            .collect();
        if let Some(&value) = values.iter().find(|&&value| value > LIMIT) {
            return Err(ExportError::TooLarge {
                value,
                format: "pprof",
                limit: LIMIT,
            });
        }
        sample.numbers(2, values.into_iter());
        if let Some(context) = context {
            tables.label(context, &mut sample);
        }
        message.message(2, &sample);
        file.write_all(&message.take())?;
    }
    let default = columns.iter().find(|column| !column.counts_samples);
    let default = default.map_or(0, |column| tables.string(&column.name));
    message.number(14, default);
    origin(view, &mut tables, &mut message);
    for table in [&tables.mappings, &tables.locations, &tables.functions] {
        message.append(table);
    }
    for string in &tables.strings {
        message.bytes(6, string.as_bytes());
    }
    file.write_all(&message.take())?;
    Ok(file.finish()?.flush()?)
}

/// The schema's numbers are signed.
const LIMIT: u64 = i64::MAX as u64;

/// When, how long and by what was recorded.
fn origin(view: &View, tables: &mut Tables, message: &mut Message) {
    let origins = || {
        view.selection
            .profiles
            .iter()
            .map(|stored| &stored.profile.origin)
    };
    let recorded = origins().filter_map(|origin| origin.recorded).max();
    let nanoseconds = recorded.and_then(|time| time.0.checked_mul(1_000_000_000));
    message.number(9, nanoseconds.filter(|&time| time <= LIMIT).unwrap_or(0));
    let durations = origins().filter_map(|origin| origin.duration);
    let duration = durations.fold(0u64, |sum, duration| sum.saturating_add(duration.0));
    message.number(10, duration.min(LIMIT));
    let commands: BTreeSet<&str> = origins()
        .filter_map(|origin| origin.command.as_deref())
        .collect();
    let comments: Vec<u64> = commands
        .into_iter()
        .flat_map(str::lines)
        .map(|line| tables.string(line))
        .collect();
    if !comments.is_empty() {
        message.numbers(13, comments.into_iter());
    }
}

/// The tables of a file that samples refer to, with the ids that they have.
#[derive(Default)]
struct Tables {
    strings: Vec<String>,
    string_ids: HashMap<String, u64>,
    mappings: Message,
    mapping_ids: HashMap<String, u64>,
    functions: Message,
    function_ids: HashMap<(u64, u64, u64), u64>,
    locations: Message,
}

impl Tables {
    fn string(&mut self, text: &str) -> u64 {
        if let Some(&id) = self.string_ids.get(text) {
            return id;
        }
        let id = self.strings.len() as u64;
        self.strings.push(text.to_owned());
        self.string_ids.insert(text.to_owned(), id);
        id
    }

    fn value_type(&mut self, name: &str, unit: &str) -> Message {
        let mut value_type = Message::default();
        value_type.number(1, self.string(name));
        value_type.number(2, self.string(unit));
        value_type
    }

    /// The labels of a sample that was taken in this context.
    fn label(&mut self, context: &Context, sample: &mut Message) {
        let thread = &context.thread;
        let mut add = |key: &str, text: &str, number: u64, unit: &str| {
            let mut label = Message::default();
            for (field, value) in [
                (1, self.string(key)),
                (2, self.string(text)),
                (3, number),
                (4, self.string(unit)),
            ] {
                label.number(field, value);
            }
            sample.message(3, &label);
        };
        if thread.pid != 0 {
            add("pid", "", thread.pid.into(), "");
        }
        if thread.tid != 0 {
            add("thread_id", "", thread.tid.into(), "");
        }
        if !thread.name.is_empty() {
            add("thread", &thread.name, 0, "");
        }
        for label in &*context.labels {
            match &label.value {
                LabelValue::Text(text) => add(&label.key, text, 0, ""),
                LabelValue::Number { number, unit } => add(&label.key, "", *number as u64, unit),
            }
        }
    }

    /// The mapping of a module; 0 for none.
    fn mapping(&mut self, view: &View, module: &str) -> u64 {
        if module.is_empty() {
            return 0;
        }
        if let Some(&id) = self.mapping_ids.get(module) {
            return id;
        }
        let id = self.mapping_ids.len() as u64 + 1;
        self.mapping_ids.insert(module.to_owned(), id);
        let mut mapping = Message::default();
        mapping.number(1, id);
        mapping.number(5, self.string(module));
        mapping.number(6, self.string(&build_id(view, module)));
        // Its functions, files, lines and inlined frames are known, and no tool need look for them.
        (7..=10).for_each(|field| mapping.number(field, 1));
        self.mappings.message(3, &mapping);
        id
    }

    fn function(&mut self, name: &str, system_name: &str, file: &str) -> u64 {
        let key = (
            self.string(name),
            self.string(system_name),
            self.string(file),
        );
        let next = self.function_ids.len() as u64 + 1;
        let id = *self.function_ids.entry(key).or_insert(next);
        if id == next {
            let mut function = Message::default();
            for (field, value) in [(1, id), (2, key.0), (3, key.1), (4, key.2)] {
                function.number(field, value);
            }
            self.functions.message(5, &function);
        }
        id
    }
}

/// The build id that all profiles have of a module, or of the executable; empty without one.
fn build_id(view: &View, module: &str) -> String {
    let build = &view.selection.build;
    let modules = view.selection.profiles.iter();
    let modules = modules.flat_map(|stored| stored.profile.modules.iter());
    let ids: BTreeSet<_> = modules
        .filter(|known| known.name == module)
        .filter_map(|known| known.build_id.as_ref())
        .collect();
    let of_build = build
        .gnu_build_id
        .as_ref()
        .filter(|_| module == build.executable);
    match (ids.len(), ids.first()) {
        (1, Some(id)) => id.to_string(),
        (0, _) => of_build.map_or_else(String::new, ToString::to_string),
        _ => String::new(),
    }
}

/// The location of each node: its frame, and what it is inlined into.
struct Locations {
    ids: Vec<u32>,
    /// The caller whose location is the next one of a stack.
    callers: Vec<Option<NodeIx>>,
}

impl Locations {
    fn of(view: &View, tables: &mut Tables) -> Locations {
        let mut locations = Locations {
            ids: Vec::with_capacity(view.tree.len()),
            callers: Vec::with_capacity(view.tree.len()),
        };
        // By the location that a frame is inlined into, or 0.
        let mut known: HashMap<(u32, FrameIx), u32> = HashMap::new();
        // The lines of each location, innermost first.
        let mut lines: Vec<Message> = Vec::new();
        for node in view.tree.nodes() {
            let frame_ix = view.tree.frame(node);
            let frame = view.frames.frame(frame_ix);
            let caller = view.tree.parent(node);
            let into = caller.filter(|&caller| {
                let module = view.frames.frame(view.tree.frame(caller)).module;
                frame.kind == FrameKind::Inlined && frame.module == module
            });
            let outer = into.map_or(0, |into| locations.ids[into.get()]);
            let next = lines.len() as u32 + 1;
            let id = *known.entry((outer, frame_ix)).or_insert(next);
            if id == next {
                let suffix = match into {
                    Some(_) => "",
                    None => suffix(frame.symbol, frame.module, frame.kind),
                };
                let system_name = match suffix {
                    "" => String::new(),
                    suffix => format!("{}{suffix}", frame.symbol),
                };
                let mut line = Message::default();
                line.number(1, tables.function(frame.symbol, &system_name, frame.file));
                line.number(2, frame.line.into());
                let mut own = Message::default();
                own.message(4, &line);
                if into.is_some() {
                    own.append(&lines[outer as usize - 1]);
                }
                let mut location = Message::default();
                location.number(1, id.into());
                location.number(2, tables.mapping(view, frame.module));
                location.append(&own);
                tables.locations.message(4, &location);
                lines.push(own);
            }
            locations.ids.push(id);
            locations.callers.push(match into {
                Some(into) => locations.callers[into.get()],
                None => caller,
            });
        }
        locations
    }

    /// The locations of a stack, the leaf first.
    fn stack(&self, node: NodeIx) -> impl Iterator<Item = u64> {
        std::iter::successors(Some(node), |node| self.callers[node.get()])
            .map(|node| self.ids[node.get()].into())
    }
}

/// The suffix for the kind of a frame; nothing where its names say it.
fn suffix(symbol: &str, module: &str, kind: FrameKind) -> &'static str {
    match kind_by_names(symbol, module) == kind {
        true => "",
        false => PPROF_SYSTEM_NAME_SUFFIXES[kind as usize],
    }
}
