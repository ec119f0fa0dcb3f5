//! Callgrind's files, and how a call graph becomes stacks.

mod bad;
mod division;
mod real;

use crate::common::show;
use std::collections::BTreeMap;
use std::path::Path;
use sto_core::formats::{Format, FormatError, read_bytes};
use sto_core::model::Frame;
use sto_core::recording::{Location, LocationIx, Recording};
use sto_core::units::{Cost, Unit};

fn read(text: &str) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), text.as_bytes(), &Default::default())
}

#[track_caller]
fn error(text: &str) -> String {
    read(text)
        .expect_err("a file that breaks the rules")
        .to_string()
}

/// A file with one event and these lines.
fn file(lines: &str) -> String {
    format!("events: Ir\n{lines}")
}

fn frame(recording: &Recording, location: LocationIx) -> Frame<'_> {
    match recording.locations[location.0 as usize] {
        Location::Named(frame) => recording.named.frame(frame),
        other => panic!("not a named frame: {other:?}"),
    }
}

/// The cost of each stack in the first sample type: `main;work 42`.
fn folded(recording: &Recording) -> Vec<String> {
    let mut costs: BTreeMap<String, u64> = BTreeMap::new();
    for sample in recording
        .samples
        .iter()
        .filter(|sample| sample.sample_type.0 == 0)
    {
        let stack = recording.stacks.get(sample.stack);
        let stack: Vec<_> = stack
            .iter()
            .map(|&location| show(&frame(recording, location)))
            .collect();
        *costs.entry(stack.join(";")).or_default() += sample.cost.value;
    }
    costs
        .into_iter()
        .map(|(stack, cost)| format!("{stack} {cost}"))
        .collect()
}

/// The self and total cost of each function in the first sample type.
fn functions(recording: &Recording) -> BTreeMap<String, (u64, u64)> {
    let mut costs: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    for sample in recording
        .samples
        .iter()
        .filter(|sample| sample.sample_type.0 == 0)
    {
        let stack = recording.stacks.get(sample.stack);
        let mut names: Vec<_> = stack
            .iter()
            .map(|&location| frame(recording, location).symbol.to_owned())
            .collect();
        costs.entry(names.last().unwrap().clone()).or_default().0 += sample.cost.value;
        names.sort_unstable();
        names.dedup();
        for name in names {
            costs.entry(name).or_default().1 += sample.cost.value;
        }
    }
    costs
}

#[test]
fn costs_belong_to_the_stack_of_their_function() {
    let recording = read(
        "# callgrind format\nversion: 1\ncreator: hand\npid: 77\ncmd: /opt/app/server --port 80\n\
         positions: line\nevents: Ir Dr\n\n\
         ob=(1) /opt/app/server\nfl=(1) src/main.c\nfn=(1) main\n10 5 2\n\
         cfn=(2) work\ncalls=3 20\n11 70 7\n12 1\n\n\
         fn=(2)\n20 60 7\n+1 0xA\n",
    )
    .unwrap();
    assert_eq!(recording.format, Format::Callgrind);
    assert_eq!(
        folded(&recording),
        ["server!main 6", "server!main;server!work 70"]
    );
    let process = &recording.processes[0];
    assert_eq!((process.pid, &*process.program), (77, "server"));
    let events = recording
        .sample_types
        .iter()
        .map(|known| (&*known.event, known.unit));
    assert_eq!(
        events.collect::<Vec<_>>(),
        [("Ir", Unit::Events), ("Dr", Unit::Events)]
    );
    let leaves = recording.samples.iter().map(|sample| {
        let &leaf = recording.stacks.get(sample.stack).last().unwrap();
        let Frame { file, line, .. } = frame(&recording, leaf);
        (
            sample.sample_type.0,
            file,
            line,
            sample.cost.samples,
            sample.cost.value,
        )
    });
    assert_eq!(
        leaves.collect::<Vec<_>>(),
        [
            (0, "src/main.c", 10, 5, 5),
            (0, "src/main.c", 12, 1, 1),
            (0, "src/main.c", 20, 60, 60),
            (0, "src/main.c", 21, 10, 10),
            (1, "src/main.c", 10, 2, 2),
            (1, "src/main.c", 20, 7, 7),
        ]
    );
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn reads_relative_positions_and_ignores_addresses() {
    let text = "positions: instr line\nevents: Ir\nfl=a.c\nfn=main\n0x400 7 1\n+3 +2 2\n* * 4\n\
                -0x3 -9 8\n";
    let recording = read(text).unwrap();
    let lines = recording.samples.iter().map(|sample| {
        let &leaf = recording.stacks.get(sample.stack).last().unwrap();
        (frame(&recording, leaf).line, sample.cost.value)
    });
    assert_eq!(lines.collect::<Vec<_>>(), [(0, 8), (7, 1), (9, 6)]);
    let only_addresses = "positions: instr\nevents: Ir\nfn=main\n0x400 1\n+3 2\n";
    assert_eq!(folded(&read(only_addresses).unwrap()), ["main 3"]);
}

#[test]
fn accepts_a_number_before_its_name() {
    let recording = read(&file(
        "fn=(1)\n1 5\ncfn=(2)\ncalls=1 1\n1 7\nfn=(2) g\n1 7\nfn=(1) f\n2 1\n",
    ));
    let expected = [("f".to_owned(), (6, 13)), ("g".to_owned(), (7, 7))];
    assert_eq!(functions(&recording.unwrap()), BTreeMap::from(expected));
}

#[test]
fn costs_from_other_files_have_no_line() {
    let text = file("fl=a.c\nfn=main\n3 1\nfi=b.h\n90 2\nfe=a.c\n4 4\n");
    let recording = read(&text).unwrap();
    let lines = recording.samples.iter().map(|sample| {
        let &leaf = recording.stacks.get(sample.stack).last().unwrap();
        let Frame { file, line, .. } = frame(&recording, leaf);
        (file, line, sample.cost.value)
    });
    assert_eq!(
        lines.collect::<Vec<_>>(),
        [("a.c", 0, 2), ("a.c", 3, 1), ("a.c", 4, 4)]
    );
}

#[test]
fn calls_default_to_the_current_file() {
    let text = file(
        "ob=app\nfl=a.c\nfn=main\n1 1\nfi=b.h\ncfn=inner\ncalls=1 1\n2 10\nfe=a.c\n\
         cob=lib.so\ncfi=l.c\ncfn=outer\ncalls=1 1\n3 20\n\
         fl=b.h\nfn=inner\n1 10\nob=/usr/lib.so\nob=lib.so\nfl=l.c\nfn=outer\n1 20\n",
    );
    assert_eq!(
        folded(&read(&text).unwrap()),
        [
            "app!main 1",
            "app!main;app!inner 10",
            "app!main;lib.so!outer 20"
        ]
    );
}

#[test]
fn ignores_jumps_and_unknown_header_fields() {
    let text = "version: 1\ndesc: Trigger: end\nevent: Ir : Instructions\nevents: Ir\nrate: 5\n\
                fl=a.c\nfn=main\n1 5\njump=3 7\n2\njfi=(9) x.c\njfn=(8) f\njcnd=1/2 +4\n* \n9 2\n";
    assert_eq!(folded(&read(text).unwrap()), ["main 7"]);
}

#[test]
fn nameless_functions_are_unresolved() {
    let text = file("ob=???\nfn=???\n1 2\nob=/lib/x.so\nfn=0x00001050\n1 3\nfn=main\n1 4\n");
    assert_eq!(
        folded(&read(&text).unwrap()),
        [
            "[unknown] (unresolved) 2",
            "x.so!0x00001050 (unresolved) 3",
            "x.so!main 4"
        ]
    );
}

#[test]
fn adds_up_parts_and_separates_threads() {
    let text = "events: Ir Dr\nfn=(1) main\n1 5 1\n\nthread: 7\npart: 2\nevents: Dr Ir\nfn=(1)\n1 2 6\n\
                part: 3\nthread: 7\nfn=(1)\n1 1 1\n";
    let recording = read(text).unwrap();
    let samples = recording.samples.iter().map(|sample| {
        let Cost { value, .. } = sample.cost;
        (
            recording.threads[sample.thread.0 as usize].tid,
            sample.sample_type.0,
            value,
        )
    });
    assert_eq!(
        samples.collect::<Vec<_>>(),
        [(0, 0, 5), (0, 1, 1), (7, 0, 7), (7, 1, 3)]
    );
}

#[test]
fn reads_cachegrind_as_a_graph_without_calls() {
    let text = "desc: I1 cache: 32768 B\ncmd: ./work\nevents: Ir Dr \nfl=work.c\nfn=leaf\n2 300 5\n\
                fn=main\n9 20 1\nsummary: 320 6\n";
    let recording = read(text).unwrap();
    assert_eq!(recording.format, Format::Callgrind);
    assert_eq!(folded(&recording), ["leaf 300", "main 20"]);
}

#[test]
fn strips_only_callers_and_recursion_depths_from_names() {
    let names = [
        "leaf'main'(below main)",
        "fib'2'main",
        "leaf",
        "run()::'lambda'(int)",
        "operator\"\"'x",
        "'main",
        "main",
        "(below main)",
    ];
    let costs: String = names.map(|name| format!("fn={name}\n1 1\n")).concat();
    let mut found = folded(&read(&file(&costs)).unwrap());
    found.sort();
    assert_eq!(
        found,
        [
            "'main 1",
            "(below main) 1",
            "fib 1",
            "leaf 2",
            "main 1",
            "operator\"\"'x 1",
            "run()::'lambda'(int) 1"
        ]
    );
}
