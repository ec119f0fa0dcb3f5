//! Small profiles for the tests of this crate.

use crate::codec::{KeptHead, PieceInfo, pack_kept_head, pack_piece};
use crate::{Added, Store};
use std::collections::BTreeMap;
use std::sync::Arc;
use sto_model::id::{ProfileId, RecordingDigest};
use sto_model::trace::dag::Pieces;
use sto_model::trace::log::Call;
use sto_model::trace::paths::TraceFunctionIx;
use sto_model::trace::{
    CallRecord, CallThread, CallThresholds, CalledStack, CallsAtValue, CallsByArgument, Expression,
    LongCall, Outlier, PackedCalls, RunCalls, ThreadActivity, ThreadCalls, Wait,
};
use sto_model::tree::{
    AddressStack, ContextIx, LineCost, NodeIx, ProfileAddresses, ProfileData, ProfileThread,
    SampleContext, SliceCost, SliceCount, SliceGrid, SliceIx, StackTree, TimeSlices,
};
use sto_model::units::{Bytes, Cost, Nanoseconds, SampleType, Unit};
use sto_model::{
    Build, Frame, FrameIx, FrameKind, FrameTable, Granularity, LabelValue, MetricKind,
    MetricSeries, Module, ModuleKind, Origin, Profile, Quality, RunMetrics, SampleLabel,
    SourceFileDigest,
};

/// Adds folded stacks as a profile of the executable `demo`.
pub(crate) fn add(store: &Store, folded: &str, version: &str) {
    add_interned(store, folded, version, &interned(folded));
}

/// Adds a profile that has columns of each kind.
pub(crate) fn add_with_all_columns(store: &Store, count: u64, version: &str) -> ProfileId {
    let folded = format!("main;a;b {count}\nmain;c 2\n");
    add_interned(store, &folded, version, &with_all_columns(&folded, count)).id()
}

/// Adds the profile of [`add_with_all_columns`] with calls over time of the first `threads` threads only, and without all
/// calls.
pub(crate) fn add_without_kept_calls(store: &Store, count: u64, threads: usize) -> Added {
    let folded = format!("main;a;b {count}\nmain;c 2\n");
    let mut calls = calls();
    calls.threads.truncate(threads);
    (calls.outliers, calls.waits) = (Vec::new(), Vec::new());
    let interned = ProfileData {
        calls: Some(calls),
        kept_calls: None,
        ..with_all_columns(&folded, count)
    };
    add_interned(store, &folded, "v1", &interned)
}

fn add_interned(store: &Store, folded: &str, version: &str, interned: &ProfileData) -> Added {
    let build = Build {
        executable: "demo".to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(folded.as_bytes()),
        source_bytes: Bytes(folded.len() as u64),
        format: "folded".to_owned(),
        origin: Origin::default(),
        quality: Quality::default(),
        granularity: Granularity::Function,
        sample_types: vec![SampleType {
            event: "samples".to_owned(),
            unit: Unit::Samples,
        }],
        modules: [].into(),
        benchmark: None,
        labels: BTreeMap::new(),
        metrics: BTreeMap::new(),
    };
    store.writer().add(&build, &profile, interned).unwrap()
}

/// A profile of the stacks main (node 0), main;a (1), main;a;b (2) and main;c (3), whose node 2 has cost `count`.
fn with_all_columns(folded: &str, count: u64) -> ProfileData {
    let interned = interned(folded);
    let cost = |samples| Cost {
        samples,
        value: samples,
    };
    let context = SampleContext {
        thread: ProfileThread {
            pid: 7,
            tid: 8,
            name: "worker".to_owned(),
        },
        labels: Arc::new([SampleLabel {
            key: "request".to_owned(),
            value: LabelValue::Text("get".to_owned()),
        }]),
    };
    let slices = interned.costs.iter().map(|costs| {
        let slice = |&(node, cost): &(NodeIx, Cost)| SliceCost {
            context: ContextIx(0),
            slice: SliceIx(node.0),
            node,
            cost,
        };
        let mut slices: Vec<SliceCost> = costs.iter().map(slice).collect();
        slices.sort_by_key(|cost| (cost.slice, cost.node));
        slices.into_iter().collect()
    });
    let slices: Vec<_> = slices.collect();
    let count_of_slices = SliceCount::new(5).unwrap();
    let times: Arc<[Nanoseconds]> = Arc::new([Nanoseconds(100), Nanoseconds(200)]);
    let memory = MetricSeries::new("rss", MetricKind::Level, times, vec![1.5, count as f64]);
    let stacks = [
        (0, None, 0),
        (1, Some(0), 1),
        (2, Some(1), 2),
        (3, Some(0), 3),
    ];
    let stacks = stacks.map(|(node, caller, address)| AddressStack {
        node: NodeIx(node),
        caller,
        address: Some(address),
    });
    let module = Module {
        path: "/bin/demo".to_owned(),
        kind: ModuleKind::File,
        build_id: None,
        inode: None,
        text_address: None,
        alias: None,
    };
    let line = |frame, line| LineCost {
        frame: FrameIx(frame),
        line,
        self_cost: cost(1),
        total: cost(count),
    };
    ProfileData {
        line_costs: vec![vec![line(0, 4), line(1, 9)]],
        slices: Some(TimeSlices {
            grid: SliceGrid::new(Nanoseconds(100), Nanoseconds(600), count_of_slices).unwrap(),
            contexts: vec![context],
            costs: slices.clone(),
        }),
        metrics: Some(RunMetrics {
            first: Nanoseconds(100),
            last: Nanoseconds(600),
            series: vec![memory.unwrap()],
        }),
        calls: Some(calls()),
        kept_calls: Some(Arc::new(kept_calls())),
        source_digests: BTreeMap::from([(
            "src/demo.c".to_owned(),
            SourceFileDigest([count as u8; 16]),
        )]),
        addresses: Some(ProfileAddresses {
            modules: vec![module],
            addresses: (0..4).map(|address| (0, 0x1000 + address)).collect(),
            stacks: stacks.to_vec(),
            costs: interned.costs.clone(),
            slices,
        }),
        ..interned
    }
}

/// A call of main that calls `a` twice, which calls `b`, and then `c`.
fn calls() -> RunCalls<NodeIx> {
    let call = LongCall {
        stack: NodeIx(0),
        begin: Nanoseconds(100),
        end: Nanoseconds(600),
    };
    let stack = |stack, calls, duration| CalledStack {
        stack: NodeIx(stack),
        calls,
        duration: Nanoseconds(duration),
    };
    let callees = Expression {
        begin: Nanoseconds(110),
        end: Nanoseconds(400),
        stacks: vec![stack(1, 2, 180), stack(2, 2, 100), stack(3, 1, 50)],
    };
    let records = vec![CallRecord::Call(call), CallRecord::Expression(callees)];
    let thread = |tid, records, calls| ThreadCalls {
        thread: CallThread {
            pid: 7,
            program: "demo".to_owned(),
            tid,
            name: "worker".to_owned(),
        },
        begin: call.begin,
        end: call.end,
        calls,
        records,
    };
    RunCalls {
        thresholds: CallThresholds::default(),
        threads: vec![
            thread(8, records, 6),
            thread(9, vec![CallRecord::Call(call)], 1),
        ],
        outliers: vec![Outlier {
            thread: 0,
            call,
            typical: Nanoseconds(9),
            calls: 3,
            activities: vec![ThreadActivity {
                thread: 1,
                stack: Some(NodeIx(3)),
                time: Nanoseconds(1),
            }],
        }],
        waits: vec![Wait {
            thread: 0,
            call,
            ended_by: Some((1, call)),
        }],
        arguments: vec![CallsByArgument {
            thread: 0,
            stack: NodeIx(1),
            argument: "n".to_owned(),
            calls: vec![CallsAtValue {
                value: 4.0,
                calls: 2,
                duration: Nanoseconds(180),
                self_duration: Nanoseconds(80),
            }],
        }],
    }
}

/// All calls of [`calls`], in two pieces for the first thread and one for the second.
fn kept_calls() -> PackedCalls {
    let call = |depth, function, begin, duration| Call {
        depth,
        function: TraceFunctionIx(function),
        arguments: None,
        begin: Nanoseconds(begin),
        duration: Nanoseconds(duration),
    };
    let threads = [
        vec![
            call(0, 0, 100, 500),
            call(1, 1, 110, 90),
            call(2, 2, 120, 50),
            call(1, 1, 210, 90),
            call(2, 2, 220, 50),
            call(1, 3, 350, 50),
        ],
        vec![call(0, 0, 100, 500)],
    ];
    let functions: Vec<[u8; 16]> = (0..4).map(|function| [function; 16]).collect();
    let mut head = KeptHead {
        functions: (0..4).map(|node| (NodeIx(node), 1)).collect(),
        pieces: Vec::new(),
    };
    let mut packed = PackedCalls::new(None);
    for (thread, calls) in (0..).zip(threads) {
        for piece in Pieces::new(calls.into_iter(), 4, &functions) {
            head.pieces.push(PieceInfo {
                thread,
                begin: piece.begin,
                calls: piece.gaps.len() as u32,
            });
            packed.push(&pack_piece(&piece).unwrap()).unwrap();
        }
    }
    packed.push_front(&pack_kept_head(&head).unwrap()).unwrap();
    packed
}

/// The tree of folded stacks, with frames and children in the order of interning.
fn interned(folded: &str) -> ProfileData {
    let stacks: BTreeMap<Vec<&str>, u64> = folded
        .lines()
        .map(|line| {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            (stack.split(';').collect(), count.parse().unwrap())
        })
        .collect();
    let frame = |symbol| Frame {
        kind: FrameKind::User,
        symbol,
        module: "",
        file: "",
        line: 0,
    };
    let mut unsorted = FrameTable::new();
    for symbol in stacks.keys().flatten() {
        unsorted.insert(frame(symbol));
    }
    let ranks = unsorted.ranks();
    let mut order: Vec<FrameIx> = unsorted.iter().map(|(ix, _)| ix).collect();
    order.sort_by_key(|ix| ranks[ix.get()]);
    let mut frames = FrameTable::new();
    for ix in order {
        frames.insert(unsorted.frame(ix));
    }
    let mut costs_of: BTreeMap<Vec<FrameIx>, u64> = BTreeMap::new();
    for (stack, count) in stacks {
        let stack: Vec<FrameIx> = stack
            .iter()
            .map(|symbol| frames.find(frame(symbol)).unwrap())
            .collect();
        costs_of.insert(stack, count);
    }
    let mut tree = StackTree::new();
    let mut nodes: BTreeMap<Vec<FrameIx>, NodeIx> = BTreeMap::new();
    let mut costs = Vec::new();
    for (stack, count) in costs_of {
        let mut parent = None;
        for length in 1..=stack.len() {
            let push = || tree.push(parent, stack[length - 1]);
            parent = Some(*nodes.entry(stack[..length].to_vec()).or_insert_with(push));
        }
        costs.extend(parent.map(|node| {
            (
                node,
                Cost {
                    samples: count,
                    value: count,
                },
            )
        }));
    }
    ProfileData {
        frames,
        tree,
        costs: vec![costs],
        line_costs: vec![Vec::new()],
        ..ProfileData::default()
    }
}
