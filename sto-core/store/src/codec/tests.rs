//! Packs round-trip, and no bytes make unpacking panic.

use super::*;
use crate::numbers::*;
use proptest::prelude::*;
use sto_model::id::ProfileId;
use sto_model::tree::LineCost;
use sto_model::units::{Cost, SampleType, Unit};
use sto_model::{Frame, FrameKind, GnuBuildId, ModuleRef};

const FRAMES: FrameNo = FrameNo(40);

/// Nodes of a pack: segments in preorder below nodes of earlier packs and of this one, and roots.
fn nodes(len: u32, first: u32) -> NodeColumns {
    let mut nodes = NodeColumns::default();
    let mut path: Vec<u32> = Vec::new();
    for node in first..first + len {
        path.truncate(path.len().saturating_sub((node % 5 * node % 3) as usize));
        if node % 17 == 0 {
            path.clear();
        }
        let attach = (node % 2 == 0).then_some(node / 3);
        let parent = path.last().copied().or(attach.filter(|_| node > 0));
        nodes.push(
            parent.map_or(NodeNo::NONE, NodeNo),
            FrameNo(node * node % FRAMES.0),
        );
        path.push(node);
    }
    nodes
}

fn frames() -> Vec<Frame<'static>> {
    // `ü` and `û` share their first byte.
    let symbols = ["", "main", "<b>ü</b>", "<b>û</b>", "main"];
    let kinds = FrameKind::ALL.iter().zip(symbols.iter().cycle());
    kinds
        .map(|(&kind, symbol)| Frame {
            module: if kind == FrameKind::Kernel {
                "[kernel]"
            } else {
                "demo"
            },
            symbol,
            kind,
            file: if symbol.is_empty() { "" } else { "src/main.c" },
            line: kind as u32 * 300,
        })
        .collect()
}

fn cost(samples: u64, value: u64) -> Cost {
    Cost { samples, value }
}

fn costs(fixed_period: bool) -> Vec<(NodeNo, Cost)> {
    let value = |samples| {
        if fixed_period {
            samples * 4000
        } else {
            samples << 30 | samples
        }
    };
    (1..30)
        .map(|i| (NodeNo(i * i), cost(u64::from(i), value(u64::from(i)))))
        .collect()
}

fn lines() -> Vec<LineCost<FrameNo>> {
    (1..30)
        .map(|i| LineCost {
            frame: FrameNo(i / 3),
            line: i * 100,
            self_cost: cost(0, 0),
            total: cost(u64::from(i), 7),
        })
        .collect()
}

fn modules() -> Vec<ModuleRef> {
    vec![
        ModuleRef {
            name: "libc.so.6".to_owned(),
            build_id: sto_model::GnuBuildId::from_bytes(&[1; 20]),
        },
        ModuleRef {
            name: String::new(),
            build_id: None,
        },
    ]
}

#[test]
fn reads_segments_without_those_in_between() {
    let (first, nodes) = (NodeNo(1500), nodes(2000, 1500));
    let pack = pack_nodes(first, &nodes).unwrap();
    let segments = Segments::unpack(&pack, first, FRAMES).unwrap();
    let others = segments.decompress_others().unwrap();
    let mut reader = segments.reader(&others);
    let mut read = 0;
    for (segment, &root) in segments.roots.iter().enumerate().skip(1).step_by(3) {
        let mut check = |node: NodeNo, found: (NodeNo, FrameNo)| {
            let at = node.get() - first.get();
            assert_eq!((nodes.parents[at], nodes.frames[at]), found);
            read += 1;
            node
        };
        let node = reader.begin(segment).unwrap();
        check(node, root);
        reader
            .read(node, |node, parent, frame| check(node, (parent, frame)))
            .unwrap();
    }
    assert!(read > segments.roots.len() && read < 1000);
    assert!(reader.begin(segments.roots.len()).is_err());
}

#[test]
fn packs_round_trip() {
    for (len, first) in [(0, 0), (1, 0), (1, 7), (2000, 0), (2000, 1500), (0, 30)] {
        let (first, nodes) = (NodeNo(first), nodes(len, first));
        let pack = pack_nodes(first, &nodes).unwrap();
        let roots = Segments::unpack(&pack, first, FRAMES).unwrap().roots;
        assert!(roots.iter().all(|&(attach, frame)| {
            let mut all = nodes.parents.iter().zip(&nodes.frames);
            all.any(|node| node == (&attach, &frame))
        }));
        assert_eq!(unpack_nodes(&pack, first, FRAMES), Ok(nodes));
    }
    let unpacked = unpack_frames(&pack_frames(frames().into_iter()).unwrap()).unwrap();
    let unpacked: Vec<Frame<'_>> = (0..unpacked.len()).map(|i| unpacked.get(i)).collect();
    assert_eq!(unpacked, frames());
    for costs in [costs(true), costs(false), Vec::new()] {
        assert_eq!(
            unpack_costs(&pack_costs(&costs).unwrap(), NodeNo(900)).unwrap(),
            costs
        );
    }
    assert_eq!(
        unpack_lines(&pack_lines(&lines()).unwrap(), FRAMES).unwrap(),
        lines()
    );
    assert_eq!(
        unpack_modules(&pack_modules(&modules()).unwrap()).unwrap(),
        modules()
    );
}

#[test]
fn rejects_costs_of_missing_nodes_and_lines_of_missing_frames() {
    let pack = pack_costs(&costs(true)).unwrap();
    assert!(unpack_costs(&pack, NodeNo(842)).is_ok());
    assert!(unpack_costs(&pack, NodeNo(841)).is_err());
    let pack = pack_lines(&lines()).unwrap();
    assert!(unpack_lines(&pack, FrameNo(10)).is_ok());
    assert!(unpack_lines(&pack, FrameNo(9)).is_err());
}

#[test]
fn rejects_nodes_with_missing_parents_or_frames() {
    let pack = pack_nodes(NodeNo(60), &nodes(12, 60)).unwrap();
    let unpack = |first, frames_end| unpack_nodes(&pack, NodeNo(first), frames_end);
    assert!(unpack(60, FRAMES).is_ok());
    assert!(unpack(60, FrameNo(36)).is_err());
    assert!(unpack(2, FRAMES).is_err());
    assert!(unpack(u32::MAX - 12, FRAMES).is_err());
}

#[test]
fn recursion_compresses_to_almost_nothing() {
    let nodes = NodeColumns {
        parents: (0..100_000u32)
            .map(|node| NodeNo(node.wrapping_sub(1)))
            .collect(),
        frames: vec![FrameNo(7); 100_000],
    };
    assert!(pack_nodes(NodeNo(0), &nodes).unwrap().len() < 200);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn nodes_round_trip_in_any_order(
        shape in proptest::collection::vec((any::<prop::sample::Index>(), 0..FRAMES.0), 0..300),
        first in 0u32..50,
    ) {
        let mut nodes = NodeColumns::default();
        for (number, (parent, frame)) in (first..).zip(shape) {
            let parent = parent.index(number as usize + 1) as u32;
            nodes.push(NodeNo(parent.wrapping_sub(1)), FrameNo(frame));
        }
        let first = NodeNo(first);
        let pack = pack_nodes(first, &nodes).unwrap();
        prop_assert_eq!(unpack_nodes(&pack, first, FRAMES), Ok(nodes));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Small packs are not compressed, so the changes reach every field.
    #[test]
    fn changed_bytes_never_panic(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        len in any::<prop::sample::Index>(),
        cut in any::<bool>(),
    ) {
        let changed = |mut pack: Vec<u8>| {
            if cut {
                pack.truncate(len.index(pack.len()));
            }
            for (at, byte) in &changes {
                if !pack.is_empty() {
                    let at = at.index(pack.len());
                    pack[at] = *byte;
                }
            }
            pack
        };
        for first in [0, 5] {
            let nodes = nodes(12, first);
            let first = NodeNo(first);
            let pack = changed(pack_nodes(first, &nodes).unwrap());
            if let Ok(nodes) = unpack_nodes(&pack, first, FRAMES) {
                prop_assert!(nodes.frames.iter().all(|&frame| frame < FRAMES));
                for (node, &parent) in first.onward().zip(&nodes.parents) {
                    prop_assert!(parent == NodeNo::NONE || parent < node);
                }
            }
        }
        if let Ok(frames) = unpack_frames(&changed(pack_frames(frames().into_iter()).unwrap())) {
            for i in 0..frames.len() {
                frames.get(i);
            }
        }
        for fixed_period in [false, true] {
            let costs = unpack_costs(&changed(pack_costs(&costs(fixed_period)).unwrap()), NodeNo(900));
            prop_assert!(costs.is_err() || costs.is_ok_and(|costs| costs.is_sorted_by_key(|c| c.0)));
        }
        if let Ok(lines) = unpack_lines(&changed(pack_lines(&lines()).unwrap()), FRAMES) {
            prop_assert!(lines.iter().all(|line| line.frame < FRAMES && line.line > 0));
        }
        let _ = unpack_modules(&changed(pack_modules(&modules()).unwrap()));
        let _ = unpack::<Contents>(&changed(pack(&Contents::default()).unwrap()));
    }
}

/// The example of SPEC.md: `main` calls `a`, which calls `b`, and then `c`.
#[test]
fn nodes_match_the_specification() {
    let nodes = NodeColumns {
        parents: vec![NodeNo::NONE, NodeNo(0), NodeNo(1), NodeNo(0)],
        frames: [0, 1, 2, 3].map(FrameNo).to_vec(),
    };
    let expected = [
        &[4, 1][..],
        &[1, 0, 0],
        &[1, 0, 0],
        &[4, 0, 0, 1, 1, 3],
        &[1, 3, 0, 1, 2, 3],
    ];
    assert_eq!(pack_nodes(NodeNo(0), &nodes).unwrap(), expected.concat());
}

#[test]
fn costs_match_the_specification() {
    let fixed = [(NodeNo(2), cost(3, 300)), (NodeNo(5), cost(16, 1600))];
    let expected = [
        &[2][..],
        &[2, 0, 0x23, 0x2f],
        &[0, 0],
        &[1, 0, 1],
        &[0, 100],
    ];
    assert_eq!(pack_costs(&fixed).unwrap(), expected.concat());
    let own = [(NodeNo(2), cost(3, 300)), (NodeNo(5), cost(1, 101))];
    let expected = [
        &[2][..],
        &[2, 0, 0x23, 0x21],
        &[0, 0],
        &[0, 0],
        &[1, 3, 0, 0xac, 2, 101],
    ];
    assert_eq!(pack_costs(&own).unwrap(), expected.concat());
}

#[test]
fn lines_match_the_specification() {
    let line = |frame, line, self_samples, total_samples| LineCost {
        frame: FrameNo(frame),
        line,
        self_cost: cost(self_samples, 100 * self_samples),
        total: cost(total_samples, 100 * total_samples),
    };
    let lines = [line(1, 10, 0, 2), line(1, 12, 2, 2), line(4, 7, 1, 3)];
    let expected = [
        &[3][..],
        &[3, 0, 1, 0, 3],
        &[3, 0, 10, 2, 7],
        &[3, 0, 0x02, 0x22, 0x13],
        &[0, 0],
        &[0, 0],
        &[0, 100],
        &[0, 100],
    ];
    assert_eq!(pack_lines(&lines).unwrap(), expected.concat());
}

#[test]
fn frames_match_the_specification() {
    let frame = |module, symbol, kind, line| Frame {
        module,
        symbol,
        kind,
        file: "a.c",
        line,
    };
    let frames = [
        frame("demo", "f", FrameKind::User, 0),
        frame("demo", "f", FrameKind::Inlined, 0),
        frame("libc", "fgo", FrameKind::User, 300),
    ];
    let expected = [
        &[3][..],
        &[3, 0, 0, 1, 0, 2, 0, 0, 0, 10, 0],
        b"demo\xfflibc\xff",
        &[3, 0, 0, 1, 0, 2, 0, 0, 1, 5, 0],
        b"f\xffgo\xff",
        &[3, 0, 0, 1, 1, 1, 0, 0, 4, 0],
        b"a.c\xff",
        &[3, 0, 0, 2, 0],
        &[4, 0, 0, 0, 0xac, 2],
    ];
    assert_eq!(pack_frames(frames.into_iter()).unwrap(), expected.concat());
}

#[test]
fn records_match_the_specification() {
    let contents = Contents {
        next_build: BuildNo(7),
        next_profile: ProfileNo(300),
        history: [7; 16],
        builds: 1,
        frames: FrameNo(300),
        executables: ExecutableNo(2),
        profiles: 251,
        modules: ModulesNo(0),
    };
    let expected = [
        &[7; 16][..],
        &[1, 251, 44, 1, 2, 251, 251, 0, 0, 7, 251, 44, 1],
    ];
    assert_eq!(pack(&contents).unwrap(), expected.concat());
    let build = BuildRecord {
        executable: "demo".to_owned(),
        version: "v1".to_owned(),
        gnu_build_id: GnuBuildId::from_bytes(&[0xab, 0xcd]).map(|value| EarliestFact {
            value,
            recorded: 70_000,
            profile: ProfileId([9; 16]),
        }),
        revision: None,
        number: BuildNo(3),
        profiles: 2,
        samples: 70_000,
        sums: vec![
            CostSum {
                sample_type: SampleType {
                    event: "e".to_owned(),
                    unit: Unit::Events,
                },
                total: cost(300, 0),
                has_column: true,
                separate: Vec::new(),
            },
            CostSum {
                sample_type: SampleType {
                    event: "f".to_owned(),
                    unit: Unit::Nanoseconds,
                },
                total: cost(2, 3),
                has_column: false,
                separate: vec![(ProfileNo(4), TypeNo(1))],
            },
        ],
    };
    let expected = [
        b"\x04demo\x02v1".as_slice(),
        &[1, 2, 0xab, 0xcd, 252, 0x70, 0x11, 1, 0],
        &[9; 16],
        &[0, 3, 2, 252, 0x70, 0x11, 1, 0],
        b"\x02\x01e\x03\xfb\x2c\x01\x00\x01\x00",
        b"\x01f\x01\x02\x03\x00\x01\x04\x01",
    ];
    assert_eq!(pack(&build).unwrap(), expected.concat());
}

#[test]
fn checksum_covers_key_and_value() {
    let stored = with_checksum(b"key", b"value".to_vec());
    let digest = blake3::hash(b"keyvalue");
    assert_eq!(stored, [b"value", &digest.as_bytes()[..8]].concat());
    assert_eq!(without_checksum(b"key", &stored), Ok(b"value".as_slice()));
    assert!(without_checksum(b"kez", &stored).is_err());
    for bit in 0..8 * stored.len() {
        let mut stored = stored.clone();
        stored[bit / 8] ^= 1 << (bit % 8);
        assert!(without_checksum(b"key", &stored).is_err());
    }
    assert!(without_checksum(b"key", b"short").is_err());
}

#[test]
fn profile_record_matches_the_specification() {
    use sto_model::id::{BuildId, RecordingDigest};
    use sto_model::units::{Bytes, Nanoseconds, UnixSeconds};
    use sto_model::{Granularity, Origin, Profile, Quality};
    let record = ProfileRecord {
        number: ProfileNo(3),
        columns: 4,
        modules: ModulesNo(5),
        gnu_build_id: GnuBuildId::from_bytes(&[0xab]),
        revision: Some("r".to_owned()),
        slices: 6,
        profile: Profile {
            build: BuildId([1; 16]),
            source: RecordingDigest([2; 16]),
            source_bytes: Bytes(6),
            format: "folded".to_owned(),
            origin: Origin {
                recorded: Some(UnixSeconds(7)),
                duration: Some(Nanoseconds(8)),
                host: Some("h".to_owned()),
                kernel: None,
                arch: Some("a".to_owned()),
                cpu: None,
                command: Some("c".to_owned()),
            },
            quality: Quality {
                samples: 10,
                unresolved: 11,
                truncated: 12,
                without_stack: 13,
                lost: 14,
            },
            granularity: Granularity::Line,
            sample_types: vec![SampleType {
                event: "e".to_owned(),
                unit: Unit::Bytes,
            }],
            modules: [].into(),
            benchmark: Some("b".to_owned()),
            labels: [("k".to_owned(), "v".to_owned())].into(),
            metrics: [("m".to_owned(), 1.0)].into(),
        },
    };
    let expected = [
        &b"\x03\x04\x05\x01\x01\xab\x01\x01r\x06"[..],
        &[1; 16],
        &[2; 16],
        b"\x06\x06folded",
        b"\x01\x07\x01\x08\x01\x01h\x00\x01\x01a\x00\x01\x01c",
        &[10, 11, 12, 13, 14],
        &[1],
        b"\x01\x01e\x02",
        &[0],
        b"\x01\x01b",
        b"\x01\x01k\x01v",
        b"\x01\x01m\x00\x00\x00\x00\x00\x00\xf0\x3f",
    ];
    assert_eq!(pack(&record).unwrap(), expected.concat());
    assert_eq!(unpack(&expected.concat()), Ok(record));
}
