//! Packs come back as they were, and no bytes make unpacking panic.

use super::*;
use crate::intern::LineCost;
use crate::model::{Frame, FrameIx, FrameKind, ModuleRef};
use crate::units::Cost;
use proptest::prelude::*;

const FRAMES: u32 = 40;

/// Nodes that two packs hold: the second one's subtrees stand below nodes of the first.
fn nodes(len: u32, first: u32) -> NodeColumns {
    let mut nodes = NodeColumns::default();
    let mut path: Vec<u32> = Vec::new();
    for node in 0..len {
        path.truncate(path.len().saturating_sub((node % 5 * node % 3) as usize));
        if node == first || node % 17 == 0 {
            path.clear();
        }
        let anchor = (node % 2 == 0).then(|| node * 7 % first.max(1));
        let anchor = anchor.filter(|_| node >= first && first > 0);
        let parent = path.last().copied().or(anchor);
        nodes.parents.push(parent.unwrap_or(NO_PARENT));
        nodes.frames.push(node * node % FRAMES);
        path.push(node);
    }
    nodes
}

fn unpack_both(packs: &[Vec<u8>]) -> Result<NodeColumns, Flaw> {
    let mut nodes = NodeColumns::default();
    let mut callees = Callees::new(FRAMES);
    for pack in packs {
        unpack_nodes(pack, &mut nodes, &mut callees)?;
    }
    Ok(nodes)
}

fn pack_both(nodes: &NodeColumns, first: usize) -> [Vec<u8>; 2] {
    let mut before = nodes.clone();
    before.parents.truncate(first);
    before.frames.truncate(first);
    [
        pack_nodes(&before, 0).unwrap(),
        pack_nodes(nodes, first).unwrap(),
    ]
}

fn frames() -> Vec<Frame<'static>> {
    let symbols = ["", "main", "<b>ü</b>", "main"];
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

fn costs(fixed_period: bool) -> Vec<(u32, Cost)> {
    let value = |samples| {
        if fixed_period {
            samples * 4000
        } else {
            samples << 30 | samples
        }
    };
    (1..30)
        .map(|i| (i * i, cost(u64::from(i), value(u64::from(i)))))
        .collect()
}

fn lines() -> Vec<LineCost> {
    (1..30)
        .map(|i| LineCost {
            frame: FrameIx(i / 3),
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
            build_id: crate::model::GnuBuildId::from_bytes(&[1; 20]),
        },
        ModuleRef {
            name: String::new(),
            build_id: None,
        },
    ]
}

#[test]
fn packs_come_back() {
    for (len, first) in [(0, 0), (1, 0), (12, 5), (2000, 0), (2000, 1500), (30, 30)] {
        let nodes = nodes(len, first);
        assert_eq!(
            unpack_both(&pack_both(&nodes, first as usize)).unwrap(),
            nodes
        );
    }
    let unpacked = unpack_frames(&pack_frames(frames().into_iter()).unwrap()).unwrap();
    let unpacked: Vec<Frame<'_>> = (0..unpacked.len()).map(|i| unpacked.get(i)).collect();
    assert_eq!(unpacked, frames());
    for costs in [costs(true), costs(false), Vec::new()] {
        assert_eq!(
            unpack_costs(&pack_costs(&costs).unwrap(), 900).unwrap(),
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
fn costs_of_nodes_and_lines_of_frames_that_do_not_exist_are_found() {
    let pack = pack_costs(&costs(true)).unwrap();
    assert!(unpack_costs(&pack, 842).is_ok());
    assert!(unpack_costs(&pack, 841).is_err());
    let pack = pack_lines(&lines()).unwrap();
    assert!(unpack_lines(&pack, 10).is_ok());
    assert!(unpack_lines(&pack, 9).is_err());
}

#[test]
fn a_recursion_costs_next_to_nothing() {
    let nodes = NodeColumns {
        parents: (0..100_000u32).map(|node| node.wrapping_sub(1)).collect(),
        frames: vec![7; 100_000],
    };
    assert!(pack_nodes(&nodes, 0).unwrap().len() < 200);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    /// Small packs are not compressed, so that the changes reach every field.
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
        let mut packs = pack_both(&nodes(12, 5), 5);
        packs[1] = changed(packs[1].clone());
        if let Ok(nodes) = unpack_both(&packs) {
            prop_assert!(nodes.frames.iter().all(|&frame| frame < FRAMES));
            let parents = nodes.parents.iter().enumerate();
            for (node, &parent) in parents {
                prop_assert!(parent == NO_PARENT || (parent as usize) < node);
            }
        }
        if let Ok(frames) = unpack_frames(&changed(pack_frames(frames().into_iter()).unwrap())) {
            for i in 0..frames.len() {
                frames.get(i);
            }
        }
        for fixed_period in [false, true] {
            let costs = unpack_costs(&changed(pack_costs(&costs(fixed_period)).unwrap()), 900);
            prop_assert!(costs.is_err() || costs.is_ok_and(|costs| costs.is_sorted_by_key(|c| c.0)));
        }
        if let Ok(lines) = unpack_lines(&changed(pack_lines(&lines()).unwrap()), FRAMES) {
            prop_assert!(lines.iter().all(|line| line.frame.0 < FRAMES && line.line > 0));
        }
        let _ = unpack_modules(&changed(pack_modules(&modules()).unwrap()));
        let _ = unpack::<Contents>(&changed(pack(&Contents::default()).unwrap()));
    }
}
