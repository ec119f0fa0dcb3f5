//! Profiles for stores, and their expected contents.

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use sto_core::id::{ExecutableId, FrameId, NodeId, ProfileId, RecordingDigest};
use sto_core::model::{
    Build, Commit, CommitHash, Frame, FrameIx, FrameKind, FrameTable, GnuBuildId, Granularity,
    ModuleRef, Origin, Profile, Quality,
};
use sto_core::store::{Loaded, LoadedLines, Store};
use sto_core::tree::{LineCost, NodeIx, ProfileData, SelfCosts, StackTree};
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

/// A simple profile: costs by stack, where stacks are lists of small numbers, root first.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    /// For each sample type, costs by stack.
    pub(crate) costs: Vec<BTreeMap<Vec<u16>, Cost>>,
    /// For each sample type, self and total by function and line.
    pub(crate) lines: Vec<BTreeMap<(u16, u32), (Cost, Cost)>>,
}

/// The frame of a number. Some frames differ in one field only.
pub(crate) fn frame(function: u16, text: &mut Vec<String>) -> Frame<'_> {
    text.clear();
    text.push(["", "libc.so.6", "demo", "[kernel]"][usize::from(function % 4)].to_owned());
    text.push(match function % 5 {
        0 => format!("core::ptr::drop_in_place<Vec<f{}>>", function / 5),
        1 => format!("\u{1b}[31m<b>ü{}</b>\n", function / 5),
        _ => format!("f{}", function / 3),
    });
    text.push(["", "src/a.c", "/core/src/ptr/mod.rs"][usize::from(function % 3)].to_owned());
    Frame {
        module: &text[0],
        symbol: &text[1],
        kind: FrameKind::ALL[usize::from(function % 6)],
        file: &text[2],
        line: u32::from(function % 2),
    }
}

impl Plain {
    /// Converts the profile to its interned form.
    pub(crate) fn interned(&self) -> ProfileData {
        let stacks: BTreeSet<&Vec<u16>> = self.costs.iter().flat_map(BTreeMap::keys).collect();
        let in_stacks = stacks.iter().flat_map(|stack| stack.iter().copied());
        let in_lines = self
            .lines
            .iter()
            .flat_map(|lines| lines.keys().map(|key| key.0));
        let functions: BTreeSet<u16> = in_stacks.chain(in_lines).collect();

        let mut unsorted = FrameTable::new();
        let mut text = Vec::new();
        let indices: BTreeMap<u16, usize> = functions
            .iter()
            .map(|&function| (function, unsorted.insert(frame(function, &mut text)).get()))
            .collect();
        let ranks = unsorted.ranks();
        let mut order: Vec<u32> = (0..ranks.len() as u32).collect();
        order.sort_by_key(|&ix| ranks[ix as usize]);
        let mut frames = FrameTable::new();
        for ix in order {
            frames.insert(unsorted.frame(FrameIx(ix)));
        }
        let ix = |function: u16| FrameIx(ranks[indices[&function]]);

        let mut sorted: Vec<Vec<FrameIx>> = stacks
            .iter()
            .map(|stack| stack.iter().map(|&function| ix(function)).collect())
            .collect();
        sorted.sort();
        let mut tree = StackTree::new();
        let mut node_of: BTreeMap<Vec<FrameIx>, NodeIx> = BTreeMap::new();
        for stack in &sorted {
            let mut parent = None;
            for len in 1..=stack.len() {
                let node = node_of
                    .entry(stack[..len].to_vec())
                    .or_insert_with(|| tree.push(parent, stack[len - 1]));
                parent = Some(*node);
            }
        }
        let costs = self.costs.iter().map(|costs| {
            let mut costs: SelfCosts = costs
                .iter()
                .map(|(stack, &cost)| {
                    let stack: Vec<FrameIx> = stack.iter().map(|&f| ix(f)).collect();
                    (node_of[&stack], cost)
                })
                .collect();
            costs.sort_by_key(|&(node, _)| node);
            costs
        });
        let costs = costs.collect();
        let lines = self.lines.iter().map(|lines| {
            let mut lines: Vec<LineCost> = lines
                .iter()
                .map(|(&(function, line), &(self_cost, total))| LineCost {
                    frame: ix(function),
                    line,
                    self_cost,
                    total,
                })
                .collect();
            lines.sort_by_key(|line| (line.frame, line.line));
            lines
        });
        let lines = lines.collect();
        ProfileData {
            frames,
            tree,
            costs,
            line_costs: lines,
            slices: None,
            metrics: None,
            calls: None,
            kept_calls: None,
            source_digests: Default::default(),
            addresses: None,
        }
    }
}

/// A build of the program that all tests profile.
pub(crate) fn build(version: &str) -> Build {
    Build {
        executable: "demo".to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    }
}

/// A commit whose id repeats this byte.
pub(crate) fn commit(byte: u8) -> Commit {
    let hash = |byte| CommitHash::from_bytes(&[byte; 20]).unwrap();
    Commit {
        hash: hash(byte),
        parents: vec![hash(byte - 1)],
        author_time: UnixSeconds(u64::from(byte)),
        subject: format!("Subject of {:?}..", char::from(byte)),
        dirty: false,
    }
}

/// The metadata of a profile whose file has the contents `source`.
pub(crate) fn profile(build: &Build, source: &str, plain: &Plain) -> Profile {
    let types = plain.costs.len();
    Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(source.as_bytes()),
        source_bytes: Bytes(source.len() as u64),
        format: "folded".to_owned(),
        origin: Origin {
            recorded: Some(UnixSeconds(1_700_000_000 + source.len() as u64)),
            duration: Some(Nanoseconds(u64::MAX)),
            host: Some("höst".to_owned()),
            ..Origin::default()
        },
        quality: Quality {
            samples: 42,
            lost: 1,
            ..Quality::default()
        },
        granularity: Granularity::Function,
        sample_types: (0..types)
            .map(|i| SampleType {
                event: format!("event{i}"),
                unit: Unit::Nanoseconds,
            })
            .collect(),
        modules: [ModuleRef {
            name: "demo".to_owned(),
            build_id: GnuBuildId::from_bytes(version_bytes(build)),
        }]
        .into(),
        benchmark: None,
        labels: BTreeMap::from([("host".to_owned(), "ci".to_owned())]),
        metrics: BTreeMap::from([("seconds".to_owned(), 0.1)]),
    }
}

fn version_bytes(build: &Build) -> &[u8] {
    let bytes = build.version.as_bytes();
    &bytes[..bytes.len().min(GnuBuildId::MAX_LEN)]
}

/// Adds a profile, and returns its id.
pub(crate) fn add(store: &Store, version: &str, source: &str, plain: &Plain) -> ProfileId {
    let build = build(version);
    let profile = profile(&build, source, plain);
    let added = store.writer().add(&build, &profile, &plain.interned());
    added.unwrap().id()
}

/// The executable that all tests profile.
pub(crate) fn executable() -> ExecutableId {
    ExecutableId::from_name("demo")
}

/// For each sample type the costs of stacks, by content id.
pub(crate) type ById = Vec<BTreeMap<NodeId, Cost>>;

/// The expected costs, computed stack by stack.
pub(crate) fn expected(plain: &Plain) -> ById {
    let node_id = |stack: &Vec<u16>| {
        let mut text = Vec::new();
        let mut node = None;
        for &function in stack {
            let frame = FrameId::from_frame(frame(function, &mut text));
            node = Some(NodeId::new(node, executable(), frame));
        }
        node.unwrap()
    };
    let column = |costs: &BTreeMap<Vec<u16>, Cost>| {
        costs
            .iter()
            .map(|(stack, &cost)| (node_id(stack), cost))
            .collect()
    };
    plain.costs.iter().map(column).collect()
}

/// The expected line costs.
pub(crate) fn expected_lines(plain: &Plain) -> Vec<BTreeMap<(FrameId, u32), (Cost, Cost)>> {
    let mut text = Vec::new();
    let column = |lines: &BTreeMap<(u16, u32), (Cost, Cost)>| {
        lines
            .iter()
            .map(|(&(function, line), &costs)| {
                (
                    (FrameId::from_frame(frame(function, &mut text)), line),
                    costs,
                )
            })
            .collect()
    };
    plain.lines.iter().map(column).collect()
}

/// The actual costs of a profile, by content id.
pub(crate) fn by_id(frames: &FrameTable, tree: &StackTree, costs: &[SelfCosts]) -> ById {
    let ids = tree.node_ids(executable(), frames);
    let by_id = |&(node, cost): &(NodeIx, Cost)| (ids[node.get()], cost);
    costs
        .iter()
        .map(|costs| costs.iter().map(by_id).collect())
        .collect()
}

/// The actual line costs, by content id.
pub(crate) fn lines_by_id(
    frames: &FrameTable,
    lines: &[Vec<LineCost>],
) -> Vec<BTreeMap<(FrameId, u32), (Cost, Cost)>> {
    let column = |lines: &Vec<LineCost>| {
        lines
            .iter()
            .map(|line| {
                let frame = FrameId::from_frame(frames.frame(line.frame));
                ((frame, line.line), (line.self_cost, line.total))
            })
            .collect()
    };
    lines.iter().map(column).collect()
}

/// The contents of some profiles in a store, for comparisons.
pub(crate) fn answer(
    store: &Store,
    profiles: &[ProfileId],
) -> Result<String, sto_core::store::StoreError> {
    let Loaded {
        frames,
        tree,
        costs,
    } = store.snapshot()?.load(executable(), profiles)?;
    let mut text = format!("{frames:?}\n{tree:?}\n{costs:?}\n");
    for &profile in profiles {
        let LoadedLines { frames, lines, .. } = store.snapshot()?.load_lines(profile)?;
        text += &format!("{frames:?}\n{lines:?}\n");
    }
    Ok(text)
}

fn cost() -> impl Strategy<Value = Cost> {
    prop_oneof![
        // With a fixed period, and without one.
        (1u64..1000).prop_map(|samples| Cost {
            samples,
            value: samples * 1_001_001,
        }),
        (0u64..3, 1u64..1 << 50).prop_map(|(samples, value)| Cost { samples, value }),
    ]
}

/// Profiles with one to three sample types and few functions, so that they share stacks.
pub(crate) fn plain() -> impl Strategy<Value = Plain> {
    let columns = |types| {
        let stack = vec(0u16..12, 1..8);
        let line = (0u16..14, 1u32..2000);
        let costs = vec(btree_map(stack, cost(), 1..40), types);
        (costs, vec(btree_map(line, (cost(), cost()), 0..20), types))
    };
    (1usize..4)
        .prop_flat_map(columns)
        .prop_map(|(costs, lines)| Plain { costs, lines })
}

/// A profile of these stacks, one sample each.
pub(crate) fn of_stacks(stacks: &[&[u16]]) -> Plain {
    let cost = Cost {
        samples: 1,
        value: 10,
    };
    let costs = stacks.iter().map(|stack| (stack.to_vec(), cost)).collect();
    Plain {
        costs: vec![costs],
        lines: vec![BTreeMap::from([((1, 7), (cost, cost))])],
    }
}

/// A realistic tree: every function calls a few others, some of them
/// often; stacks are tens of frames deep.
pub(crate) fn forest(stacks: usize, functions: u16, seed: u64) -> Plain {
    let mut random = seed;
    let mut next = move |below: u64| {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) % below
    };
    let mut costs = BTreeMap::new();
    let mut stack: Vec<u16> = Vec::new();
    while costs.len() < stacks {
        stack.truncate(stack.len() - next(stack.len() as u64 / 2 + 1) as usize);
        for _ in 0..=next(6) {
            let caller = u64::from(stack.last().copied().unwrap_or(0));
            let callee = next(8) * next(8) / 7;
            stack.push(((caller * 31 + callee * 7 + 1) % u64::from(functions)) as u16);
        }
        stack.truncate(60);
        let samples = 1 + next(3) * next(3);
        costs.insert(
            stack.clone(),
            Cost {
                samples,
                value: samples * 1_001_001,
            },
        );
    }
    Plain {
        costs: vec![costs],
        lines: vec![BTreeMap::new()],
    }
}

/// The kinds of records that tests forge.
pub(crate) const PROFILE: u8 = 2;
pub(crate) const READING: u8 = 4;

/// Records of a store by kind and id, without their checksums.
pub(crate) type Records = BTreeMap<(u8, [u8; 16]), Vec<u8>>;

/// Changes the records of a store and updates their checksums, as an attacker would.
pub(crate) fn forge(folder: &Path, change: impl FnOnce(&mut Records)) {
    use redb::{ReadableTable, TableDefinition};
    const RECORDS: TableDefinition<'_, (u8, [u8; 16]), &[u8]> = TableDefinition::new("records");
    const CHECKSUM: usize = 8;
    let database = redb::Database::open(folder.join(Store::FILE_NAME)).unwrap();
    let transaction = database.begin_write().unwrap();
    {
        let mut table = transaction.open_table(RECORDS).unwrap();
        let mut records = Records::new();
        for entry in table.iter().unwrap() {
            let (key, value) = entry.unwrap();
            let body = &value.value()[..value.value().len() - CHECKSUM];
            records.insert(key.value(), body.to_vec());
        }
        change(&mut records);
        table.retain(|_, _| false).unwrap();
        for ((kind, id), mut body) in records {
            let mut hasher = blake3::Hasher::new();
            hasher.update(&[b'R', kind]).update(&id).update(&body);
            body.extend_from_slice(&hasher.finalize().as_bytes()[..CHECKSUM]);
            table.insert((kind, id), body.as_slice()).unwrap();
        }
    }
    transaction.commit().unwrap();
}
