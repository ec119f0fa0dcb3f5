//! Chunks can have any layout that their metadata describes.

use super::build::{Chunk, Pool, TICKS_PER_SECOND, bytes, number, numbers, read, shown, text};
use sto_core::formats::Format;
use sto_core::model::FrameKind;
use sto_core::units::Nanoseconds;

const SAMPLE: &str =
    "jdk.ExecutionSample main: a.A.main (interpreted);a.A.leaf (interpreted) 1 10000000 ns";

#[track_caller]
fn shown_of(chunk: &Chunk) -> Vec<String> {
    shown(&read(&chunk.bytes()).unwrap())
}

#[test]
fn detects_recordings_by_magic_number() {
    let recording = read(&Chunk::sound().bytes()).unwrap();
    assert_eq!(recording.format, Format::Jfr);
    assert_eq!(shown(&recording), [SAMPLE]);
    assert_eq!(recording.threads[0].tid, 42);
    let frames = crate::common::frames_of(&recording, &recording.samples[0]);
    assert_eq!(
        frames.iter().map(|frame| frame.line).collect::<Vec<_>>(),
        [7, 7]
    );
    assert_eq!(recording.samples[0].time, Some(Nanoseconds(1_000_000_010)));
}

#[test]
fn finds_fields_by_name_in_any_order() {
    let mut chunk = Chunk::sound();
    chunk.types.push(("float".to_owned(), 6, vec![]));
    chunk.types.push(("double".to_owned(), 7, vec![]));
    chunk.types.push(("char".to_owned(), 5, vec![]));
    chunk
        .types
        .push(("jdk.types.Nothing".to_owned(), 50, vec![]));
    chunk.types.push((
        "jdk.types.Pair".to_owned(),
        51,
        vec!["a 10".to_owned(), "b 20".to_owned()],
    ));
    let fields = "x 6,stackTrace 26*,y 7,many 51[],keys 22*[],z 5,none 50,nones 50[],pair 51,flag 4,sampledThread 22*,w 9,startTime 11";
    *chunk.fields(101) = fields.split(',').map(str::to_owned).collect();
    let pair = [number(1), text("b")].concat();
    let fields = [
        vec![0; 4],
        number(1),
        vec![0; 8],
        number(2),
        pair.clone(),
        pair.clone(),
        numbers(&[2, 1, 99]),
        number(0xffff),
        number(i64::MAX),
        pair,
        vec![1],
        number(1),
        number(-5),
        number(5),
    ];
    chunk.events[1] = super::build::event(101, &fields.concat());
    assert_eq!(shown_of(&chunk), [SAMPLE]);
}

#[test]
fn reads_compressed_numbers() {
    let mut chunk = Chunk::sound();
    let all_bits = number(i64::MAX);
    assert_eq!(all_bits.len(), 9);
    let padded = vec![0x81, 0x80, 0x80, 0x00];
    for weight in [vec![0x7f], vec![0x80, 0x01], padded, all_bits] {
        chunk.event(102, &[numbers(&[5, 1, 1]), weight].concat());
    }
    let weights: Vec<String> = shown_of(&chunk)[1..].to_vec();
    let weights = weights.iter().map(|sample| sample.split(' ').rev().nth(1));
    let expected = ["127", "128", "1", "9223372036854775807"].map(Some);
    assert_eq!(weights.collect::<Vec<_>>(), expected);
}

#[test]
fn reads_strings_of_every_encoding() {
    let mut chunk = Chunk::sound();
    let pool = chunk.constants.last_mut().unwrap();
    pool.push(Pool::new(20, &[(9, text("fr\u{e8}re"))]));
    chunk.pool(31).constants = vec![
        (1, bytes(5, b"caf\xe9/A")),
        (2, [&[2], &*number(9)].concat()),
        (3, [&[4], &*numbers(&[2, 0x2116, 0x31])].concat()),
    ];
    chunk.pool(22).constants = vec![(1, [vec![1], number(42), vec![0]].concat())];
    let stack = "caf\u{e9}.A.fr\u{e8}re (interpreted);caf\u{e9}.A.\u{2116}1 (interpreted)";
    assert_eq!(
        shown_of(&chunk),
        [format!("jdk.ExecutionSample : {stack} 1 10000000 ns")]
    );
}

#[test]
fn accepts_strings_as_symbols() {
    let mut chunk = Chunk::sound();
    *chunk.fields(21) = vec!["name 20".to_owned()];
    chunk.pool(21).constants = vec![(1, text("b/B"))];
    assert_eq!(shown_of(&chunk), [SAMPLE.replace("a.A", "b.B")]);
}

#[test]
fn later_constants_replace_earlier_ones() {
    let mut chunk = Chunk::sound();
    let symbols = chunk.pool(31).clone();
    let newer = Pool::new(31, &[(2, text("newer"))]);
    chunk.constants = vec![
        vec![symbols],
        chunk.constants[0]
            .iter()
            .filter(|pool| pool.of != 31)
            .cloned()
            .collect(),
        vec![newer],
    ];
    assert_eq!(shown_of(&chunk), [SAMPLE.replace("main (", "newer (")]);
}

#[test]
fn keeps_the_number_of_hidden_classes() {
    let mut chunk = Chunk::sound();
    chunk.pool(31).constants[0].1 = text("a/b/C$$Lambda$1+0x00007fc5b0007c28/1219161283");
    let sample = &shown_of(&chunk)[0];
    let name = "a.b.C$$Lambda$1+0x00007fc5b0007c28/1219161283.leaf";
    assert!(sample.contains(name), "{sample}");
}

#[test]
fn frame_types_become_frame_kinds() {
    for (kind, expected) in [
        ("Interpreted", FrameKind::Interpreted),
        ("JIT compiled", FrameKind::Jit),
        ("C1 compiled", FrameKind::JitBaseline),
        ("Inlined", FrameKind::Inlined),
        ("Native", FrameKind::User),
        ("C++", FrameKind::User),
        ("Kernel", FrameKind::Kernel),
        ("of tomorrow", FrameKind::User),
    ] {
        let mut chunk = Chunk::sound();
        chunk.pool(24).constants[0].1 = text(kind);
        let recording = read(&chunk.bytes()).unwrap();
        let frames = crate::common::frames_of(&recording, &recording.samples[0]);
        assert_eq!(frames[1].kind, expected, "{kind}");
        let name = match kind {
            "C++" => ("a/A", "leaf"),
            "Kernel" => ("[kernel]", "leaf"),
            _ => ("", "a.A.leaf"),
        };
        assert_eq!((frames[1].module, frames[1].symbol), name, "{kind}");
    }
}

/// The name that async-profiler 2.10 gives to library code without a symbol.
#[test]
fn code_named_after_its_library_is_unresolved() {
    for library in ["libc.so.6", "libc-2.17.so;649be141 (deleted)"] {
        let mut chunk = Chunk::sound();
        chunk.pool(24).constants[0].1 = text("C++");
        chunk.pool(31).constants[0].1 = text("");
        chunk.pool(31).constants[2].1 = text(&format!("/lib/{library}"));
        let recording = read(&chunk.bytes()).unwrap();
        let leaf = crate::common::frames_of(&recording, &recording.samples[0])[1];
        let name = format!("[{library}]");
        assert_eq!(
            (leaf.module, leaf.symbol, leaf.kind),
            (library, name.as_str(), FrameKind::Unresolved)
        );
    }
}

#[test]
fn keeps_samples_without_stack_or_thread() {
    let mut chunk = Chunk::sound();
    chunk.events[1] = super::build::event(101, &numbers(&[5, 0, 0]));
    let recording = read(&chunk.bytes()).unwrap();
    assert_eq!(
        shown(&recording),
        ["jdk.ExecutionSample : [unknown] (unresolved) 1 10000000 ns"]
    );
    assert_eq!(
        recording.warnings, [""; 0],
        "null is nothing that is missing"
    );
}

#[test]
fn chunks_have_own_constants_but_share_threads() {
    let first = Chunk::sound();
    let mut second = Chunk::sound();
    second.pool(31).constants[2].1 = text("other");
    second.events[0] = setting(101, "period", "1 s");
    let recording = read(&[first.bytes(), second.bytes()].concat()).unwrap();
    let other = SAMPLE
        .replace("leaf", "other")
        .replace("10000000", "1000000000");
    assert_eq!(shown(&recording), [SAMPLE, &other]);
    assert_eq!(recording.threads.len(), 1);
    assert_eq!(recording.processes.len(), 1);
}

fn setting(of: i64, name: &str, value: &str) -> Vec<u8> {
    super::build::event(103, &[number(of), text(name), text(value)].concat())
}

#[test]
fn separates_processes_in_one_file() {
    let of_process = |pid: i64, arguments: &str| {
        let mut chunk = Chunk::sound();
        chunk.event(104, &[number(pid), text(arguments)].concat());
        chunk.bytes()
    };
    let file = [
        of_process(1, "app.Main --fast"),
        of_process(2, "/opt/server.jar"),
        of_process(1, "app.Main --fast"),
    ];
    let recording = read(&file.concat()).unwrap();
    let processes = recording.processes.iter();
    let processes: Vec<_> = processes
        .map(|process| (process.pid, process.program.as_str()))
        .collect();
    assert_eq!(processes, [(1, "app.Main"), (2, "server.jar")]);
    let of_samples = recording.samples.iter().map(|sample| sample.thread.0);
    assert_eq!(of_samples.collect::<Vec<_>>(), [0, 1, 0]);
}

#[test]
fn counts_samples_with_unknown_period() {
    let counted = [SAMPLE.replace("10000000 ns", "1 samples")];
    let mut chunk = Chunk::sound();
    chunk.events.remove(0);
    assert_eq!(shown_of(&chunk), counted);
    for (name, value) in [
        ("period", "everyChunk"),
        ("period", "ms"),
        ("interval", "0"),
    ] {
        chunk = Chunk::sound();
        chunk.events[0] = setting(101, name, value);
        assert_eq!(shown_of(&chunk), counted, "{name}={value}");
    }
    // One sample without a period makes the whole event count samples.
    let mut without = Chunk::sound();
    without.events[0] = setting(101, "period", "everyChunk");
    let recording = read(&[Chunk::sound().bytes(), without.bytes()].concat()).unwrap();
    assert_eq!(
        shown(&recording),
        [counted[0].as_str(), counted[0].as_str()]
    );
}

#[test]
fn async_profiler_interval_is_time_only_for_time_events() {
    for (event, sample) in [
        ("cpu", SAMPLE.replace("10000000", "1000")),
        ("cache-misses", SAMPLE.replace("10000000 ns", "1 samples")),
    ] {
        let mut chunk = Chunk::sound();
        let settings = [setting(0, "event", event), setting(101, "interval", "1000")];
        chunk.events.splice(0..1, settings);
        assert_eq!(shown_of(&chunk), [sample], "{event}");
    }
}

#[test]
fn samples_without_weight_count_once() {
    let found = |fields: &[&str], values: &[i64]| {
        let mut chunk = Chunk::sound();
        let fields = fields.iter().map(|&field| field.to_owned()).collect();
        let name = "datadog.ExecutionSample".to_owned();
        chunk.types.push((name, 105, fields));
        chunk.events[0] = setting(105, "interval", "1000");
        chunk.events[1] = super::build::event(105, &numbers(values));
        shown_of(&chunk).concat()
    };
    let fields = ["startTime 11", "eventThread 22*", "stackTrace 26*"];
    let one = found(&fields, &[5, 1, 1]);
    assert!(one.ends_with(" 1 1000 ns"), "{one}");
    let three = found(&[&fields[..], &["weight 11"]].concat(), &[5, 1, 1, 3]);
    assert!(three.ends_with(" 3 3000 ns"), "{three}");
}

#[test]
fn spans_use_the_unit_of_their_field() {
    for (unit, nanoseconds) in [
        (None, 1_000_000_000 / TICKS_PER_SECOND * 40),
        (Some("TICKS"), 1_000_000_000 / TICKS_PER_SECOND * 40),
        (Some("NANOSECONDS"), 40),
        (Some("MILLISECONDS"), 40_000_000),
    ] {
        let mut chunk = Chunk::sound();
        let fields = "startTime 11,samplingPeriod 11,eventThread 22*,stackTrace 26*".split(',');
        let fields = fields.map(str::to_owned).collect();
        chunk
            .types
            .push(("jdk.CPUTimeSample".to_owned(), 105, fields));
        chunk.span = unit.map(|unit| ("jdk.CPUTimeSample.samplingPeriod", unit));
        chunk.events[1] = super::build::event(105, &numbers(&[5, 40, 1, 1]));
        let sample = SAMPLE.replace("ExecutionSample", "CPUTimeSample");
        assert_eq!(
            shown_of(&chunk),
            [sample.replace("10000000", &nanoseconds.to_string())]
        );
    }
}

#[test]
fn reports_lost_samples() {
    let mut chunk = Chunk::sound();
    chunk
        .types
        .push(("jdk.DataLoss".to_owned(), 106, vec!["amount 11".to_owned()]));
    chunk.types.push((
        "jdk.CPUTimeSamplesLost".to_owned(),
        107,
        vec!["lostSamples 10".to_owned()],
    ));
    chunk.event(106, &number(1000));
    chunk.event(106, &number(24));
    chunk.event(107, &number(3));
    let recording = read(&chunk.bytes()).unwrap();
    assert_eq!(recording.lost, 3);
    assert!(
        recording.warnings[0].starts_with("1024 bytes of events were lost"),
        "{:?}",
        recording.warnings
    );
}
