//! Views that are written, read again by sto's own readers, and the same.

use super::{CALLGRIND, FIREFOX, FOLDED, OTLP, PPROF, SPEEDSCOPE, export};
use crate::views::{Stacks, view_of};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::formats::{ReadOptions, kind_by_names, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::model::{Frame, FrameKind, FrameTable, Granularity};
use sto_core::stages::intern;
use sto_core::stages::symbolize;
use sto_core::units::{Cost, SampleType, Unit};
use sto_query::results::View;

/// A frame that owns its text, as (symbol, module, kind, file, line).
type OwnFrame = (String, String, FrameKind, String, u32);
/// What each stack cost, root first, by sample type.
type Content = BTreeMap<(SampleType, Vec<OwnFrame>), Cost>;

fn own(frame: Frame<'_>) -> OwnFrame {
    let Frame {
        symbol,
        module,
        kind,
        file,
        line,
    } = frame;
    (symbol.into(), module.into(), kind, file.into(), line)
}

fn stack_of(
    frames: &FrameTable,
    tree: &sto_core::tree::StackTree,
    node: sto_core::tree::NodeIx,
) -> Vec<OwnFrame> {
    let stack = tree
        .ancestors(node)
        .map(|node| own(frames.frame(tree.frame(node))));
    let mut stack: Vec<_> = stack.collect();
    stack.reverse();
    stack
}

fn content_of(view: &View) -> Content {
    let mut content = Content::new();
    for (ix, sample_type) in view.sample_types.iter().enumerate() {
        let costs = view.self_costs(ix);
        for node in view
            .tree
            .nodes()
            .filter(|node| !costs[node.get()].is_zero())
        {
            let stack = stack_of(&view.frames, &view.tree, node);
            content.insert((sample_type.clone(), stack), costs[node.get()]);
        }
    }
    content
}

/// What formats for viewers hold of a view: `frame` of each frame, and of costs the value, or where a
/// sample type has none the number of samples. Each stack is then one sample, unless samples are what is
/// counted; a number of events counts as one of samples.
fn shown_content_of(view: &View, frame: impl Fn(&OwnFrame) -> OwnFrame) -> Content {
    let has_value = |event: &SampleType| {
        let own = content_of(view);
        own.iter()
            .any(|((sample_type, _), cost)| sample_type == event && cost.value > 0)
    };
    let mut content = Content::new();
    for ((sample_type, stack), cost) in content_of(view) {
        let (value, unit) = match (has_value(&sample_type), sample_type.unit) {
            (true, unit @ (Unit::Nanoseconds | Unit::Bytes)) => (cost.value, unit),
            (true, Unit::Samples | Unit::Events) => (cost.value, Unit::Samples),
            (false, _) => (cost.samples, Unit::Samples),
        };
        if value == 0 {
            continue;
        }
        let samples = if unit == Unit::Samples { value } else { 1 };
        let event = sample_type.event;
        let key = (
            SampleType { event, unit },
            stack.iter().map(&frame).collect(),
        );
        *content.entry(key).or_default() += Cost { samples, value };
    }
    content
}

/// What sto reads out of a file, and its sample types in their order.
fn content_in(bytes: &[u8]) -> (Content, Vec<SampleType>) {
    let symbols = SymbolOptions {
        granularity: Granularity::Line,
        ..SymbolOptions::default()
    };
    let options = ReadOptions {
        symbols: symbols.clone(),
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("exported"), bytes, &options).unwrap();
    let interned = intern(&recording, &symbolize(&recording, &symbols), None, |_| true).unwrap();
    let mut content = Content::new();
    for (sample_type, costs) in recording.sample_types.iter().zip(&interned.costs) {
        for &(node, cost) in costs {
            let stack = stack_of(&interned.frames, &interned.tree, node);
            content.insert((sample_type.clone(), stack), cost);
        }
    }
    (content, recording.sample_types.clone())
}

fn frames() -> impl Strategy<Value = Frame<'static>> {
    let symbol = prop::sample::select(
        &[
            "main",
            "work",
            "f",
            "std::max<int>(a, b)",
            "operator new",
            "caf\u{e9}",
            "_[k]",
            "f_[j]",
            "[unknown]",
            "[libc.so.6+0x12]",
            "0x7f00",
            "<module>",
            "a 12",
            " ",
            "x;y\n\x1b[31m",
        ][..],
    );
    let module = prop::sample::select(&["", "demo", "libc.so.6", "[kernel]", "nf.ko", "[jit]"][..]);
    let kind = prop::sample::select(&FrameKind::ALL[..]);
    let file = prop::sample::select(&["", "src/a.c", "/usr/include/b.h"][..]);
    (symbol, module, kind, file, 0..3u32).prop_map(|(symbol, module, kind, file, line)| Frame {
        module,
        symbol,
        kind,
        file,
        line,
    })
}

fn stacks(frame: impl Strategy<Value = Frame<'static>>) -> impl Strategy<Value = Stacks> {
    let cost = (0..3u64, prop_oneof![0..5u64, 0..i64::MAX as u64 / 1000])
        .prop_filter("a stack costs something", |cost| *cost != (0, 0))
        .prop_map(|(samples, value)| Cost { samples, value });
    let stack = prop::collection::vec(frame, 1..6);
    prop::collection::vec((stack, cost), 1..8)
}

fn sample_types() -> impl Strategy<Value = SampleType> {
    let event = prop::sample::select(
        &[
            "samples",
            "cpu",
            "cpu-clock:u",
            "alloc_space",
            "page-faults",
            "my sample",
            "x/y",
            "cpu_samples",
        ][..],
    );
    let unit =
        prop::sample::select(&[Unit::Samples, Unit::Nanoseconds, Unit::Bytes, Unit::Events][..]);
    (event, unit).prop_map(|(event, unit)| SampleType {
        event: event.to_owned(),
        unit,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn pprof_and_otlp_come_back_the_same(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        for render in [PPROF, OTLP] {
            let (content, sample_types) = content_in(&export(&view, render));
            prop_assert_eq!(content, content_of(&view));
            prop_assert_eq!(&sample_types, &view.sample_types);
        }
    }

    #[test]
    fn firefox_profiles_come_back_with_all_of_their_frames(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        let columns: Vec<_> = columns.into_iter().map(|(sample_type, stacks)| {
            // Milliseconds are floating-point numbers.
            let days = |cost: Cost| Cost { value: cost.value % (1 << 50), ..cost };
            let stacks: Stacks = stacks.into_iter().map(|(stack, cost)| (stack, days(cost))).collect();
            (sample_type, stacks)
        }).collect();
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        let expected = shown_content_of(&view, OwnFrame::clone);
        prop_assume!(!expected.is_empty());
        prop_assert_eq!(content_in(&export(&view, FIREFOX)).0, expected);
    }

    #[test]
    fn speedscope_files_come_back_but_for_modules_and_kinds(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        let expected = shown_content_of(&view, |(symbol, _, _, file, line)| {
            let kind = kind_by_names(symbol, "");
            (symbol.clone(), String::new(), kind, file.clone(), *line)
        });
        prop_assume!(!expected.is_empty());
        prop_assert_eq!(content_in(&export(&view, SPEEDSCOPE)).0, expected);
    }

    #[test]
    fn folded_text_comes_back_the_same(stacks in stacks(foldable())) {
        let samples = SampleType { event: "samples".to_owned(), unit: Unit::Samples };
        let stacks: Stacks = stacks
            .into_iter()
            .map(|(stack, cost)| {
                let samples = cost.samples + 1;
                (stack, Cost { samples, value: samples })
            })
            .collect();
        let view = view_of("v1", &[vec![(samples, &stacks)]]);
        prop_assert_eq!(content_in(&export(&view, FOLDED)).0, content_of(&view));
    }

    #[test]
    fn callgrind_files_come_back_with_what_functions_and_lines_cost(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        // Others are escaped, or unknown.
        let is_printed = |frame: &Frame<'_>| {
            !frame.symbol.trim().is_empty() && !frame.symbol.contains(char::is_control)
        };
        let columns: Vec<_> = columns.into_iter().map(|(sample_type, stacks)| {
            let stacks = stacks.into_iter().filter(|(stack, _)| stack.iter().all(is_printed));
            (sample_type, stacks.collect::<Stacks>())
        }).collect();
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        let expected = callgrind_content_of(&view);
        prop_assume!(!expected.is_empty());
        let (content, sample_types) = content_in(&export(&view, CALLGRIND));
        prop_assert_eq!(own_costs_of(&content), own_costs_of(&expected));
        prop_assert_eq!(sample_types, view.sample_types);
    }

    #[test]
    fn callgrind_stacks_of_functions_with_one_caller_come_back_the_same(
        columns in prop::collection::btree_map(sample_types(), paths(), 1..4),
    ) {
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        prop_assert_eq!(content_in(&export(&view, CALLGRIND)).0, callgrind_content_of(&view));
    }
}

/// What Callgrind's format holds of a view: a number of samples has one column.
fn callgrind_content_of(view: &View) -> Content {
    let mut content = content_of(view);
    for ((sample_type, _), cost) in &mut content {
        if sample_type.unit == Unit::Samples {
            cost.samples = cost.value;
        }
    }
    content.retain(|_, cost| !cost.is_zero());
    content
}

/// A line of a function, as (symbol, module, file, line).
type Line<'c> = (&'c str, &'c str, &'c str, u32);

/// What functions cost by themselves, by line, without their kinds and callers.
fn own_costs_of(content: &Content) -> BTreeMap<(&SampleType, Line<'_>), Cost> {
    let mut costs = BTreeMap::new();
    for ((sample_type, stack), &cost) in content {
        let (symbol, module, _, file, line) = stack.last().unwrap();
        let function = (&**symbol, &**module, &**file, *line);
        *costs.entry((sample_type, function)).or_default() += cost;
    }
    costs
}

/// Stacks of functions that each have one caller: a function is called by its path from the root.
fn paths() -> impl Strategy<Value = Stacks> {
    let path = prop::collection::vec(0..3u8, 1..6).prop_map(|steps| {
        let mut name = String::from("f");
        let mut frames: Vec<Frame<'static>> = Vec::new();
        for step in steps {
            name.push(char::from(b'0' + step));
            let symbol = Box::leak(name.clone().into_boxed_str());
            frames.push(crate::views::frame(symbol, "demo", FrameKind::User));
        }
        frames
    });
    let cost = (1..5u64, 1..i64::MAX as u64 / 1000);
    let cost = cost.prop_map(|(samples, value)| Cost { samples, value });
    prop::collection::vec((path, cost), 1..8)
}

/// Frames with nothing that folded text has no room for.
fn foldable() -> impl Strategy<Value = Frame<'static>> {
    let symbol = prop::sample::select(
        &[
            "main",
            "work",
            "std::max<int>(a, b)",
            "operator new",
            "caf\u{e9}",
            "a b 12x",
            " ",
            "-[NSObject init]",
            "=1+1",
        ][..],
    );
    let kinds = FrameKind::ALL.into_iter();
    let kinds: Vec<_> = kinds
        .filter(|&kind| kind != FrameKind::Unresolved)
        .collect();
    let kind = prop::sample::select(kinds);
    let named = (symbol, kind);
    let unresolved = prop::sample::select(&["[unknown]", "[libc.so.6+0x12]", "0x7f00", "??"][..])
        .prop_map(|symbol| (symbol, FrameKind::Unresolved));
    prop_oneof![4 => named, 1 => unresolved].prop_map(|(symbol, kind)| Frame {
        module: "",
        symbol,
        kind,
        file: "",
        line: 0,
    })
}
