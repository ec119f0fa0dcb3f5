//! gperftools' binary and text profiles, compared with `go tool pprof` (`pprof.py`).

use super::{error, places, recording, testdata, text};
use std::collections::BTreeMap;
use sto_core::formats::Format;
use sto_core::recording::Recording;

/// Values by stack and name.
type Costs = BTreeMap<String, BTreeMap<String, u64>>;

fn read_by_pprof(file: &str) -> Costs {
    let text = text(&format!("{file}.pprof"));
    let mut lines = text.lines();
    let types: Vec<&str> = lines.next().unwrap().split(' ').collect();
    let mut costs = Costs::new();
    for line in lines {
        let fields: Vec<&str> = line.splitn(types.len() + 1, ' ').collect();
        let of_stack = costs.entry(fields[types.len()].to_owned()).or_default();
        for (kind, value) in types.iter().zip(&fields) {
            let (name, _) = kind.split_once('/').unwrap();
            of_stack.insert(our_name(name), value.parse().unwrap());
        }
        of_stack.retain(|_, value| *value > 0);
    }
    costs.retain(|_, of_stack| !of_stack.is_empty());
    costs
}

/// pprof only says "inuse" if the allocated amount is different.
fn our_name(name: &str) -> String {
    match name {
        "objects" | "space" => format!("inuse_{name}"),
        name => name.to_owned(),
    }
}

fn read_by_us(recording: &Recording) -> Costs {
    let mut costs = Costs::new();
    for sample in &recording.samples {
        let stack = places(recording, sample.stack).join(" ");
        let of_stack = costs.entry(stack).or_default();
        let event = &recording.sample_types[sample.sample_type.0 as usize].event;
        *of_stack.entry(event.clone()).or_default() += sample.cost.value;
        if event == "cpu" {
            *of_stack.entry("samples".to_owned()).or_default() += sample.cost.samples;
        }
    }
    costs
}

#[test]
fn costs_of_addresses_equal_those_of_pprof() {
    for file in [
        "gperftools.cpu",
        "gperftools.heap",
        "jemalloc.heap",
        "contention.txt",
    ] {
        let recording = recording(file, Format::Gperftools);
        assert_eq!(read_by_us(&recording), read_by_pprof(file), "{file}");
        assert_eq!(recording.warnings, [""; 0], "{file}");
    }
}

/// Go's text omits frames of its runtime, so its stacks differ from the addresses.
#[test]
fn costs_of_go_profiles_equal_those_of_pprof() {
    for file in ["go-heap.txt", "go-mutex.txt", "go-goroutine.txt"] {
        let recording = recording(file, Format::Gperftools);
        let total = |costs: Costs| {
            let mut totals: BTreeMap<String, u64> = BTreeMap::new();
            for (name, value) in costs.into_values().flatten() {
                *totals.entry(name).or_default() += value;
            }
            totals
        };
        assert_eq!(total(read_by_us(&recording)), total(read_by_pprof(file)));
        let stacks = recording.samples.iter();
        let mut stacks = stacks.map(|sample| places(&recording, sample.stack));
        let has_main = stacks.any(|stack| stack.iter().any(|name| name.starts_with("main.")));
        assert!(has_main, "{file}");
    }
    let heap = recording("go-heap.txt", Format::Gperftools);
    let frame = crate::common::frames_of(&heap, &heap.samples[0])[3];
    let found = (frame.symbol, frame.file, frame.line);
    assert_eq!(found, ("main.keep", "work.go", 53));
}

#[test]
fn mapped_files_have_inode_numbers() {
    let recording = recording("gperftools.cpu", Format::Gperftools);
    let first = &recording.modules[0];
    assert_eq!(first.path, "/home/u/work");
    assert!(first.inode.is_some());
    assert_eq!(recording.processes[0].program, "work");
}

#[test]
fn rejects_a_truncated_cpu_profile() {
    let bytes = std::fs::read(testdata("gperftools.cpu")).unwrap();
    let message = error(&bytes[..4000]);
    assert!(
        message.starts_with("x: truncated: the file ends at byte 4000, within its samples"),
        "{message}"
    );
}

#[test]
fn reports_lines_that_are_not_samples() {
    let bad = |text: &str| error(text.as_bytes());
    for (text, expected) in [
        (
            "heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1] @ 0x1\n",
            "x: line 2: expected two numbers, and two in brackets, found `1: 2 [1] @ 0x1`",
        ),
        (
            "heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1: 2] @ 0xz\n",
            "x: line 2: expected addresses behind `@`, found `1: 2 [1: 2] @ 0xz`",
        ),
        (
            "--- mutex:\ncycles/second=1\n1 @ 0x1\n",
            "x: line 3: expected cycles and a number of waits before `@`, found `1 @ 0x1`",
        ),
        (
            "goroutine profile: total 1\n1 1 @ 0x1\n",
            "x: line 2: expected a number before `@`, found `1 1 @ 0x1`",
        ),
        (
            "--- contentionz 1 ---\nformat = java\n",
            "x: line 2: waits in the format `java`",
        ),
    ] {
        let message = bad(text);
        assert!(message.starts_with(expected), "{message}");
    }
}
