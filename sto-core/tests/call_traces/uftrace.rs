//! The folders of uftrace, compared with uftrace's own output.

use super::{Called, arguments, called, testdata};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use sto_core::formats::{FormatError, ReadOptions, is_recording, read};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Recording;
use sto_test_support::missing;

fn read_folder(folder: &Path) -> Recording {
    read(folder, &ReadOptions::default()).unwrap()
}

/// Number and time of calls in the output of `uftrace dump`, with a simple reader: a call without an exit ends when its
/// caller continues, or with the thread's last record.
fn called_in_dump(dump: &str) -> Called {
    /// The open calls of a thread, with depth and start, and its last time.
    #[derive(Default)]
    struct Thread<'a>(Vec<(u32, &'a str, u64)>, u64);
    let mut called = Called::new();
    let mut end = |(_, name, begin): (u32, &str, u64), time: u64| {
        let sum = called.entry(name.to_owned()).or_default();
        *sum = (sum.0 + 1, sum.1 + time - begin);
    };
    let mut threads: HashMap<&str, Thread<'_>> = HashMap::new();
    for line in dump.lines() {
        let (time, rest) = line.split_once(' ').unwrap();
        let time: u64 = time.replace('.', "").parse().unwrap();
        let (tid, rest) = rest.trim().split_once(": [").unwrap();
        let (kind, rest) = rest.split_once("] ").unwrap();
        let (function, depth) = rest.split_once(") depth: ").unwrap();
        let name = &function[..function.rfind('(').unwrap()];
        let depth: u32 = depth.parse().unwrap();
        let Thread(open, last) = threads.entry(tid).or_default();
        *last = time;
        let is_exit = kind == "exit ";
        while let Some(&innermost) = open.last()
            && innermost.0 >= depth
            && !(is_exit && (innermost.0, innermost.1) == (depth, name))
        {
            end(innermost, time);
            open.pop();
        }
        if !is_exit {
            open.push((depth, name, time));
        } else if let Some(call) = open.pop_if(|call| (call.0, call.1) == (depth, name)) {
            end(call, time);
        }
    }
    for Thread(open, last) in threads.into_values() {
        open.into_iter().for_each(|call| end(call, last));
    }
    called
}

/// The calls and total times of functions in `uftrace report`, with the rounding error of the times.
fn reported(report: &str) -> Vec<(&str, u64, (f64, f64))> {
    let rows = report.lines().skip(2).map(|row| {
        let words: Vec<&str> = row.split_whitespace().collect();
        let unit = match words[1] {
            "us" => 1e3,
            "ms" => 1e6,
            "s" => 1e9,
            other => panic!("{other}"),
        };
        let time: f64 = words[0].parse().unwrap();
        (
            words[3],
            words[2].parse().unwrap(),
            (time * unit, unit / 1e3),
        )
    });
    rows.collect()
}

/// The total time of each function, counting recursion once.
fn totals(recording: &Recording) -> HashMap<&str, u64> {
    let mut totals: HashMap<&str, u64> = HashMap::new();
    let samples = recording.samples.iter();
    for sample in samples.filter(|sample| sample.sample_type.0 == 0) {
        let frames = crate::common::frames_of(recording, sample);
        let mut functions: Vec<&str> = frames.iter().map(|frame| frame.symbol).collect();
        functions.sort_unstable();
        functions.dedup();
        for function in functions {
            *totals.entry(function).or_default() += sample.cost.value;
        }
    }
    totals
}

#[test]
fn keeps_numeric_arguments_with_call_times() {
    let recording = read_folder(&testdata("uftrace/arguments.data"));
    let options = SymbolOptions::default();
    let (_, took) = called(&recording, &options)["leaf"];
    // From `uftrace replay`; the argument of `strtol` is text.
    let values = [vec![0.0; 6], vec![1.0; 12], vec![2.0; 6], vec![3.0]].concat();
    let expected = [("leaf arg1".to_owned(), (values, took))];
    assert_eq!(arguments(&recording, &options), expected.into());
}

#[test]
fn calls_and_times_equal_those_of_uftrace() {
    for name in ["calls", "arguments"] {
        let folder = testdata("uftrace").join(format!("{name}.data"));
        assert!(is_recording(&folder));
        let recording = read_folder(&folder);
        let called = called(&recording, &SymbolOptions::default());
        let totals = totals(&recording);
        let text = |ending| fs::read_to_string(folder.with_extension(ending)).unwrap();
        assert_eq!(called, called_in_dump(&text("dump")), "{name}");
        for (function, calls, (time, rounding)) in reported(&text("report")) {
            // uftrace counts returns without an entry: of fork in a forked process, and the second of setjmp.
            if ["fork", "_setjmp"].contains(&function) {
                continue;
            }
            assert_eq!(called[function].0, calls, "{function}");
            let took = totals[function];
            assert!(
                (took as f64 - time).abs() <= rounding,
                "{function}: {took} {time}"
            );
        }
        let warnings = recording.warnings.join("\n");
        assert!(warnings.contains("5 calls have no exit"), "{warnings}");
        assert!(
            warnings.contains("2 calls ended without a begin"),
            "{warnings}"
        );
        assert_eq!(recording.warnings.len(), 2, "{warnings}");
    }
}

#[test]
fn only_functions_of_the_program_have_its_module() {
    let recording = read_folder(&testdata("uftrace/calls.data"));
    let mut frames: Vec<(String, String)> = recording
        .named
        .iter()
        .map(|(_, frame)| (frame.module.to_owned(), frame.symbol.to_owned()))
        .collect();
    frames.sort();
    for (module, symbol) in [
        ("calls", "counting::recurse"),
        ("calls", "main"),
        ("", "malloc"),
    ] {
        assert!(
            frames.contains(&(module.to_owned(), symbol.to_owned())),
            "{frames:?}"
        );
    }
    let programs: Vec<&str> = recording
        .processes
        .iter()
        .map(|process| &*process.program)
        .collect();
    assert_eq!(programs, ["calls", "calls"]);
    assert_eq!(recording.threads.len(), 3);
    let command = recording.origin.command.as_deref().unwrap();
    assert!(command.starts_with("uftrace record"), "{command}");
}

/// A copy of a folder for a test to change, with the file of its first thread.
fn copy(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let mut first = None;
    for entry in fs::read_dir(testdata("uftrace").join(name)).unwrap() {
        let path = entry.unwrap().path();
        let to = folder.path().join(path.file_name().unwrap());
        fs::copy(&path, &to).unwrap();
        if to.extension().is_some_and(|ending| ending == "dat") {
            first = first.min(Some(to.clone())).or(Some(to));
        }
    }
    (folder, first.unwrap())
}

#[test]
fn counts_lost_records_and_ignores_events() {
    let (folder, thread) = copy("calls.data");
    let mut bytes = fs::read(&thread).unwrap();
    let time = bytes[..8].to_vec();
    let record = |kind: u64, address: u64| {
        [
            time.clone(),
            (kind | 5 << 3 | address << 16).to_le_bytes().to_vec(),
        ]
        .concat()
    };
    bytes.splice(..0, [record(2, 12), record(3, 1_000_001)].concat());
    fs::write(&thread, bytes).unwrap();
    let recording = read_folder(folder.path());
    assert_eq!(recording.lost, 12);
    let warnings = recording.warnings.join("\n");
    assert!(
        warnings.contains("1 events between the calls were ignored"),
        "{warnings}"
    );
    assert!(
        warnings.contains("At least 12 events were lost"),
        "{warnings}"
    );
}

#[test]
fn rejects_a_truncated_thread_unless_allowed() {
    let (folder, thread) = copy("arguments.data");
    let whole = fs::read(&thread).unwrap();
    // No record size is a multiple of three, so every offset within a record is tested.
    for end in (0..whole.len())
        .step_by(3)
        .filter(|end| end % 16 != 0 && end % 8 != 0)
    {
        fs::write(&thread, &whole[..end]).unwrap();
        match read(folder.path(), &ReadOptions::default()) {
            Err(FormatError::Truncated { .. } | FormatError::Malformed { .. }) => {}
            other => panic!("{end}: {other:?}"),
        }
        let options = ReadOptions {
            allow_truncated: true,
            ..ReadOptions::default()
        };
        let recording = read(folder.path(), &options).unwrap();
        let is_warned = recording
            .warnings
            .iter()
            .any(|warning| warning.contains("is cut off or damaged after byte"));
        assert!(is_warned, "{end}: {:?}", recording.warnings);
    }
}

#[test]
fn advises_to_name_the_folder_instead_of_one_of_its_files() {
    let error = read(
        &testdata("uftrace/calls.data/info"),
        &ReadOptions::default(),
    )
    .unwrap_err();
    assert!(error.to_string().contains("name the folder"), "{error}");
}

/// New recordings of programs built in each way that uftrace supports.
#[test]
fn reads_new_recordings_like_the_installed_uftrace() {
    if missing(&["g++", "uftrace"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let source = testdata("uftrace/calls.cc");
    for (build, record) in [
        ("-pg", &[][..]),
        ("-pg", &["--nest-libcall"][..]),
        ("-finstrument-functions", &[]),
        ("-fpatchable-function-entry=5", &["-P", "."]),
    ] {
        run(Command::new("g++")
            .args(["-O1", build, "-pthread", "-o", "calls"])
            .arg(&source));
        run(Command::new("uftrace")
            .args(["record", "-d", "data"])
            .args(record)
            .arg("./calls"));
        let dump =
            run(Command::new("uftrace").args(["dump", "--no-pager", "--no-event", "-d", "data"]));
        let dump: Vec<&str> = dump
            .lines()
            .filter(|line| line.contains("[entry] ") || line.contains("[exit ] "))
            .collect();
        let recording = read_folder(&folder.path().join("data"));
        let expected = called_in_dump(&dump.join("\n"));
        assert!(expected["counting::recurse"].0 >= 18, "{build}");
        assert_eq!(
            called(&recording, &SymbolOptions::default()),
            expected,
            "{build} {record:?}"
        );
        fs::remove_dir_all(folder.path().join("data")).unwrap();
    }
}
