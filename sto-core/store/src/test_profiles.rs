//! Small profiles for the tests of this crate.

use crate::Store;
use std::collections::BTreeMap;
use sto_model::id::RecordingDigest;
use sto_model::tree::{NodeIx, ProfileData, StackTree};
use sto_model::units::{Bytes, Cost, SampleType, Unit};
use sto_model::{
    Build, Frame, FrameIx, FrameKind, FrameTable, Granularity, Origin, Profile, Quality,
};

/// Adds folded stacks as a profile of the executable `demo`.
pub(crate) fn add(store: &Store, folded: &str, version: &str) {
    let build = Build {
        executable: "demo".to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let interned = interned(folded);
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
    store.writer().add(&build, &profile, &interned).unwrap();
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
