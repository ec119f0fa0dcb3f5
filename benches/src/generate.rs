//! A generated program and its profiles, for stores that are too large to record.
//!
//! A stack is a walk down a fixed call graph, and a stack determines everything below it. So all runs
//! agree, with two exceptions: each build permanently changes some functions, and a run deviates at a
//! few rare stacks, either to stacks that no other run has, or to one of several alternatives with
//! different frequencies.

use std::collections::BTreeMap;
use sto_core::id::RecordingDigest;
use sto_core::model::{
    Build, Frame, FrameIx, FrameKind, FrameTable, GnuBuildId, Granularity, ModuleRef, Origin,
    Profile, Quality,
};
use sto_core::tree::{LineCost, NodeIx, ProfileData, SelfCosts, StackTree};
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

/// Name of the program.
pub const EXECUTABLE: &str = "generated";

/// Period of a sample: `perf record -e cpu-clock -F 999`.
const PERIOD: u64 = 1_001_001;

/// Number of functions, of 100,000, that each build changes.
const CHANGED: u64 = 50;

/// One in this number of rare stacks deviates in each run, so that a twentieth of a run's nodes are
/// unique to it.
const RARE: u64 = 150;

/// Number of alternatives at each rare stack of a saturating program.
const WAYS: u64 = 1_000;

/// A program: its functions, and the rule for their callees.
pub struct Program {
    /// Functions in the order of their ranks.
    frames: FrameTable,
    saturates: bool,
}

/// One run, ready for the store.
pub struct Run {
    /// The build of the run.
    pub build: Build,
    /// The metadata of the run.
    pub profile: Profile,
    /// The stacks and costs of the run.
    pub interned: ProfileData,
}

impl Program {
    /// Creates a program with this many functions; each run has stacks that no other run has.
    pub fn new(functions: u32) -> Program {
        let mut unsorted = FrameTable::new();
        let mut seed = 0;
        while unsorted.len() < functions as usize {
            insert_function(&mut unsorted, mix(seed, 1));
            seed += 1;
        }
        let ranks = unsorted.ranks();
        let mut order: Vec<u32> = (0..functions).collect();
        order.sort_unstable_by_key(|&ix| ranks[ix as usize]);
        let mut frames = FrameTable::new();
        for ix in order {
            frames.insert(unsorted.frame(FrameIx(ix)));
        }
        Program {
            frames,
            saturates: false,
        }
    }

    /// Makes rare stacks recur in other runs: alternative `n` at a rare stack has the probability
    /// `1 / (n * (n + 1))`. The number of distinct stacks then grows with the square root of the number
    /// of runs, like words in a text (Heaps' law), until all have occurred.
    pub fn saturating(self) -> Program {
        Program {
            saturates: true,
            ..self
        }
    }

    /// Generates run number `run` of build number `build`, with about this many nodes.
    pub fn run(&self, build: u32, run: u32, nodes: u32) -> Run {
        let stacks = Stacks::grow(self, build, run, nodes);
        let interned = stacks.interned(self);
        let build = Build {
            executable: EXECUTABLE.to_owned(),
            version: format!("v{build:05}"),
            gnu_build_id: GnuBuildId::from_bytes(&mix(u64::from(build), 2).to_le_bytes()),
            revision: None,
            commit: None,
        };
        let samples = interned.costs[0].iter().map(|(_, cost)| cost.samples).sum();
        let duration = Nanoseconds(samples * PERIOD);
        let profile = Profile {
            build: build.id(),
            source: RecordingDigest::hash_bytes(&run.to_le_bytes()),
            source_bytes: Bytes(50_000_000),
            format: "perf.data".to_owned(),
            origin: Origin {
                recorded: Some(UnixSeconds(1_700_000_000 + 600 * u64::from(run))),
                duration: Some(duration),
                host: Some(format!("ci-{}", run % 4)),
                kernel: Some("6.1.0-38-amd64".to_owned()),
                arch: Some("x86_64".to_owned()),
                cpu: Some("AMD EPYC 7763 64-Core Processor".to_owned()),
                command: Some("perf record -e cpu-clock -F 999 -g -- ./generated".to_owned()),
            },
            quality: Quality {
                samples,
                ..Quality::default()
            },
            granularity: Granularity::Function,
            sample_types: vec![SampleType {
                event: "cpu-clock".to_owned(),
                unit: Unit::Nanoseconds,
            }],
            modules: modules(build.gnu_build_id.as_ref()).into(),
            benchmark: Some("throughput".to_owned()),
            labels: BTreeMap::new(),
            metrics: BTreeMap::from([("seconds".to_owned(), duration.0 as f64 / 1e9)]),
        };
        Run {
            build,
            profile,
            interned,
        }
    }
}

/// The stacks of one run under construction. Frames are indices into [`Program::frames`].
struct Stacks {
    run: u64,
    saturates: bool,
    /// The last build that changed each function.
    changed_in: Vec<u32>,
    parents: Vec<Option<NodeIx>>,
    frames: Vec<u32>,
    costs: SelfCosts,
}

impl Stacks {
    fn grow(program: &Program, build: u32, run: u32, nodes: u32) -> Stacks {
        let functions = program.frames.len() as u64;
        let mut changed_in = vec![0; program.frames.len()];
        for build in 1..=build {
            for change in 0..CHANGED * functions / 100_000 {
                changed_in[(mix(u64::from(build), change) % functions) as usize] = build;
            }
        }
        let mut stacks = Stacks {
            run: u64::from(run),
            saturates: program.saturates,
            changed_in,
            parents: Vec::new(),
            frames: Vec::new(),
            costs: Vec::new(),
        };
        // Each distributed sample makes about one node.
        stacks.grow_below(None, 0, mix(3, 3), u64::from(nodes), 0);
        stacks
    }

    /// Distributes `samples` among the callees of a stack, recursively. `way` determines everything below.
    fn grow_below(&mut self, node: Option<NodeIx>, frame: u32, way: u64, samples: u64, depth: u32) {
        let mut draws = Draws(way);
        let calls_one = draws.below(5) < 3;
        let mut left = samples;
        let mut callees: Vec<(u32, u64)> = Vec::new();
        while left > 0 {
            let callee = callee(frame, draws.below(4) * draws.below(6), self.functions());
            let given = if calls_one {
                left
            } else {
                1 + draws.below(left)
            };
            match callees.iter_mut().find(|(known, _)| *known == callee) {
                Some((_, sum)) => *sum += given,
                None => callees.push((callee, given)),
            }
            left -= given;
        }
        callees.sort_unstable();
        for (callee, samples) in callees {
            self.grow_node(node, callee, mix(way, u64::from(callee)), samples, depth);
        }
    }

    fn grow_node(
        &mut self,
        parent: Option<NodeIx>,
        frame: u32,
        mut way: u64,
        samples: u64,
        depth: u32,
    ) {
        let node = NodeIx(self.frames.len() as u32);
        self.parents.push(parent);
        self.frames.push(frame);
        way = mix(way, u64::from(self.changed_in[frame as usize]));
        let in_this_run = mix(way, self.run);
        if samples < 256 && in_this_run.is_multiple_of(RARE) {
            way = if self.saturates {
                mix(way, zipf(in_this_run))
            } else {
                in_this_run
            };
        }
        let mut draws = Draws(mix(way, 4));
        let own = match samples {
            _ if depth > 100 => samples,
            1 if draws.below(3) == 0 => 1,
            // Near the root, functions only call others.
            1 | 256.. => 0,
            _ => draws.below(samples) * u64::from(draws.below(3) == 0),
        };
        if own > 0 {
            // Counts differ a little from run to run.
            let samples = own + in_this_run % (1 + own.isqrt());
            let value = samples * PERIOD;
            self.costs.push((node, Cost { samples, value }));
        }
        self.grow_below(Some(node), frame, way, samples - own, depth + 1);
    }

    fn functions(&self) -> u64 {
        self.changed_in.len() as u64
    }

    /// Creates a frame table with only the frames of the run, like interning.
    fn interned(self, program: &Program) -> ProfileData {
        let mut is_used = vec![false; self.changed_in.len()];
        for &frame in &self.frames {
            is_used[frame as usize] = true;
        }
        let mut frames = FrameTable::new();
        let mut places = vec![FrameIx(0); is_used.len()];
        for (ix, frame) in program.frames.iter() {
            if is_used[ix.get()] {
                places[ix.get()] = frames.insert(frame);
            }
        }
        let mut tree = StackTree::new();
        for (parent, frame) in self.parents.into_iter().zip(self.frames) {
            tree.push(parent, places[frame as usize]);
        }
        ProfileData {
            line_costs: vec![lines(&tree, &self.costs, frames.len())],
            frames,
            tree,
            costs: vec![self.costs],
            slices: None,
            metrics: None,
            calls: None,
            kept_calls: None,
            source_digests: Default::default(),
            addresses: None,
        }
    }
}

/// Returns one or two lines of some functions with self cost.
fn lines(tree: &StackTree, costs: &SelfCosts, frames: usize) -> Vec<LineCost> {
    let mut by_frame = vec![Cost::ZERO; frames];
    for &(node, cost) in costs {
        by_frame[tree.frame(node).get()] += cost;
    }
    let mut lines = Vec::new();
    // Many modules have no debug information.
    let known = (0..)
        .zip(by_frame)
        .filter(|(ix, cost)| ix % 4 == 0 && !cost.is_zero());
    for (ix, cost) in known {
        let first = (mix(u64::from(ix), 5) % 2_000) as u32 + 1;
        let parts = [cost.samples - cost.samples / 3, cost.samples / 3];
        for (line, samples) in (first..).zip(parts).filter(|&(_, samples)| samples > 0) {
            let value = samples * PERIOD;
            let cost = Cost { samples, value };
            lines.push(LineCost {
                frame: FrameIx(ix),
                line,
                self_cost: cost,
                total: cost,
            });
        }
    }
    lines
}

/// Returns a number from 1 to [`WAYS`]: `n` with the probability `1 / (n * (n + 1))`.
fn zipf(draw: u64) -> u64 {
    let below = Draws(draw).below(1 << 32);
    ((1 << 32) / (below + 1)).min(WAYS)
}

/// Returns a function's callee number `choice`, mostly one with a similar name, because functions are sorted by name.
fn callee(frame: u32, choice: u64, functions: u64) -> u32 {
    let call = mix(u64::from(frame), choice);
    let somewhere = mix(call, 6);
    let callee = match call % 4 {
        0 => somewhere % (1 + mix(call, 7) % functions),
        _ => u64::from(frame) + somewhere % 40,
    };
    (callee % functions) as u32
}

fn modules(main: Option<&GnuBuildId>) -> Vec<ModuleRef> {
    let module = |ix: usize| ModuleRef {
        name: MODULES[ix].to_owned(),
        build_id: match ix {
            0 => main.cloned(),
            _ => GnuBuildId::from_bytes(&mix(ix as u64, 7).to_le_bytes()),
        },
    };
    let mut modules: Vec<ModuleRef> = (0..MODULES.len()).map(module).collect();
    modules.sort();
    modules
}

const MODULES: [&str; 8] = [
    EXECUTABLE,
    "[kernel]",
    "libc.so.6",
    "libcodec.so.3",
    "libquery.so",
    "libstdc++.so.6",
    "libstorage.so.1",
    "libtransport.so.2",
];

const PARTS: [&str; 32] = [
    "arena", "ast", "batch", "borrow", "buffer", "cache", "codec", "collect", "config", "cursor",
    "decode", "encode", "graph", "hash", "index", "infer", "iter", "layout", "lexer", "merge",
    "parser", "pool", "query", "region", "resolve", "schema", "session", "stream", "table",
    "token", "tree", "visit",
];

const TYPES: [&str; 24] = [
    "Arena", "BTreeMap", "Batch", "Buffer", "Cache", "Context", "Cursor", "Decoder", "Encoder",
    "Entry", "Graph", "HashMap", "Index", "Iter", "Node", "Option", "Reader", "Record", "Result",
    "Scope", "Table", "Token", "Vec", "Writer",
];

const VERBS: [&str; 24] = [
    "advance",
    "alloc",
    "apply",
    "build",
    "check",
    "clone",
    "collect",
    "drop",
    "emit",
    "extend",
    "find",
    "fold",
    "get_or_insert_with",
    "grow",
    "insert",
    "lookup",
    "next",
    "parse",
    "push",
    "read",
    "resolve",
    "search",
    "visit",
    "write",
];

/// Adds a function with a realistic name, unless the table has this name.
fn insert_function(frames: &mut FrameTable, seed: u64) {
    let mut draws = Draws(seed);
    let mut pick = |words: &[&'static str]| words[draws.below(words.len() as u64) as usize];
    let (area, part, ty, inner, verb) = (
        pick(&PARTS),
        pick(&PARTS),
        pick(&TYPES),
        pick(&TYPES),
        pick(&VERBS),
    );
    let module = MODULES[draws.below(12).saturating_sub(4) as usize];
    let kind = match (module, draws.below(3)) {
        ("[kernel]", _) => FrameKind::Kernel,
        (_, 0) => FrameKind::Inlined,
        _ => FrameKind::User,
    };
    let (symbol, extension) = match (kind, draws.below(5)) {
        (FrameKind::Kernel, _) => (format!("__{area}_{part}_{verb}"), "c"),
        (_, 0) => (
            format!("<{area}::{ty}<{inner}> as {part}::{inner}>::{verb}::{{closure#0}}"),
            "rs",
        ),
        (_, 1) => (
            format!("{area}::{ty}<{part}::{inner}, {area}::{inner}*>::{verb}(unsigned long)"),
            "cpp",
        ),
        _ => (format!("{area}::{part}::{ty}<{inner}>::{verb}"), "rs"),
    };
    frames.insert(Frame {
        module,
        symbol: &symbol,
        kind,
        file: &format!("{area}/src/{part}.{extension}"),
        line: 0,
    });
}

/// SplitMix64's finalizer over two numbers.
fn mix(a: u64, b: u64) -> u64 {
    let mut z = a.rotate_left(32) ^ b.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Reproducible random numbers (SplitMix64).
struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0, 0) % end
    }
}

#[cfg(test)]
mod tests;
