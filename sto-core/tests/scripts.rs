//! Profilers of scripting languages, compared with other readers of the same files.

use crate::common::frames_of;
use crate::viewers::stacks;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, ReadOptions, read, read_bytes};
use sto_core::recording::Recording;
use sto_core::units::Cost;
use sto_test_support::assert_golden;

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata")).join(file)
}

/// Compares a file with the costs in `FILE.expected`.
#[track_caller]
fn check(format: Format, file: &str) {
    let path = testdata(file);
    let recording = read(&path, &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, format, "{file}");
    let mut found = String::new();
    for line in stacks(&recording) {
        writeln!(found, "{line}").unwrap();
    }
    assert_golden(&testdata(&format!("{file}.expected")), &found);
}

/// The self and total costs of functions in an event.
fn functions(
    recording: &Recording,
    event: &str,
    of: impl Fn(Cost) -> u64,
) -> BTreeMap<String, (u64, u64)> {
    let types = &recording.sample_types;
    let mut costs: BTreeMap<String, (u64, u64)> = BTreeMap::new();
    let samples = recording.samples.iter();
    for sample in samples.filter(|sample| types[sample.sample_type.0 as usize].event == event) {
        let frames = frames_of(recording, sample);
        let cost = of(sample.cost);
        let leaf = frames[frames.len() - 1].symbol.to_owned();
        costs.entry(leaf).or_default().0 += cost;
        for symbol in frames
            .iter()
            .map(|frame| frame.symbol)
            .collect::<BTreeSet<_>>()
        {
            costs.entry(symbol.to_owned()).or_default().1 += cost;
        }
    }
    costs
}

/// Compares functions with a file of event, name, self and total cost. The totals of some events may differ by a
/// thousandth, as stacks are an estimate.
#[track_caller]
fn check_functions(format: Format, file: &str, expected: &str, totals_of: &[&str]) {
    let recording = read(&testdata(file), &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, format, "{file}");
    let lines = std::fs::read_to_string(testdata(expected)).unwrap();
    assert!(!lines.is_empty());
    for line in lines.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let [own, total] = [2, 3].map(|ix: usize| fields[ix].parse::<u64>().unwrap());
        let costs = functions(&recording, fields[0], |cost| cost.value);
        let found = costs.get(fields[1]).copied().unwrap_or_default();
        assert_eq!(found.0, own, "{file}: {line}");
        if totals_of.contains(&fields[0]) {
            let is_close = found.1.abs_diff(total) * 1000 <= total;
            assert!(is_close, "{file}: {line}, found {}", found.1);
        }
    }
}

#[test]
fn reads_xhprof_json_and_serialized_php() {
    for file in ["xhprof/work.xhprof", "xhprof/work.xhprof.json"] {
        check_functions(
            Format::Xhprof,
            file,
            "xhprof/work.xhprof.expected",
            &["wall", "cpu"],
        );
    }
}

#[test]
fn reads_xdebug_and_ruby_prof() {
    // Memory that a call freed belongs to none of its callees.
    let xdebug = ("callgrind/xdebug.out", "callgrind/xdebug.out.expected");
    check_functions(Format::Callgrind, xdebug.0, xdebug.1, &["time"]);
    let recording = read(&testdata(xdebug.0), &ReadOptions::default()).unwrap();
    assert!(
        recording.warnings[0]
            .starts_with("Xdebug records calls, not stacks: for 4.2 % of the total cost"),
        "{:?}",
        recording.warnings
    );
    // The reference counts recursion each time.
    let ruby_prof = (
        "callgrind/ruby-prof.out",
        "callgrind/ruby-prof.out.expected",
    );
    check_functions(Format::Callgrind, ruby_prof.0, ruby_prof.1, &[]);
    let recording = read(&testdata(ruby_prof.0), &ReadOptions::default()).unwrap();
    let costs = functions(&recording, "wall", |cost| cost.value);
    for (symbol, total) in [
        ("Object::main", 788_367_000),
        ("Object::allocate", 304_228_000),
    ] {
        // The costs of calls are rounded to microseconds.
        assert!(costs[symbol].1.abs_diff(total) <= 1000, "{symbol}");
    }
}

#[test]
fn reads_rbspy() {
    check(Format::Rbspy, "rbspy/work.raw.gz");
    let recording = read(&testdata("rbspy/work.raw.gz"), &ReadOptions::default()).unwrap();
    let times = recording.samples.iter().map(|sample| sample.time.unwrap());
    assert!(times.is_sorted());
}

#[test]
fn reads_phpspy() {
    check(Format::Phpspy, "phpspy/work.txt");
    let recording = read(&testdata("phpspy/work.txt"), &ReadOptions::default()).unwrap();
    let times = recording.samples.iter().map(|sample| sample.time.unwrap());
    assert!(times.is_sorted());
    assert!(recording.processes.iter().all(|process| process.pid > 0));
}

#[test]
fn austin_costs_equal_those_of_its_reader() {
    check(Format::Austin, "austin/full.mojo");
    check(Format::AustinText, "austin/cpu.austin");
    check(Format::AustinText, "austin/memory.austin");
    check(Format::AustinText, "austin/native.austin");
}

#[test]
fn reads_pyinstrument_sessions() {
    check(Format::Pyinstrument, "pyinstrument/work.pyisession");
    let path = testdata("pyinstrument/work.pyisession");
    let recording = read(&path, &ReadOptions::default()).unwrap();
    let times: Vec<_> = recording
        .samples
        .iter()
        .filter_map(|sample| sample.time)
        .collect();
    assert_eq!(times.len(), recording.samples.len());
    assert!(times.is_sorted());
}

#[test]
fn reads_scalene() {
    check(Format::Scalene, "scalene/work.json");
}

#[test]
fn rejects_unsupported_files_with_advice() {
    let error = |bytes: &[u8]| {
        let error = read_bytes(Path::new("x"), bytes, &ReadOptions::default()).unwrap_err();
        error.to_string()
    };
    // The first bytes of each; the first is of a newer version.
    let memray = error(b"memray\0\x0e\0\0\0\xf0\x0f\x0b\x03\0\0");
    assert!(
        memray.contains(
            "version 14 of memray's files; expected 11 to 13, those of memray 1.11 to 1.20: with the memray that recorded \
             it, `memray transform speedscope FILE` writes one that sto reads"
        ),
        "{memray}"
    );
    let snapshot = error(
        b"\x80\x04\x95\xd2\x01\0\0\0\0\0\0\x8c\x0btracemalloc\x94\x8c\x08Snapshot\x94\x93\x94",
    );
    assert!(
        snapshot.contains("(a snapshot of tracemalloc: "),
        "{snapshot}"
    );
    let gecko = error(br#"{"meta": {"version": 24}, "libs": [], "threads": []}"#);
    assert!(gecko.contains("open it at profiler.firefox.com"), "{gecko}");
    for method_trace in [
        &b"*version\n3\ndata-file-overflow=false\n"[..],
        b"SLOW\xf3\0 \0\xc4\x91",
    ] {
        let error = error(method_trace);
        assert!(
            error.contains("record with simpleperf or Perfetto"),
            "{error}"
        );
    }
}

#[test]
fn stackprof_costs_equal_those_of_ruby() {
    check(Format::Stackprof, "stackprof/work-cpu.dump");
    check(Format::Stackprof, "stackprof/work-object.dump");
}

#[test]
fn reads_stackprof_calls_without_stacks() {
    let [dump, json] = ["calls.dump", "calls.json"]
        .map(|file| read(&testdata("stackprof").join(file), &ReadOptions::default()).unwrap());
    assert_eq!(stacks(&dump), stacks(&json));
    // Each function has one caller, except for recursion.
    assert_eq!(dump.warnings, [""; 0]);
    // `samples` and, except for recursion, `total_samples` of its frames.
    let costs = functions(&dump, "cpu", |cost| cost.samples);
    for (symbol, own, total) in [
        ("Object#fib", 9, 9),
        ("Object#busy", 0, 9),
        ("Array#sort", 2, 2),
        ("String#*", 1, 1),
        ("Object#allocate", 1, 2),
        ("StackProf.run", 0, 13),
    ] {
        assert_eq!(costs[symbol], (own, total), "{symbol}");
    }
}

#[test]
fn reads_ghc_json() {
    check(Format::GhcJson, "reports/ghc.json");
    let recording = read(&testdata("reports/ghc.json"), &ReadOptions::default()).unwrap();
    assert_eq!(recording.warnings, [""; 0]);
    let sums = [0, 1].map(|ix| {
        let samples = recording
            .samples
            .iter()
            .filter(|sample| sample.sample_type.0 == ix);
        samples.map(|sample| sample.cost.value).sum::<u64>()
    });
    // `total_ticks` in milliseconds, and `total_alloc`.
    assert_eq!(sums, [798_000_000, 1_921_672_664]);
}

#[test]
fn reads_vernier() {
    check(Format::Firefox, "firefox/vernier.json.zst");
}

#[test]
fn reads_rprof() {
    check(Format::Rprof, "rprof/work.Rprof.out");
    check(Format::Rprof, "rprof/plain.Rprof.out");
}

#[test]
fn reads_truncated_austin_only_if_allowed() {
    let bytes = std::fs::read(testdata("austin/full.mojo")).unwrap();
    // Within the duration, which comes last.
    let cut = &bytes[..bytes.len() - 2];
    let error = read_bytes(Path::new("x"), cut, &ReadOptions::default()).unwrap_err();
    let error = error.to_string();
    let expected = format!(
        "x: truncated: the file ends at byte {}, within the event at byte ",
        cut.len()
    );
    assert!(error.starts_with(&expected), "{error}");
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("x"), cut, &options).unwrap();
    let whole = read(&testdata("austin/full.mojo"), &ReadOptions::default()).unwrap();
    assert_eq!(stacks(&recording), stacks(&whole));
    let expected = format!("The file ends at byte {}, within the event", cut.len());
    assert!(
        recording.warnings[0].starts_with(&expected),
        "{:?}",
        recording.warnings
    );
}

#[test]
fn rejects_newer_mojo_with_advice() {
    let error = |bytes: &[u8]| {
        let error = read_bytes(Path::new("x"), bytes, &ReadOptions::default()).unwrap_err();
        error.to_string()
    };
    assert_eq!(
        error(b"MOJ\x04\x01a\0b\0"),
        "x: byte 0: version 4 of MOJO; expected 1 to 3: convert it by `mojo2austin FILE FILE.austin`, and ingest that"
    );
    let event = error(b"MOJ\x03\x01a\0b\0\x0d");
    assert!(
        event.starts_with("x: byte 9: an event of kind 13; expected 1 to 12"),
        "{event}"
    );
}
