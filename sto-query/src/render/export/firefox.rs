//! JSON for the Firefox Profiler.

use super::{ExportError, Weight, check_any, title};
use crate::tree::View;
use hashbrown::HashMap;
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{self, BufWriter, Write};
use sto_core::model::FrameKind;
use sto_core::units::Unit;

/// Version of the processed format. The Firefox Profiler brings older ones up to date.
const PROCESSED_VERSION: u32 = 49;
/// Version of the raw format that it would have been processed from.
const RAW_VERSION: u32 = 24;

/// Writes the stacks in every sample type in the processed format of the Firefox Profiler, a thread a
/// sample type.
///
/// Stacks, frames, functions and names are tables that a sample refers to. A sample is a stack with
/// all of its cost as its weight: milliseconds for nanoseconds, bytes, or a number of events. Samples
/// have no times; they stand a millisecond apart. Kinds of frames are categories; modules are
/// resources. Numbers of samples beside values, and build ids, have no place in it.
///
/// # Errors
/// Where there are no samples, or `writer` fails.
pub fn firefox(view: &View, writer: impl Write) -> Result<(), ExportError> {
    check_any(view)?;
    let mut writer = BufWriter::new(writer);
    let categories: Vec<Value> = FrameKind::ALL
        .into_iter()
        .map(|kind| json!({"name": category(kind).0, "color": category(kind).1, "subcategories": ["Other"]}))
        .collect();
    let profiles = view.selection.profiles.iter();
    let recorded = profiles
        .filter_map(|stored| stored.profile.origin.recorded)
        .max();
    let meta = json!({
        "product": title(view),
        "startTime": recorded.map_or(0, |time| time.0.saturating_mul(1000)),
        "interval": 1.0,
        "processType": 0,
        "stackwalk": 1,
        "debug": false,
        "version": RAW_VERSION,
        "preprocessedProfileVersion": PROCESSED_VERSION,
        "categories": categories,
        "markerSchema": [],
        "extensions": {"length": 0, "baseURL": [], "id": [], "name": []},
        "sampleUnits": {"time": "ms", "eventDelay": "ms", "threadCPUDelta": "µs"},
        "pausedRanges": [],
        "symbolicated": true,
        "usesOnlyOneStackType": true,
        "doesNotUseFrameImplementation": true,
        "sourceCodeIsNotOnSearchfox": true,
    });
    write!(writer, "{{\"meta\":")?;
    to_writer(&mut writer, &meta)?;
    write!(
        writer,
        ",\"libs\":[],\"pages\":[],\"counters\":[],\"profilerOverhead\":[],\"threads\":["
    )?;
    let tables = Tables::of(view);
    for sample_type in 0..view.sample_types.len() {
        let separator = if sample_type == 0 { "" } else { "," };
        writeln!(writer, "{separator}")?;
        to_writer(&mut writer, &thread(view, sample_type, &tables))?;
    }
    writeln!(writer, "]}}")?;
    Ok(writer.flush()?)
}

fn to_writer(writer: &mut impl Write, value: &impl Serialize) -> io::Result<()> {
    Ok(serde_json::to_writer(writer, value)?)
}

/// Name and colour of the category of a kind.
fn category(kind: FrameKind) -> (&'static str, &'static str) {
    match kind {
        FrameKind::User => ("User", "yellow"),
        FrameKind::Kernel => ("Kernel", "orange"),
        FrameKind::Inlined => ("Inlined", "blue"),
        FrameKind::Jit => ("JIT", "green"),
        FrameKind::Interpreted => ("Interpreted", "purple"),
        FrameKind::Unresolved => ("Unresolved", "grey"),
    }
}

/// The tables that all threads have alike.
struct Tables(Map<String, Value>);

impl Tables {
    fn of(view: &View) -> Tables {
        let frames = || view.frames.iter().map(|(_, frame)| frame);
        let count = view.frames.len();
        let mut strings = Strings::default();
        let names: Vec<usize> = frames().map(|frame| strings.insert(frame.symbol)).collect();
        let files: Vec<Option<usize>> = frames()
            .map(|frame| (!frame.file.is_empty()).then(|| strings.insert(frame.file)))
            .collect();
        let mut resources = Strings::default();
        let resource: Vec<Value> = frames()
            .map(|frame| match frame.module {
                "" => json!(-1),
                module => json!(resources.insert(module)),
            })
            .collect();
        let resource_names: Vec<usize> = resources
            .all
            .iter()
            .map(|name| strings.insert(name))
            .collect();
        let lines: Vec<Option<u32>> = frames()
            .map(|frame| Some(frame.line).filter(|&line| line > 0))
            .collect();
        let kinds: Vec<u8> = frames().map(|frame| frame.kind as u8).collect();
        let func_table = json!({
            "length": count,
            "name": names,
            "isJS": vec![false; count],
            "relevantForJS": vec![false; count],
            "resource": resource,
            "fileName": files,
            "lineNumber": vec![(); count],
            "columnNumber": vec![(); count],
        });
        let frame_table = json!({
            "length": count,
            "address": vec![-1; count],
            "inlineDepth": vec![0; count],
            "category": kinds,
            "subcategory": vec![0; count],
            "func": (0..count).collect::<Vec<_>>(),
            "nativeSymbol": vec![(); count],
            "innerWindowID": vec![(); count],
            "implementation": vec![(); count],
            "line": lines,
            "column": vec![(); count],
        });
        let stack_frames: Vec<u32> = view.tree.frames().iter().map(|frame| frame.0).collect();
        let stack_kinds: Vec<u8> = stack_frames
            .iter()
            .map(|&frame| kinds[frame as usize])
            .collect();
        let prefixes = view
            .tree
            .nodes()
            .map(|node| view.tree.parent(node).map(|caller| caller.0));
        let stack_table = json!({
            "length": view.tree.len(),
            "prefix": prefixes.collect::<Vec<_>>(),
            "frame": stack_frames,
            "category": stack_kinds,
            "subcategory": vec![0; view.tree.len()],
        });
        let libraries = resources.all.len();
        let resource_table = json!({
            "length": libraries,
            "lib": vec![(); libraries],
            "name": resource_names,
            "host": vec![(); libraries],
            // `resourceTypes.library`
            "type": vec![1; libraries],
        });
        let mut tables = Map::new();
        for (name, table) in [
            ("stringArray", json!(strings.all)),
            ("funcTable", func_table),
            ("frameTable", frame_table),
            ("stackTable", stack_table),
            ("resourceTable", resource_table),
        ] {
            tables.insert(name.to_owned(), table);
        }
        Tables(tables)
    }
}

fn thread(view: &View, sample_type: usize, tables: &Tables) -> Map<String, Value> {
    let costs = view.self_costs(sample_type);
    let weight = Weight::of(&costs);
    let sampled = view
        .tree
        .nodes()
        .filter(|node| weight.get(costs[node.get()]) > 0);
    let stacks: Vec<u32> = sampled.map(|node| node.0).collect();
    let values = stacks
        .iter()
        .map(|&stack| weight.get(costs[stack as usize]));
    let (weight_type, weights): (_, Vec<Value>) = match weight.unit(view, sample_type) {
        // A double holds nanoseconds of 104 days exactly, and so does it as milliseconds.
        Unit::Nanoseconds => (
            "tracing-ms",
            values.map(|ns| json!(ns as f64 / 1e6)).collect(),
        ),
        Unit::Bytes => ("bytes", values.map(Value::from).collect()),
        Unit::Samples | Unit::Events => ("samples", values.map(Value::from).collect()),
    };
    let count = stacks.len();
    let executable = &view.selection.build.executable;
    let mut thread = tables.0.clone();
    let fields = json!({
        "name": view.sample_types[sample_type].event,
        "processName": executable,
        "processType": "default",
        "isMainThread": sample_type == 0,
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "pid": "1",
        "tid": sample_type + 1,
        "samples": {
            "length": count,
            "weightType": weight_type,
            "stack": stacks,
            "time": (0..count).collect::<Vec<_>>(),
            "weight": weights,
        },
        "markers": {
            "length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
            "startTime": [],
        },
        "nativeSymbols": {
            "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
        },
    });
    if let Value::Object(fields) = fields {
        thread.extend(fields);
    }
    thread
}

#[derive(Default)]
struct Strings<'v> {
    all: Vec<&'v str>,
    known: HashMap<&'v str, usize>,
}

impl<'v> Strings<'v> {
    fn insert(&mut self, text: &'v str) -> usize {
        let next = self.all.len();
        let place = *self.known.entry(text).or_insert(next);
        if place == next {
            self.all.push(text);
        }
        place
    }
}
