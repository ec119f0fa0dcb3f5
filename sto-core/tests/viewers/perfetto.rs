//! Perfetto's traces in Protocol Buffers.

use super::stacks;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes};
use sto_core::recording::{Location, Recording};
use sto_core::trace::CallRecord;

#[derive(Clone, Default)]
struct Message(Vec<u8>);

impl Message {
    fn number(mut self, field: u64, value: u64) -> Message {
        self.varint(field << 3);
        self.varint(value);
        self
    }

    fn bytes(mut self, field: u64, bytes: &[u8]) -> Message {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    fn part(self, field: u64, part: Message) -> Message {
        self.bytes(field, &part.0)
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

fn m() -> Message {
    Message::default()
}

const CLEARED: u64 = 1;
const NEEDED: u64 = 2;

/// A packet of sequence 5.
fn packet(flags: u64) -> Message {
    m().number(10, 5).number(13, flags)
}

fn trace(packets: &[Message]) -> Vec<u8> {
    let file = packets.iter().cloned();
    file.fold(m(), |file, packet| file.part(1, packet)).0
}

fn thread(uuid: u64, tid: u64, name: &str) -> Message {
    let thread = m().number(1, 7).number(2, tid).bytes(5, name.as_bytes());
    packet(NEEDED).part(60, m().number(1, uuid).part(4, thread))
}

/// A begin (1) or an end (2) in a track; the name is interned by `iid`.
fn event(kind: u64, track: u64, time: u64, iid: u64) -> Message {
    let event = m().number(9, kind).number(11, track);
    let event = if iid > 0 {
        event.number(10, iid)
    } else {
        event
    };
    packet(NEEDED).number(8, time).part(11, event)
}

fn names(flags: u64) -> Message {
    let entry = |iid: u64, name: &str| m().number(1, iid).bytes(2, name.as_bytes());
    packet(flags).part(12, m().part(2, entry(1, "main")).part(2, entry(2, "work")))
}

/// Two threads; `main` calls `work`, which calls itself.
fn sound() -> Vec<u8> {
    trace(&[
        names(CLEARED),
        thread(1, 70, "first"),
        event(1, 1, 100, 1),
        event(1, 1, 110, 2),
        event(1, 1, 120, 2),
        event(2, 1, 140, 0),
        event(2, 1, 150, 0),
        event(1, 2, 105, 2),
        event(2, 2, 135, 0),
        event(2, 1, 200, 0),
        thread(2, 71, "second"),
    ])
}

fn read_with(bytes: &[u8], options: &ReadOptions) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), bytes, options)
}

fn read(bytes: &[u8]) -> Result<Recording, FormatError> {
    read_with(bytes, &ReadOptions::default())
}

/// The time of each stack, without the number of calls, which comes first.
fn wall(bytes: &[u8]) -> Vec<String> {
    let mut lines = stacks(&read(bytes).unwrap());
    lines.retain(|line| line.starts_with("wall "));
    lines
}

const SOUND: [&str; 4] = [
    "wall 1 60 ns [first]: main",
    "wall 1 20 ns [first]: main;work",
    "wall 1 20 ns [first]: main;work;work",
    "wall 1 30 ns [second]: work",
];

/// An event with a debug annotation.
fn annotated(event: Message, annotation: Message) -> Message {
    event.part(4, annotation)
}

#[test]
fn numeric_debug_annotations_are_arguments() {
    let named = |name: &str| m().bytes(10, name.as_bytes());
    let entry = |iid: u64, name: &str| m().number(1, iid).bytes(2, name.as_bytes());
    let interned =
        packet(CLEARED).part(12, m().part(2, entry(1, "work")).part(3, entry(4, "rows")));
    let mut half = named("half");
    half.varint(5 << 3 | 1);
    half.0.extend(0.5f64.to_le_bytes());
    let begin = [
        m().number(1, 4).number(3, 1000),
        named("delta").number(4, -2i64 as u64),
        half,
        named("text").bytes(6, b"12"),
        named("name").bytes(6, b"x"),
        named("is").number(2, 1),
        named("args")
            .part(11, named("n").number(4, 7))
            .part(11, named("in").part(11, named("deep").number(4, 1))),
    ];
    let begin = begin
        .into_iter()
        .fold(m().number(9, 1).number(11, 1).number(10, 1), annotated);
    let end = annotated(m().number(9, 2).number(11, 1), named("found").number(3, 3));
    let at = |time: u64, event: Message| packet(NEEDED).number(8, time).part(11, event);
    let bytes = trace(&[
        interned,
        thread(1, 70, "first"),
        at(100, begin),
        at(130, end),
    ]);
    let recording = read(&bytes).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "calls 1 1 events [first]: work",
            "wall 1 30 ns [first]: work"
        ]
    );
    let arguments = recording.calls.as_ref().unwrap().arguments.iter();
    let arguments: Vec<(&str, f64, u64)> = arguments
        .map(|with| {
            (
                &*with.argument,
                with.calls[0].value,
                with.calls[0].duration.0,
            )
        })
        .collect();
    let expected = [
        ("args.n", 7.0, 30),
        ("delta", -2.0, 30),
        ("found", 3.0, 30),
        ("half", 0.5, 30),
        ("rows", 1000.0, 30),
        ("text", 12.0, 30),
    ];
    assert_eq!(arguments, expected);
}

#[test]
fn track_events_are_calls_of_threads() {
    assert_eq!(wall(&sound()), SOUND);
    let recording = read(&sound()).unwrap();
    assert_eq!(recording.format, Format::Perfetto);
    assert_eq!(recording.warnings, [""; 0]);
    let threads = recording.threads.iter().map(|thread| thread.tid);
    assert_eq!(threads.collect::<Vec<_>>(), [70, 71]);
}

#[test]
fn tracks_with_equal_names_share_threads_unless_overlapping() {
    let process = m().number(1, 7).bytes(6, b"app");
    let mut packets = vec![
        names(CLEARED),
        packet(NEEDED).part(60, m().number(1, 1).part(3, process)),
    ];
    for uuid in 10..13 {
        let track = m().number(1, uuid).number(5, 1).bytes(2, b"requests");
        packets.push(packet(NEEDED).part(60, track));
    }
    for (uuid, begin) in [(10, 0), (11, 50), (12, 100)] {
        packets.push(event(1, uuid, begin, 2));
        packets.push(event(2, uuid, begin + 100, 0));
    }
    let recording = read(&trace(&packets)).unwrap();
    assert_eq!(
        stacks(&recording),
        [
            "calls 1 1 events [requests (2)]: work",
            "calls 2 2 events [requests]: work",
            "wall 1 100 ns [requests (2)]: work",
            "wall 2 200 ns [requests]: work",
        ]
    );
    assert_eq!(recording.processes[0].program, "app");
}

#[test]
fn ignores_references_to_lost_packets() {
    let lost = event(1, 1, 300, 1).number(42, 1);
    let again = packet(CLEARED).part(12, m().part(2, m().number(1, 1).bytes(2, b"again")));
    let tail = [
        lost,
        event(2, 1, 310, 0),
        again,
        event(1, 1, 320, 1),
        event(2, 1, 350, 0),
    ];
    let bytes = [sound(), trace(&tail)].concat();
    let recording = read(&bytes).unwrap();
    let mut expected = SOUND.to_vec();
    expected.insert(0, "wall 1 30 ns [first]: again");
    assert_eq!(wall(&bytes), expected);
    assert_eq!(
        recording.warnings,
        [
            "1 times packets were lost; calls may be missing or too long.",
            "2 track events were left out: data they refer to were lost.",
        ]
    );
}

#[test]
fn converts_times_to_one_clock() {
    let clock = |id: u64, time: u64| m().number(1, id).number(2, time);
    // The service relates two clocks; the sequence relates its own clock (microsecond deltas) to one of them.
    let service = m().number(10, 1).part(
        6,
        m().part(1, clock(6, 5_000_000))
            .part(1, clock(3, 1_000_000)),
    );
    let own = clock(64, 1_500).number(3, 1).number(4, 1_000);
    let own = packet(CLEARED).part(6, m().part(1, own).part(1, clock(3, 1_500_000)));
    let defaults = m().number(58, 64).part(11, m().number(11, 2));
    let defaults = packet(NEEDED).part(59, defaults);
    let unnamed = |kind: u64, delta: u64| {
        let event = m().number(9, kind).bytes(23, b"delta");
        packet(NEEDED).number(8, delta).part(11, event)
    };
    let boottime = |kind: u64, time: u64| {
        let event = m().number(9, kind).number(11, 1).bytes(23, b"boot");
        packet(NEEDED).number(8, time).number(58, 6).part(11, event)
    };
    let unknown = packet(NEEDED)
        .number(8, 5)
        .number(58, 77)
        .part(11, m().number(9, 1));
    let packets = [
        service,
        own,
        defaults,
        thread(1, 70, "boottime"),
        thread(2, 71, "own"),
        unnamed(1, 10),
        unnamed(1, 1),
        unnamed(2, 4),
        unnamed(2, 5),
        boottime(1, 5_500_000),
        boottime(2, 5_520_000),
        unknown,
    ];
    let recording = read(&trace(&packets)).unwrap();
    let calls = recording.calls.as_ref().unwrap();
    let times = calls
        .threads
        .iter()
        .map(|of| (&*of.thread.name, of.begin.0, of.end.0));
    assert_eq!(
        times.collect::<Vec<_>>(),
        [("boottime", 0, 20_000), ("own", 10_000, 20_000)]
    );
    let warning = "1 track events were left out: they have no time, or one of a clock that is not related to the trace's.";
    assert_eq!(recording.warnings, [warning]);
}

#[test]
fn reads_legacy_events() {
    let described = m()
        .number(1, 7)
        .number(2, 70)
        .bytes(5, b"old")
        .number(6, 1_000);
    let event = |delta: u64, phase: u8, more: Message| {
        let legacy = Message([m().number(1, 1).number(2, phase.into()).0, more.0].concat());
        packet(NEEDED).part(11, m().number(1, delta).part(6, legacy))
    };
    let clocks = m()
        .part(1, m().number(1, 6).number(2, 9_000_000))
        .part(1, m().number(1, 3).number(2, 1_000_000));
    let packets = [
        names(CLEARED).part(44, described).part(6, clocks),
        event(1, b'B', m()),
        event(2, b'X', m().number(3, 3)),
        event(0, b'b', m().number(10, 99)),
        event(6, b'e', m().number(10, 99)),
        event(1, b'E', m()),
    ];
    assert_eq!(
        wall(&trace(&packets)),
        [
            "wall 1 6000 ns [main]: main",
            "wall 1 6000 ns [old]: main",
            "wall 1 3000 ns [old]: main;main",
        ]
    );
}

#[test]
fn limits_compressed_packets() {
    let deflated = |bytes: &[u8]| {
        let mut encoder =
            flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    };
    let zstd = |bytes: &[u8]| zstd::encode_all(bytes, 3).unwrap();
    let within = |field: u64, bytes: &[u8]| trace(&[m().bytes(field, bytes)]);
    assert_eq!(wall(&within(50, &deflated(&sound()))), SOUND);
    assert_eq!(wall(&within(133, &zstd(&sound()))), SOUND);
    let error = |bytes: &[u8]| read(bytes).unwrap_err().to_string();
    let twice = within(50, &deflated(&within(50, &deflated(&sound()))));
    assert!(
        error(&twice).contains("within compressed"),
        "{}",
        error(&twice)
    );
    let bomb = within(50, &deflated(&vec![0; 65 << 20]));
    assert!(
        error(&bomb).contains("more than 64 MiB"),
        "{}",
        error(&bomb)
    );
    let damaged = within(50, b"no zlib");
    assert!(error(&damaged).contains("damaged"), "{}", error(&damaged));
}

#[test]
fn counts_unknown_packets() {
    let ftrace = packet(0).part(1, m());
    let config = packet(0).part(33, m());
    let counter = packet(NEEDED)
        .number(8, 100)
        .part(11, m().number(9, 4).number(11, 9));
    let bytes = [sound(), trace(&[ftrace.clone(), ftrace, config, counter])].concat();
    assert_eq!(
        read(&bytes).unwrap().warnings,
        [
            "Only calls and samples of the trace are read; ignored were packets of 2 ftrace_events.",
            "1 values of counters were ignored.",
        ]
    );
}

#[test]
fn reads_truncated_files_only_if_allowed() {
    let bytes = sound();
    let taken = ReadOptions {
        format: Some(Format::Perfetto),
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let refused = ReadOptions {
        format: Some(Format::Perfetto),
        ..ReadOptions::default()
    };
    for end in 1..bytes.len() {
        match read_with(&bytes[..end], &refused) {
            Err(FormatError::NoSamples { .. }) | Ok(_) => {}
            Err(error) => {
                let cut = format!("truncated: the file ends at byte {end}, within the packet");
                assert!(error.to_string().contains(&cut), "{error}");
            }
        }
        match read_with(&bytes[..end], &taken) {
            Err(FormatError::NoSamples { .. }) | Ok(_) => {}
            Err(error) => panic!("{end}: {error}"),
        }
    }
}

/// One line per function: thread, function, number of calls and total time.
fn calls(recording: &Recording) -> String {
    let mut sums: BTreeMap<(String, String), (u64, u64)> = BTreeMap::new();
    let run = recording.calls.as_ref().unwrap();
    for of in &run.threads {
        let thread = match of.thread.tid {
            0 => "other".to_owned(),
            tid => format!("{tid}/{}", of.thread.name),
        };
        let mut add = |stack, calls, time| {
            let leaf = recording.stacks.leaf(stack).unwrap();
            let Location::Named(frame) = recording.locations[leaf.0 as usize] else {
                panic!("a call without a name");
            };
            let function = recording.named.frame(frame).symbol.to_owned();
            let sum = sums.entry((thread.clone(), function)).or_default();
            *sum = (sum.0 + calls, sum.1 + time);
        };
        for record in &of.records {
            match record {
                CallRecord::Call(call) => add(call.stack, 1, call.end.0 - call.begin.0),
                CallRecord::Expression(expression) => {
                    for of in &expression.stacks {
                        add(of.stack, of.calls, of.duration.0);
                    }
                }
            }
        }
    }
    let lines = sums.into_iter();
    let lines = lines.map(|((thread, function), (calls, time))| {
        format!("{thread}\t{function}\t{calls}\t{time}\n")
    });
    lines.collect()
}

#[test]
fn calls_and_times_equal_those_of_the_reference_reader() {
    let testdata = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/perfetto"));
    for name in ["arguments", "chromium", "tracks"] {
        let path = testdata.join(format!("{name}.pftrace.zst"));
        let recording = sto_core::formats::read(&path, &Default::default()).unwrap();
        let expected = std::fs::read_to_string(testdata.join(format!("{name}.calls"))).unwrap();
        let found = calls(&recording);
        let [found, expected] =
            [&found, &expected].map(|text| text.lines().collect::<BTreeSet<_>>());
        let differing: Vec<_> = found.symmetric_difference(&expected).collect();
        assert!(differing.is_empty(), "{name}: {differing:#?}");
    }
}
