//! Measures the size of a store's nodes and costs in several plain encodings.
//!
//!     cargo run --release -p sto-benches --bin store_codec -- STORE
//!     cargo run --release -p sto-benches --bin store_codec -- --profiles 1000 --builds 100 --large 1000000
//!
//! Profiles are added one by one to a graph of numbered nodes, as in a store: new nodes follow all others in
//! preorder, and small packs at the end are merged. Prints the rows of
//! benches/results/codec.md.

use clap::Parser;
use hashbrown::HashMap;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::slice;
use sto_benches::generate::Program;
use sto_core::id::{ExecutableId, FrameId};
use sto_core::model::FrameTable;
use sto_core::store::Store;
use sto_core::tree::{SelfCosts, StackTree};
use sto_core::units::Cost;

/// Measure plain forms of a store's nodes and costs
#[derive(Parser)]
struct Args {
    /// A store whose profiles are used, in the order of recording, instead of generated ones
    store: Option<PathBuf>,
    /// Number of generated profiles
    #[arg(long, default_value_t = 100)]
    profiles: u32,
    /// Number of their builds
    #[arg(long, default_value_t = 1)]
    builds: u32,
    /// Finally add a build with one run of this many nodes
    #[arg(long)]
    large: Option<u32>,
    /// Levels of zstd
    #[arg(long, value_delimiter = ',', default_values_t = [3, 9, 12])]
    levels: Vec<i32>,
}

/// The level that stores are written with.
const LEVEL: i32 = 9;
/// Maximum number of nodes in a pack, as in the store.
const MOST_NODES: u32 = 1 << 18;
/// Marks a missing node or frame.
const NONE: u32 = u32::MAX;

fn main() -> Result<(), Box<dyn Error>> {
    let args = Args::parse();
    let graph = match &args.store {
        Some(store) => stored(store)?,
        None => generated(&args),
    };
    let costs: usize = graph.costs.iter().map(Vec::len).sum();
    let (nodes, packs) = (graph.parents.len(), graph.packs.len());
    println!("{nodes} nodes in {packs} packs, {costs} costs\n");
    let levels: String = args.levels.iter().map(|l| format!(" {l} |")).collect();
    println!("| bytes by zstd's level |{levels}");
    println!("| --- |{}", " --- |".repeat(args.levels.len()));
    let nodes = NODE_FORMS.map(|(name, form)| (name, graph.packed(form)));
    let of_costs = |form: fn(&[_]) -> _| graph.costs.iter().map(|costs| form(costs)).collect();
    let costs = COST_FORMS.map(|(name, form)| (name, of_costs(form)));
    for (name, packs) in nodes.into_iter().chain(costs) {
        let sizes = args.levels.iter().map(|&level| size(&packs, level, &[]));
        let sizes: Vec<usize> = sizes.collect::<Result<_, _>>()?;
        let sizes: String = sizes.iter().map(|size| format!(" {size} |")).collect();
        println!("| {name} |{sizes}");
    }
    dictionaries(&graph)
}

/// Prints sizes with and without one trained dictionary, whose size is included.
fn dictionaries(graph: &Graph) -> Result<(), Box<dyn Error>> {
    let mut packs = graph.packed(whole);
    for (pack, split) in packs.iter_mut().zip(graph.packed(split)) {
        if size(slice::from_ref(&split), LEVEL, &[])? < size(slice::from_ref(pack), LEVEL, &[])? {
            *pack = split;
        }
    }
    packs.extend(graph.costs.iter().map(|costs| cost_bytes(costs)));
    println!("\n| nodes and costs as stores have them | bytes at level {LEVEL} |\n| --- | --- |");
    println!("| without a dictionary | {} |", size(&packs, LEVEL, &[])?);
    for kib in [4, 16, 64, 110] {
        // zstd's manual recommends training data of a hundred times the dictionary's size.
        let pieces = packs
            .iter()
            .flatten()
            .flat_map(|column| column.chunks(1024));
        let pieces: Vec<&[u8]> = pieces.take(100 * kib).collect();
        let found = match zstd::dict::from_samples(&pieces, kib << 10) {
            Ok(trained) => (trained.len() + size(&packs, LEVEL, &trained)?).to_string(),
            Err(error) => format!("none: {error}"),
        };
        println!("| with one of {kib} KiB | {found} |");
    }
    Ok(())
}

type Columns = Vec<Vec<u8>>;

/// Returns the size of compressed columns and their lengths. Columns that would grow stay uncompressed, as in a store.
fn size(packs: &[Columns], level: i32, dictionary: &[u8]) -> std::io::Result<usize> {
    let mut compressor = zstd::bulk::Compressor::with_dictionary(level, dictionary)?;
    packs.iter().flatten().try_fold(0, |sum, column| {
        Ok(sum + compressor.compress(column)?.len().min(column.len()) + 3)
    })
}

/// Profiles of one store.
#[derive(Default)]
struct Graph {
    parents: Vec<u32>,
    frames: Vec<u32>,
    found: HashMap<(u32, u32), u32>,
    frame_numbers: HashMap<FrameId, u32>,
    /// First node and length of each pack.
    packs: Vec<(u32, u32)>,
    /// Costs by profile and sample type.
    costs: Vec<Vec<(u32, Cost)>>,
}

fn stored(path: &Path) -> Result<Graph, Box<dyn Error>> {
    let store = Store::open(path)?.snapshot()?;
    let mut profiles = Vec::new();
    for build in store.builds()? {
        let executable = ExecutableId::from_name(&build.build.executable);
        let runs = build.profiles.iter();
        profiles.extend(runs.map(|p| (p.profile.recorded_sort_key(), p.id, executable)));
    }
    profiles.sort_by_key(|&(order, id, _)| (order, id));
    let mut graph = Graph::default();
    for (_, id, executable) in profiles {
        let loaded = store.load(executable, &[id])?;
        graph.add(&loaded.frames, &loaded.tree, &loaded.costs[0]);
    }
    Ok(graph)
}

fn generated(args: &Args) -> Graph {
    let program = Program::new(100_000);
    let runs = (0..args.profiles).map(|run| {
        let build = u64::from(run) * u64::from(args.builds) / u64::from(args.profiles);
        (build as u32, run, 100_000)
    });
    let large = args.large.map(|nodes| (args.builds, args.profiles, nodes));
    let mut graph = Graph::default();
    for (build, run, nodes) in runs.chain(large) {
        let run = program.run(build, run, nodes).interned;
        graph.add(&run.frames, &run.tree, &run.costs);
    }
    graph
}

impl Graph {
    fn add(&mut self, frames: &FrameTable, tree: &StackTree, costs: &[SelfCosts]) {
        let mut frames_here = Vec::new();
        for (_, frame) in frames.iter() {
            let next = self.frame_numbers.len() as u32;
            let number = self.frame_numbers.entry(FrameId::from_frame(frame));
            frames_here.push(*number.or_insert(next));
        }
        let mut first = self.parents.len() as u32;
        let mut numbers: Vec<u32> = Vec::with_capacity(tree.len());
        for node in tree.nodes() {
            let parent = tree.parent(node).map_or(NONE, |p| numbers[p.get()]);
            let frame = frames_here[tree.frame(node).get()];
            let next = self.parents.len() as u32;
            let number = *self.found.entry((parent, frame)).or_insert(next);
            if number == next {
                self.parents.push(parent);
                self.frames.push(frame);
            }
            numbers.push(number);
        }
        for costs in costs {
            let costs = costs.iter();
            let mut costs: Vec<_> = costs.map(|&(n, cost)| (numbers[n.get()], cost)).collect();
            costs.sort_unstable_by_key(|&(node, _)| node);
            self.costs.push(costs);
        }
        let mut len = self.parents.len() as u32 - first;
        while let Some(&(start, pack)) = self.packs.last()
            && (1..MOST_NODES).contains(&pack)
            && pack <= len
        {
            (first, len) = (start, len + pack);
            self.packs.pop();
        }
        while len > 0 {
            let part = len.min(MOST_NODES);
            self.packs.push((first, part));
            (first, len) = (first + part, len - part);
        }
    }

    fn packed(&self, encode: fn(&[Step]) -> Columns) -> Vec<Columns> {
        let packs = self.packs.iter();
        packs
            .map(|&(first, len)| encode(&self.steps(first, len)))
            .collect()
    }

    fn steps(&self, first: u32, len: u32) -> Vec<Step> {
        // Node, its frame, frame of its last child.
        let mut path: Vec<(u32, u32, u32)> = Vec::new();
        let steps = (first..first + len).map(|node| {
            let (parent, frame) = (self.parents[node as usize], self.frames[node as usize]);
            let depth = path.len();
            while path.last().is_some_and(|&(open, ..)| open != parent) {
                path.pop();
            }
            let up = (depth - path.len()) as u32 + 1;
            let (up, caller, sibling) = match path.last_mut() {
                None => (0, NONE, NONE),
                Some((_, caller, last)) => (up, *caller, std::mem::replace(last, frame)),
            };
            path.push((node, frame, NONE));
            Step {
                node,
                parent,
                up,
                caller,
                sibling,
                frame,
            }
        });
        steps.collect()
    }
}

/// The properties of a node that encodings use.
struct Step {
    node: u32,
    parent: u32,
    /// Levels up from the previous node, plus 1; 0 begins a segment.
    up: u32,
    caller: u32,
    /// Frame of the previous sibling within the segment, or [`NONE`].
    sibling: u32,
    frame: u32,
}

/// An encoding of the nodes of a pack: its name, and a function that returns its columns.
type NodeForm = (&'static str, fn(&[Step]) -> Columns);

const NODE_FORMS: [NodeForm; 6] = [
    ("distance to the parent, frame", distance),
    ("levels up, frame, as varints", varints),
    (
        "levels up, frame in whole bytes, number after number",
        whole,
    ),
    ("levels up, frame in whole bytes, byte after byte", split),
    ("levels up and frame beside each other", records),
    ("levels up, rank among the caller's callees", ranks),
];

fn distance(steps: &[Step]) -> Columns {
    let distance = |s: &Step| {
        if s.parent == NONE {
            0
        } else {
            s.node - s.parent
        }
    };
    vec![
        varints_of(steps.iter().map(distance)),
        varints_of(steps.iter().map(|s| s.frame)),
    ]
}

/// Levels up, and the parents of the segments' first nodes.
fn ups(steps: &[Step]) -> Columns {
    let mut last = 0;
    let segments = steps.iter().filter(|step| step.up == 0);
    let attach_points = segments.map(|step| {
        let attach = step.parent.wrapping_add(1);
        zigzag(attach, std::mem::replace(&mut last, attach))
    });
    vec![
        varints_of(steps.iter().map(|step| step.up)),
        varints_of(attach_points),
    ]
}

fn varints(steps: &[Step]) -> Columns {
    let mut columns = ups(steps);
    columns.push(varints_of(steps.iter().map(|step| step.frame)));
    columns
}

/// Number of bytes of the largest frame.
fn width(steps: &[Step]) -> usize {
    steps.iter().fold(1, |all, step| all | step.frame).ilog2() as usize / 8 + 1
}

fn whole(steps: &[Step]) -> Columns {
    let (mut columns, width) = (ups(steps), width(steps));
    let bytes = steps
        .iter()
        .flat_map(|step| step.frame.to_le_bytes().into_iter().take(width));
    columns.push(bytes.collect());
    columns
}

fn split(steps: &[Step]) -> Columns {
    let mut columns = ups(steps);
    let byte = |at: usize| {
        steps
            .iter()
            .map(move |step| step.frame.to_le_bytes()[at])
            .collect()
    };
    columns.extend((0..width(steps)).map(byte));
    columns
}

fn records(steps: &[Step]) -> Columns {
    let mut columns = ups(steps);
    let record = |s: &Step| [&[s.up.min(255) as u8], &s.frame.to_le_bytes()[..3]].concat();
    columns[0] = steps.iter().flat_map(record).collect();
    columns
}

/// Frames as their rank among the callees of their caller in the pack, relative to the previous sibling;
/// separate columns list the callees of each caller.
fn ranks(steps: &[Step]) -> Columns {
    let calls = steps.iter().filter(|step| step.up > 0);
    let mut calls: Vec<(u32, u32)> = calls.map(|step| (step.caller, step.frame)).collect();
    calls.sort_unstable();
    calls.dedup();
    let mut callees_of: HashMap<u32, &[(u32, u32)]> = HashMap::new();
    let [mut callers, mut fans, mut callees, mut roots, mut ranks] = [(); 5].map(|()| Vec::new());
    let mut last = 0;
    for calls in calls.chunk_by(|a, b| a.0 == b.0) {
        let caller = calls[0].0;
        callers.push(caller - std::mem::replace(&mut last, caller));
        fans.push(calls.len() as u32 - 1);
        let before = std::iter::once(caller).chain(calls.iter().map(|call| call.1));
        callees.extend(
            calls
                .iter()
                .zip(before)
                .map(|(call, before)| zigzag(call.1, before)),
        );
        callees_of.insert(caller, calls);
    }
    for step in steps {
        let Some(callees) = callees_of.get(&step.caller).filter(|_| step.up > 0) else {
            roots.push(step.frame);
            continue;
        };
        let rank = |frame| callees.partition_point(|call| call.1 < frame);
        let next = if step.sibling == NONE {
            0
        } else {
            rank(step.sibling) + 1
        };
        ranks.push(((rank(step.frame) + callees.len() - next) % callees.len()) as u32);
    }
    let mut columns = ups(steps);
    columns.extend([callers, fans, callees, roots, ranks].map(varints_of));
    columns
}

/// An encoding of the costs of a profile.
type CostForm = (&'static str, fn(&[(u32, Cost)]) -> Columns);

const COST_FORMS: [CostForm; 2] = [
    ("gaps and samples, as varints", cost_varints),
    ("gap and samples in a byte", cost_bytes),
];

/// Gaps, samples, and the values that do not follow from the period.
fn cost_numbers(costs: &[(u32, Cost)]) -> [Vec<u64>; 3] {
    let mut next = 0;
    let gaps = costs
        .iter()
        .map(|&(node, _)| u64::from(node - std::mem::replace(&mut next, node + 1)));
    let samples = costs.iter().map(|(_, cost)| cost.samples);
    let sampled = costs.iter().find(|(_, cost)| cost.samples > 0);
    let period = sampled.map_or(0, |(_, cost)| cost.value / cost.samples);
    let is_fixed = costs
        .iter()
        .all(|(_, cost)| cost.samples * period == cost.value);
    let values = costs
        .iter()
        .filter(|_| !is_fixed)
        .map(|(_, cost)| cost.value);
    [gaps.collect(), samples.collect(), values.collect()]
}

fn cost_varints(costs: &[(u32, Cost)]) -> Columns {
    cost_numbers(costs).map(varints_of).into()
}

/// Gap and samples, in one byte if both are small.
fn cost_bytes(costs: &[(u32, Cost)]) -> Columns {
    let [gaps, samples, values] = cost_numbers(costs);
    let pairs = gaps.iter().zip(&samples);
    let bytes = pairs.map(|(&gap, &samples)| (gap.min(15) << 4 | samples.min(15)) as u8);
    let long = |numbers: &[u64]| varints_of(numbers.iter().filter_map(|n| n.checked_sub(15)));
    vec![
        bytes.collect(),
        long(&gaps),
        long(&samples),
        varints_of(values),
    ]
}

fn varints_of(numbers: impl IntoIterator<Item = impl Into<u64>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for number in numbers {
        let mut number: u64 = number.into();
        while number >= 0x80 {
            bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        bytes.push(number as u8);
    }
    bytes
}

fn zigzag(value: u32, previous: u32) -> u32 {
    let difference = value.wrapping_sub(previous) as i32;
    ((difference << 1) ^ (difference >> 31)) as u32
}
