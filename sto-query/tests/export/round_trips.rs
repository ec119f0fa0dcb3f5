//! Exported views have the same content when sto reads them again.

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
/// Cost by sample type and stack, root first.
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

/// Returns a view's content as formats for viewers hold it: frames mapped by `frame`, and one number per stack, the
/// value or, in sample types without values, the number of samples. Numbers of events are read as samples; a stack
/// with a time or size is read as one sample.
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
            (true, _) => (cost.value, Unit::Samples),
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

/// Reads an exported file. Returns its content, and its sample types in order.
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
    fn pprof_and_otlp_round_trip(
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
    fn frames_of_firefox_profiles_round_trip(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        let columns: Vec<_> = columns.into_iter().map(|(sample_type, stacks)| {
            // The format stores milliseconds as floating-point numbers, which are exact up to some days.
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
    fn speedscope_round_trips_except_modules_and_kinds(
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
    fn folded_text_round_trips(stacks in stacks(foldable())) {
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
    fn callgrind_self_costs_round_trip(
        columns in prop::collection::btree_map(sample_types(), stacks(frames()), 1..4),
    ) {
        // Other symbols are escaped or replaced.
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
    fn callgrind_stacks_with_single_callers_round_trip(
        columns in prop::collection::btree_map(sample_types(), paths(), 1..4),
    ) {
        let run = columns.iter().map(|(sample_type, stacks)| (sample_type.clone(), stacks));
        let view = view_of("v1", &[run.collect()]);
        prop_assert_eq!(content_in(&export(&view, CALLGRIND)).0, callgrind_content_of(&view));
    }
}

/// Returns a view's content as Callgrind's format holds it: numbers of samples have one column.
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

/// Returns self costs by line.
fn own_costs_of(content: &Content) -> BTreeMap<(&SampleType, Line<'_>), Cost> {
    let mut costs = BTreeMap::new();
    for ((sample_type, stack), &cost) in content {
        let (symbol, module, _, file, line) = stack.last().unwrap();
        let function = (&**symbol, &**module, &**file, *line);
        *costs.entry((sample_type, function)).or_default() += cost;
    }
    costs
}

/// Stacks of functions that each have one caller: a function's name is its path from the root.
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

/// Frames that folded text can represent.
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
