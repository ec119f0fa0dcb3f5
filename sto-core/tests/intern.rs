//! Interning: a deterministic tree that counts recursion once.

use crate::common::{named_symbols, read_text};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::InternError;
use sto_core::limits::{MAX_DEPTH, max_frames};
use sto_core::model::{Frame, FrameIx, FrameKind};
use sto_core::recording::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, Recording, Sample, SampleTypeIx, StackIx,
};
use sto_core::stages::intern;
use sto_core::stages::{CodeLine, CodeLineIx, Symbols};
use sto_core::tree::{ProfileData, StackTree};
use sto_core::units::{Cost, SampleType, Unit};

fn cost(samples: u64, value: u64) -> Cost {
    Cost { samples, value }
}

fn intern_text(text: &str) -> ProfileData {
    let recording = read_text(text).unwrap();
    intern(&recording, &named_symbols(&recording), None, |_| true).unwrap()
}

/// The tree as lines, indented by depth, with the self cost of the first sample type.
fn show(interned: &ProfileData) -> Vec<String> {
    let tree = &interned.tree;
    let self_costs: BTreeMap<_, _> = interned.costs[0].iter().copied().collect();
    tree.nodes()
        .map(|node| {
            let depth = tree.ancestors(node).count() - 1;
            let symbol = interned.frames.frame(tree.frame(node)).symbol;
            let samples = self_costs.get(&node).map_or(0, |cost| cost.samples);
            format!("{}{symbol} {samples}", " ".repeat(depth))
        })
        .collect()
}

#[test]
fn stacks_share_callers_in_order_of_frames() {
    let interned = intern_text("main;z 1\nmain;b;x 2\nmain 3\nmain;b 4\na 5\nmain;z 6\n");
    assert_eq!(show(&interned), ["a 5", "main 3", " b 4", "  x 2", " z 7"]);
}

#[test]
fn keeps_only_used_frames_in_order() {
    let recording = read_text("main;z 1\nother;y 2\nmain;a 3\n").unwrap();
    let symbols = named_symbols(&recording);
    let other = recording.samples[1].stack;
    let interned = intern(&recording, &symbols, None, |sample| sample.stack != other).unwrap();
    let names: Vec<_> = interned
        .frames
        .iter()
        .map(|(_, frame)| frame.symbol)
        .collect();
    assert_eq!(names, ["a", "main", "z"]);
    assert_eq!(interned.frames.ranks(), [0, 1, 2]);
    assert_eq!(show(&interned), ["main 0", " a 3", " z 1"]);
}

#[test]
fn no_samples_give_an_empty_tree() {
    let recording = read_text("main 1").unwrap();
    let interned = intern(&recording, &named_symbols(&recording), None, |_| false).unwrap();
    assert!(interned.tree.is_empty() && interned.frames.is_empty());
    assert_eq!(interned.costs, [vec![]]);
    assert_eq!(interned.line_costs, [vec![]]);
}

#[test]
fn ignores_samples_with_zero_cost() {
    let recording = read_text("main;a 1\nmain;b 2\n").unwrap();
    let recording = recording.edit(|recording| recording.samples[0].cost = Cost::ZERO);
    let recording = recording.unwrap();
    let interned = intern(&recording, &named_symbols(&recording), None, |_| true).unwrap();
    assert_eq!(show(&interned), ["main 0", " b 2"]);
}

#[test]
fn rejects_counts_that_overflow() {
    let recording = read_text("a;b 1\na;c 1\n").unwrap();
    let recording = recording.edit(|recording| recording.samples[0].cost.value = u64::MAX);
    let recording = recording.unwrap();
    let symbols = named_symbols(&recording);
    let error = intern(&recording, &symbols, None, |_| true).unwrap_err();
    assert_eq!(error, InternError::Overflow);
    let first = recording.samples[0].stack;
    assert!(intern(&recording, &symbols, None, |sample| sample.stack == first).is_ok());
}

/// The quality counts the samples of all events together.
#[test]
fn rejects_sample_counts_of_several_events_that_overflow() {
    let recording = read_text("a;b 1\na;c 1\n").unwrap();
    let recording = recording.edit(|recording| {
        recording.samples[0].cost.samples = u64::MAX;
        recording.sample_types = vec![recording.sample_types[0].clone(); 2];
        recording.samples[1].sample_type = SampleTypeIx(1);
    });
    let recording = recording.unwrap();
    let error = intern(&recording, &named_symbols(&recording), None, |_| true).unwrap_err();
    assert_eq!(error, InternError::Overflow);
}

/// The recording with another stack in its first sample.
fn with_stack(recording: Recording, stack: &[LocationIx]) -> Recording {
    let recording = recording.edit(|recording| {
        recording.samples[0].stack = recording.stacks.try_insert(stack).unwrap();
    });
    recording.unwrap()
}

/// A location can become several frames, so a reader does not know the final depth of a stack.
#[test]
fn rejects_stacks_too_deep_with_inlined_functions() {
    let mut symbols = named_symbols(&read_text("a 1").unwrap());
    symbols.expansion = vec![symbols.expansion[0]; 1024];
    symbols.ends = vec![1024];
    let interned = |depth| {
        let recording = with_stack(read_text("a 1").unwrap(), &vec![LocationIx(0); depth]);
        intern(&recording, &symbols, None, |_| true)
    };
    assert!(interned(MAX_DEPTH / 1024).is_ok());
    let error = interned(MAX_DEPTH / 1024 + 1).unwrap_err();
    assert_eq!(error, InternError::TooDeep(MAX_DEPTH + 1024));
}

/// Stacks that differ only in their leaves count fully, although they share nodes.
#[test]
fn rejects_too_many_frames_from_inlined_functions() {
    let recording = read_text("a 1\na;b 1\na;c 1\na;d 1\na;e 1\n").unwrap();
    let mut symbols = named_symbols(&recording);
    let many = 1 << 20;
    symbols.expansion = [
        vec![symbols.expansion[0]; many],
        symbols.expansion[1..].to_vec(),
    ]
    .concat();
    symbols.ends = (0..5).map(|leaf| many as u32 + leaf).collect();
    let error = intern(&recording, &symbols, None, |_| true).unwrap_err();
    let limit = max_frames(recording.source_bytes);
    assert_eq!(error, InternError::TooLarge { limit });
    let recording = recording.edit(|recording| recording.samples.truncate(4));
    let recording = recording.unwrap();
    assert!(intern(&recording, &symbols, None, |_| true).is_ok());
}

#[test]
fn rejects_a_stack_without_frames() {
    let recording = with_stack(read_text("a 1").unwrap(), &[]);
    let error = intern(&recording, &named_symbols(&recording), None, |_| true).unwrap_err();
    assert_eq!(error, InternError::EmptyStack);
}

#[test]
fn interns_a_million_levels_of_recursion() {
    let text = format!(
        "{}leaf 1\n{}b 2\n",
        "r;".repeat(1_000_000),
        "r;".repeat(1_000_000)
    );
    let recording = read_text(&text).unwrap();
    let mut symbols = named_symbols(&recording);
    symbols.lines.iter_mut().for_each(|line| line.line = 1);
    let interned = intern(&recording, &symbols, None, |_| true).unwrap();
    assert_eq!(interned.tree.len(), 1_000_002);
    let totals: Vec<u64> = interned.line_costs[0]
        .iter()
        .map(|line| line.total.samples)
        .collect();
    assert_eq!(totals, [2, 1, 3], "b, leaf, r");
}

fn module() -> Module {
    Module {
        path: "m".to_owned(),
        kind: ModuleKind::File,
        build_id: None,
        inode: None,
        text_address: None,
        alias: None,
    }
}

/// A location of the models below: its frames as (frame, line), outermost first.
type Expansion = Vec<(u8, u32)>;

/// A recording with these stacks of locations as samples: (stack, sample type, cost).
fn model(expansions: &[Expansion], samples: &[(Vec<usize>, u32, Cost)]) -> (Recording, Symbols) {
    let recording = read_bytes(Path::new("model"), b"placeholder 1", &Default::default());
    let recording = recording.unwrap().edit(|recording| {
        recording.samples.clear();
        recording.sample_types = ["cycles", "faults"]
            .map(|event| SampleType {
                event: event.to_owned(),
                unit: Unit::Events,
            })
            .to_vec();
        recording.locations = (0..expansions.len() as u64)
            .map(|address| Location::Address {
                module: ModuleIx(0),
                address,
            })
            .collect();
        recording.modules = vec![module()];
        for (stack, sample_type, cost) in samples {
            let stack: Vec<_> = stack
                .iter()
                .map(|&location| LocationIx(location as u32))
                .collect();
            recording.samples.push(Sample {
                stack: recording.stacks.try_insert(&stack).unwrap(),
                thread: sto_core::recording::ThreadIx(0),
                sample_type: SampleTypeIx(*sample_type),
                time: None,
                cost: *cost,
                truncated: false,
            });
        }
    });

    let mut symbols = Symbols::default();
    let mut known = BTreeMap::new();
    for expansion in expansions {
        for &(name, line) in expansion {
            let frame = symbols.frames.insert(Frame {
                module: "m",
                symbol: &name.to_string(),
                kind: FrameKind::User,
                file: "",
                line: 0,
            });
            let line = CodeLine { frame, line };
            let ix = *known.entry(line).or_insert_with(|| {
                symbols.lines.push(line);
                CodeLineIx(symbols.lines.len() as u32 - 1)
            });
            symbols.expansion.push(ix);
        }
        symbols.ends.push(symbols.expansion.len() as u32);
    }
    (recording.unwrap(), symbols)
}

/// An interned profile without indices: self costs by stack, and line costs by function and
/// line.
#[derive(Debug, Default, PartialEq)]
struct Plain {
    self_costs: Vec<BTreeMap<Vec<String>, Cost>>,
    lines: Vec<BTreeMap<(String, u32), (Cost, Cost)>>,
}

impl Plain {
    /// A direct implementation of the definition.
    fn by_definition(expansions: &[Expansion], samples: &[(Vec<usize>, u32, Cost)]) -> Plain {
        let mut plain = Plain {
            self_costs: vec![BTreeMap::new(); 2],
            lines: vec![BTreeMap::new(); 2],
        };
        for (stack, sample_type, cost) in samples {
            if cost.is_zero() {
                continue;
            }
            let frames: Vec<(String, u32)> = stack
                .iter()
                .flat_map(|&location| &expansions[location])
                .map(|&(name, line)| (name.to_string(), line))
                .collect();
            let names = frames.iter().map(|(name, _)| name.clone()).collect();
            let sample_type = *sample_type as usize;
            *plain.self_costs[sample_type].entry(names).or_default() += *cost;
            let lines = &mut plain.lines[sample_type];
            for line in frames.iter().collect::<BTreeSet<_>>() {
                if line.1 != 0 {
                    lines.entry(line.clone()).or_default().1 += *cost;
                }
            }
            let leaf = frames.last().unwrap();
            if leaf.1 != 0 {
                lines.entry(leaf.clone()).or_default().0 += *cost;
            }
        }
        plain
    }

    fn from_interned(interned: &ProfileData) -> Plain {
        let symbol = |frame| interned.frames.frame(frame).symbol.to_owned();
        let names = |node| {
            let mut names: Vec<_> = interned
                .tree
                .ancestors(node)
                .map(|node| symbol(interned.tree.frame(node)))
                .collect();
            names.reverse();
            names
        };
        Plain {
            self_costs: interned
                .costs
                .iter()
                .map(|costs| {
                    costs
                        .iter()
                        .map(|&(node, cost)| (names(node), cost))
                        .collect()
                })
                .collect(),
            lines: interned
                .line_costs
                .iter()
                .map(|lines| {
                    let lines = lines.iter();
                    lines
                        .map(|line| {
                            (
                                (symbol(line.frame), line.line),
                                (line.self_cost, line.total),
                            )
                        })
                        .collect()
                })
                .collect(),
        }
    }
}

/// The documented order of the parts.
fn check_order(interned: &ProfileData) {
    let ProfileData {
        frames,
        tree,
        costs,
        line_costs: lines,
        slices: _,
        metrics: _,
        calls: _,
        kept_calls: _,
        source_digests: _,
        addresses: _,
    } = interned;
    let ranks: Vec<u32> = (0..frames.len() as u32).collect();
    assert_eq!(frames.ranks(), ranks);
    check_preorder(tree);
    let used: BTreeSet<FrameIx> = tree.frames().iter().copied().collect();
    assert_eq!(used.len(), frames.len(), "every frame is used");
    let mut siblings = BTreeMap::new();
    for node in tree.nodes() {
        let frame = tree.frame(node);
        if let Some(before) = siblings.insert(tree.parent(node), frame) {
            assert!(
                before < frame,
                "children stand in the order of their frames"
            );
        }
    }
    for costs in costs {
        assert!(costs.is_sorted_by(|a, b| a.0 < b.0));
        assert!(costs.iter().all(|(_, cost)| !cost.is_zero()));
    }
    for lines in lines {
        assert!(lines.is_sorted_by(|a, b| (a.frame, a.line) < (b.frame, b.line)));
    }
    let ends = tree.subtree_ends();
    for node in tree.nodes() {
        let subtree = node.0..ends[node.get()];
        let has_samples = costs
            .iter()
            .flatten()
            .any(|(node, _)| subtree.contains(&node.0));
        assert!(has_samples, "every node is on a sampled stack");
    }
}

fn check_preorder(tree: &StackTree) {
    let mut path = Vec::new();
    for node in tree.nodes() {
        while path.last().copied() != tree.parent(node) {
            path.pop()
                .expect("the parent is the node before or one of its callers");
        }
        path.push(node);
    }
}

type Model = (Vec<Expansion>, Vec<(Vec<usize>, u32, Cost)>);

fn models() -> impl Strategy<Value = Model> {
    let expansions = prop::collection::vec(prop::collection::vec((0u8..4, 0u32..3), 1..4), 1..6);
    expansions.prop_flat_map(|expansions| {
        let stack = prop::collection::vec(0..expansions.len(), 1..6);
        let cost = (0u64..3, 0u64..100).prop_map(|(samples, value)| cost(samples, value));
        let samples = prop::collection::vec((stack, 0u32..2, cost), 0..30);
        (Just(expansions), samples)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn interning_follows_its_definition((expansions, samples) in models()) {
        let (recording, symbols) = model(&expansions, &samples);
        let interned = intern(&recording, &symbols, None, |_| true).unwrap();
        prop_assert_eq!(Plain::from_interned(&interned), Plain::by_definition(&expansions, &samples));
        check_order(&interned);
    }

    #[test]
    fn result_does_not_depend_on_sample_order(
        ((expansions, samples), shuffled) in models().prop_flat_map(|(expansions, samples)| {
            let shuffled = Just(samples.clone()).prop_shuffle();
            (Just((expansions, samples)), shuffled)
        })
    ) {
        let interned = |samples| {
            let (recording, symbols) = model(&expansions, samples);
            let ProfileData { frames, tree, costs, line_costs, .. } = intern(&recording, &symbols, None, |_| true).unwrap();
            (format!("{frames:?}"), tree, costs, line_costs)
        };
        prop_assert_eq!(interned(&samples), interned(&shuffled));
    }

    #[test]
    fn other_samples_do_not_affect_a_part((expansions, samples) in models()) {
        let (recording, symbols) = model(&expansions, &samples);
        let keep = |stack: StackIx| stack.0.is_multiple_of(2);
        let part = intern(&recording, &symbols, None, |sample| keep(sample.stack)).unwrap();
        let kept: Vec<_> = samples
            .iter()
            .zip(&recording.samples)
            .filter(|(_, sample)| keep(sample.stack))
            .map(|(sample, _)| sample.clone())
            .collect();
        let (recording, symbols) = model(&expansions, &kept);
        let alone = intern(&recording, &symbols, None, |_| true).unwrap();
        prop_assert_eq!(Plain::from_interned(&part), Plain::from_interned(&alone));
        prop_assert_eq!(part.tree, alone.tree);
    }
}

#[test]
fn counts_a_recursive_line_once_per_stack() {
    // The example in SPEC.md: fib calls itself at line 3, and ends at line 2 or 3.
    let expansions = vec![vec![(0, 3)], vec![(0, 2)]];
    let samples = vec![
        (vec![0, 0, 1], 0, cost(1, 10)),
        (vec![0, 0], 0, cost(1, 10)),
    ];
    let (recording, symbols) = model(&expansions, &samples);
    let lines = &intern(&recording, &symbols, None, |_| true)
        .unwrap()
        .line_costs[0];
    let lines: Vec<_> = lines
        .iter()
        .map(|l| (l.line, l.self_cost, l.total))
        .collect();
    assert_eq!(
        lines,
        [(2, cost(1, 10), cost(1, 10)), (3, cost(1, 10), cost(2, 20))]
    );
}
