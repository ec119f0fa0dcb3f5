//! JSON for the Firefox Profiler.

use super::{Weight, check_any, title};
use crate::error::ExportError;
use crate::tree::View;
use hashbrown::HashMap;
use serde::Serialize;
use serde_json::{Value, json};
use std::io::{self, BufWriter, Write};
use sto_core::model::FrameKind;
use sto_core::units::Unit;

/// Version of the processed format. The Firefox Profiler upgrades older versions.
const PROCESSED_VERSION: u32 = 49;
/// Version of the raw format from which this processed format is usually made.
const RAW_VERSION: u32 = 24;

/// Writes the stacks in every sample type in the processed format of the Firefox Profiler, one
/// thread per sample type.
///
/// Stacks, frames, functions and names are tables. A sample is a stack whose weight is its whole
/// cost: milliseconds for nanoseconds, bytes, or a number of events. Samples have no times and are
/// placed one millisecond apart. Kinds of frames are categories, modules are resources. The numbers
/// of samples next to values, and build ids, are left out.
///
/// # Errors
///
/// Returns an error if there are no samples, or `writer` fails.
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
        // Tells sto's reader that threads are sample types.
        "importedFrom": "sto",
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
    let tables = Tables::new(view);
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

/// Returns the name and colour of a kind's category.
fn category(kind: FrameKind) -> (&'static str, &'static str) {
    match kind {
        FrameKind::User => ("User", "yellow"),
        FrameKind::Kernel => ("Kernel", "orange"),
        FrameKind::Inlined => ("Inlined", "blue"),
        FrameKind::Jit => ("JIT", "green"),
        FrameKind::JitBaseline => ("JIT baseline", "lightblue"),
        FrameKind::Waker => ("Waker", "magenta"),
        FrameKind::Interpreted => ("Interpreted", "purple"),
        FrameKind::Unresolved => ("Unresolved", "grey"),
    }
}

/// The tables that are the same in all threads.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Tables<'v> {
    string_array: Vec<&'v str>,
    func_table: FuncTable,
    frame_table: FrameTable,
    stack_table: StackTable,
    resource_table: ResourceTable,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FuncTable {
    length: usize,
    name: Vec<usize>,
    #[serde(rename = "isJS")]
    is_js: Vec<bool>,
    #[serde(rename = "relevantForJS")]
    relevant_for_js: Vec<bool>,
    /// -1 without a module.
    resource: Vec<isize>,
    file_name: Vec<Option<usize>>,
    line_number: Vec<()>,
    column_number: Vec<()>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FrameTable {
    length: usize,
    /// -1 without an address.
    address: Vec<i8>,
    inline_depth: Vec<u8>,
    category: Vec<u8>,
    subcategory: Vec<u8>,
    func: Vec<usize>,
    native_symbol: Vec<()>,
    #[serde(rename = "innerWindowID")]
    inner_window_id: Vec<()>,
    implementation: Vec<()>,
    line: Vec<Option<u32>>,
    column: Vec<()>,
}

#[derive(Serialize)]
struct StackTable {
    length: usize,
    prefix: Vec<Option<u32>>,
    frame: Vec<u32>,
    category: Vec<u8>,
    subcategory: Vec<u8>,
}

#[derive(Serialize)]
struct ResourceTable {
    length: usize,
    lib: Vec<()>,
    name: Vec<usize>,
    host: Vec<()>,
    r#type: Vec<u8>,
}

/// `resourceTypes.library` of the Firefox Profiler.
const LIBRARY: u8 = 1;

impl<'v> Tables<'v> {
    fn new(view: &'v View) -> Tables<'v> {
        let frames = || view.frames.iter().map(|(_, frame)| frame);
        let count = view.frames.len();
        let (mut strings, mut resources) = (Strings::default(), Strings::default());
        let name = frames().map(|frame| strings.insert(frame.symbol)).collect();
        let file_name = frames()
            .map(|frame| (!frame.file.is_empty()).then(|| strings.insert(frame.file)))
            .collect();
        let resource = frames()
            .map(|frame| match frame.module {
                "" => -1,
                module => resources.insert(module) as isize,
            })
            .collect();
        let resource_names = resources
            .all
            .iter()
            .map(|name| strings.insert(name))
            .collect();
        let libraries = resources.all.len();
        let kinds: Vec<u8> = frames().map(|frame| frame.kind as u8).collect();
        let tree = &view.tree;
        Tables {
            func_table: FuncTable {
                length: count,
                name,
                is_js: vec![false; count],
                relevant_for_js: vec![false; count],
                resource,
                file_name,
                line_number: vec![(); count],
                column_number: vec![(); count],
            },
            stack_table: StackTable {
                length: tree.len(),
                prefix: tree
                    .nodes()
                    .map(|node| Some(tree.parent(node)?.0))
                    .collect(),
                frame: tree.frames().iter().map(|frame| frame.0).collect(),
                category: tree
                    .frames()
                    .iter()
                    .map(|frame| kinds[frame.get()])
                    .collect(),
                subcategory: vec![0; tree.len()],
            },
            frame_table: FrameTable {
                length: count,
                address: vec![-1; count],
                inline_depth: vec![0; count],
                category: kinds,
                subcategory: vec![0; count],
                func: (0..count).collect(),
                native_symbol: vec![(); count],
                inner_window_id: vec![(); count],
                implementation: vec![(); count],
                line: frames()
                    .map(|frame| Some(frame.line).filter(|&line| line > 0))
                    .collect(),
                column: vec![(); count],
            },
            resource_table: ResourceTable {
                length: libraries,
                lib: vec![(); libraries],
                name: resource_names,
                host: vec![(); libraries],
                r#type: vec![LIBRARY; libraries],
            },
            string_array: strings.all,
        }
    }
}

#[derive(Serialize)]
struct Thread<'t> {
    #[serde(flatten)]
    about: Value,
    samples: Samples,
    #[serde(flatten)]
    tables: &'t Tables<'t>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Samples {
    length: usize,
    weight_type: &'static str,
    stack: Vec<u32>,
    /// Milliseconds.
    time: Vec<usize>,
    weight: Weights,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Weights {
    Milliseconds(Vec<f64>),
    Whole(Vec<u64>),
}

fn thread<'t>(view: &View, sample_type: usize, tables: &'t Tables<'t>) -> Thread<'t> {
    let costs = view.self_costs(sample_type);
    let weight = Weight::new(&costs);
    let sampled = view
        .tree
        .nodes()
        .filter(|node| weight.get(costs[node.get()]) > 0);
    let stack: Vec<u32> = sampled.map(|node| node.0).collect();
    let values = stack.iter().map(|&stack| weight.get(costs[stack as usize]));
    let (weight_type, weight) = match weight.unit(view, sample_type) {
        Unit::Nanoseconds => {
            let milliseconds = values.map(|ns| ns as f64 / 1e6).collect();
            ("tracing-ms", Weights::Milliseconds(milliseconds))
        }
        Unit::Bytes => ("bytes", Weights::Whole(values.collect())),
        _ => ("samples", Weights::Whole(values.collect())),
    };
    let about = json!({
        "name": view.sample_types[sample_type].event,
        "processName": view.selection.build.executable,
        "processType": "default",
        "isMainThread": sample_type == 0,
        "processStartupTime": 0,
        "processShutdownTime": null,
        "registerTime": 0,
        "unregisterTime": null,
        "pausedRanges": [],
        "pid": "1",
        "tid": sample_type + 1,
        "markers": {
            "length": 0, "category": [], "data": [], "endTime": [], "name": [], "phase": [],
            "startTime": [],
        },
        "nativeSymbols": {
            "length": 0, "address": [], "functionSize": [], "libIndex": [], "name": [],
        },
    });
    Thread {
        about,
        samples: Samples {
            length: stack.len(),
            weight_type,
            time: (0..stack.len()).collect(),
            stack,
            weight,
        },
        tables,
    }
}

#[derive(Default)]
struct Strings<'v> {
    all: Vec<&'v str>,
    known: HashMap<&'v str, usize>,
}

impl<'v> Strings<'v> {
    fn insert(&mut self, text: &'v str) -> usize {
        let next = self.all.len();
        let ix = *self.known.entry(text).or_insert(next);
        if ix == next {
            self.all.push(text);
        }
        ix
    }
}
