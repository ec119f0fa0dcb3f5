//! DHAT and massif, compared with Valgrind's totals, and heaptrack, compared with `heaptrack_print`.

use super::{error, places, recording, text};
use std::collections::BTreeMap;
use sto_core::formats::Format;
use sto_core::model::FrameKind;
use sto_core::recording::{Location, Recording};
use sto_core::units::{Cost, Unit};

fn totals(recording: &Recording) -> Vec<(&str, u64, u64)> {
    let mut totals = vec![Cost::ZERO; recording.sample_types.len()];
    for sample in &recording.samples {
        totals[sample.sample_type.0 as usize] += sample.cost;
    }
    let types = recording.sample_types.iter().zip(totals);
    types
        .map(|(kind, cost)| (&*kind.event, cost.samples, cost.value))
        .collect()
}

/// The costs of stacks in a sample type, in ascending order.
fn by_stack(recording: &Recording, event: &str) -> Vec<u64> {
    let mut costs: BTreeMap<u32, u64> = BTreeMap::new();
    for sample in &recording.samples {
        if recording.sample_types[sample.sample_type.0 as usize].event == event {
            *costs.entry(sample.stack.0).or_default() += sample.cost.value;
        }
    }
    let mut costs: Vec<u64> = costs.into_values().collect();
    costs.sort_unstable();
    costs
}

/// Expected from lines like `==7== Total: 2,531,968 bytes in 62,744 blocks`.
#[test]
fn dhat_totals_equal_those_of_valgrind() {
    let recording = recording("dhat.json", Format::Dhat);
    let totals = totals(&recording);
    assert_eq!(
        totals[..3],
        [
            ("allocated", 62_744, 2_531_968),
            ("peak", 34, 373_272),
            ("at-end", 30, 300_000),
        ]
    );
    assert_eq!((totals[3].0, totals[3].2), ("reads", 42_398_948));
    assert_eq!((totals[4].0, totals[4].2), ("writes", 2_597_636));
    assert_eq!(recording.processes[0].program, "work");
}

/// Expected from lines like `dhat: Total: 102,412 bytes in 42 blocks`.
#[test]
fn crate_dhat_totals_equal_its_own() {
    let recording = recording("dhat-crate.json", Format::Dhat);
    assert_eq!(
        totals(&recording)[..3],
        [
            ("allocated", 42, 102_412),
            ("peak", 12, 100_500),
            ("at-end", 11, 100_384)
        ]
    );
    let frames = recording
        .samples
        .iter()
        .flat_map(|sample| crate::common::frames_of(&recording, sample));
    let mut keep = frames.filter(|frame| frame.symbol == "work::keep");
    let keep = keep.next().unwrap();
    assert_eq!(
        (keep.kind, keep.file, keep.line),
        (FrameKind::User, "work/src/main.rs", 6)
    );
}

/// In the mode `ad-hoc`, a program counts its own events.
#[test]
fn dhat_ad_hoc_counts_are_events() {
    let bytes = text("dhat-crate.json");
    let counted = bytes.replace("\"verb\"", "\"bsu\": \"units\",\n\"verb\"");
    for (text, unit) in [(bytes, Unit::Bytes), (counted, Unit::Events)] {
        let read =
            sto_core::formats::read_bytes("x".as_ref(), text.as_bytes(), &Default::default());
        assert_eq!(read.unwrap().sample_types[0].unit, unit);
    }
}

#[test]
fn inlined_frames_have_the_address_of_their_caller() {
    for (file, format) in [("dhat.json", Format::Dhat), ("massif.out", Format::Massif)] {
        let recording = recording(file, format);
        let stacks = recording
            .samples
            .iter()
            .map(|sample| recording.stacks.get(sample.stack));
        let named = |location: &sto_core::recording::LocationIx| match recording.locations
            [location.0 as usize]
        {
            Location::Named(frame) => recording.named.frame(frame),
            other => panic!("{other:?}"),
        };
        let stack = stacks
            .map(|stack| stack.iter().map(named).collect::<Vec<_>>())
            .find(|stack| {
                let has = |name: &str| stack.iter().any(|frame| frame.symbol.starts_with(name));
                has("keep(") && has("std::thread::_State_impl")
            })
            .unwrap();
        let kinds: Vec<_> = stack
            .iter()
            .map(|frame| (frame.symbol, frame.kind))
            .collect();
        let run = kinds
            .iter()
            .position(|(symbol, _)| symbol.starts_with("std::thread::_State_impl"))
            .unwrap();
        assert_eq!(kinds[run].1, FrameKind::User);
        assert_eq!(kinds[run + 1], ("operator()", FrameKind::Inlined));
        let keep = stack
            .iter()
            .find(|frame| frame.symbol.starts_with("keep("))
            .unwrap();
        assert_eq!(
            (keep.kind, keep.file, keep.line),
            (FrameKind::User, "work.cc", 20),
            "{file}"
        );
    }
}

/// Expected from `mem_heap_B` of the snapshot.
#[test]
fn reads_the_peak_of_massif() {
    let recording = recording("massif.out", Format::Massif);
    let totals = totals(&recording);
    assert_eq!((totals[0].0, totals[0].2), ("peak", 373_272));
    assert_eq!(
        by_stack(&recording, "peak"),
        [568, 72_704, 100_000, 200_000]
    );
    let below = recording
        .samples
        .iter()
        .find(|sample| sample.cost.value == 568)
        .unwrap();
    assert_eq!(
        places(&recording, below.stack),
        ["[below massif's threshold]"]
    );
}

/// Expected from `ms_print`.
#[test]
fn massif_has_metrics_if_it_measured_time() {
    let recorded = recording("massif-ms.out", Format::Massif);
    let metrics: Vec<(&str, Vec<f64>)> = recorded
        .metrics
        .iter()
        .map(|metric| (metric.name(), metric.values().to_vec()))
        .collect();
    let heap = [0, 110_686, 227_960, 335_228, 363_056, 365_712, 373_120];
    let overhead = [0, 2258, 1552, 844, 272, 1040, 264];
    let stacks = [0, 1160, 944, 1296, 640, 856, 640];
    let expected = [
        ("heap", heap),
        ("heap overhead", overhead),
        ("stacks", stacks),
    ];
    assert_eq!(
        metrics,
        expected.map(|(name, values)| (name, values.map(f64::from).to_vec()))
    );
    let ms = [0, 1205, 3331, 5237, 5593, 5595, 5778];
    let times = recorded.metrics[0]
        .times()
        .iter()
        .map(|time| time.0 / 1_000_000);
    assert_eq!(times.collect::<Vec<_>>(), ms);
    assert_eq!(recording("massif.out", Format::Massif).metrics, []);
}

/// Expected from `heaptrack_print -F` with each `--flamegraph-cost-type`.
#[test]
fn heaptrack_equals_heaptrack_print() {
    let recording = recording("heaptrack.gz", Format::Heaptrack);
    assert_eq!(
        totals(&recording),
        [
            ("allocated", 8_371, 400_872),
            ("peak", 9, 113_096),
            ("at-end", 5, 40_320),
        ]
    );
    assert_eq!(
        by_stack(&recording, "peak"),
        [24, 48, 320, 10_000, 30_000, 72_704]
    );
    assert_eq!(by_stack(&recording, "at-end"), [320, 10_000, 30_000]);
    let leaked = recording
        .samples
        .iter()
        .find(|sample| sample.cost.value == 30_000)
        .unwrap();
    let places = places(&recording, leaked.stack);
    assert_eq!(
        (&*places[0], &*places[places.len() - 1]),
        ("keep", "clone3")
    );
}

#[test]
fn reports_unsupported_content() {
    for (bytes, expected) in [
        (
            text("dhat.json").replace("\"dhatFileVersion\":2", "\"dhatFileVersion\":3"),
            "x: a profile of DHAT in version 3; version 2 is read",
        ),
        (
            text("dhat.json").replacen("\"fs\":[1,2", "\"fs\":[1,2000", 1),
            "x: pps[0].fs: 2000; expected an index of ftbl",
        ),
        (
            text("massif.out")
                .replace("=peak", "=empty")
                .replace("=detailed", "=empty"),
            "x: a profile of massif without a tree of calls",
        ),
        (
            text("massif.out").replace("n1: 300000 ", "n1: 900000 "),
            "x: line 202: callers with more bytes than their callee",
        ),
        (
            "v 10400 3\nX a\n+ 0\n".to_owned(),
            "x: line 3: the allocation 0, where 0 stand before",
        ),
        (
            "v 10400 3\nX a\nm 1\n".to_owned(),
            "x: line 3: a recording without symbols",
        ),
        (
            "v 10400 3\nX a\ns 3 work\n".to_owned(),
            "x: line 3: expected a string behind its length",
        ),
        (
            "v 10400 9\nX a\n".to_owned(),
            "x: line 1: a file of heaptrack in version 9",
        ),
    ] {
        let message = error(bytes.as_bytes());
        assert!(message.starts_with(expected), "{message}");
    }
}
