//! Files of each format, against goldens.

use super::{FILES, bytes, read_as, stacks, testdata};
use crate::common::assert_golden;
use std::fmt::Write;
use std::io::Cursor;
use std::path::Path;
use sto_core::formats::{Format, read_stream};

#[test]
fn files_are_read_and_told_by_their_content() {
    for (file, format) in FILES {
        let recording = read_as(None, &bytes(file)).unwrap();
        assert_eq!(recording.format, format, "{file}");
        let mut found = String::new();
        for process in &recording.processes {
            writeln!(found, "process {} {:?}", process.pid, process.program).unwrap();
        }
        for warning in &recording.warnings {
            writeln!(found, "warning: {warning}").unwrap();
        }
        for stack in stacks(&recording) {
            writeln!(found, "{stack}").unwrap();
        }
        let golden = testdata(&format!("{file}.expected"));
        assert_golden(&golden, &found);
    }
}

#[test]
fn a_stream_is_read_as_the_file_is() {
    for (file, _) in FILES {
        let bytes = bytes(file);
        let whole = read_as(None, &bytes).unwrap();
        let stream = read_stream(
            Path::new("a/file"),
            Cursor::new(&bytes),
            &Default::default(),
        );
        assert_eq!(
            format!("{:?}", stream.unwrap()),
            format!("{whole:?}"),
            "{file}"
        );
    }
}

#[test]
fn windows_line_ends_do_not_matter() {
    for (file, format) in FILES {
        let text = String::from_utf8(bytes(file)).unwrap();
        let windows = text.replace('\n', "\r\n");
        let read = read_as(None, windows.as_bytes()).unwrap();
        assert_eq!(read.format, format);
        assert_eq!(
            stacks(&read),
            stacks(&read_as(None, text.as_bytes()).unwrap()),
            "{file}"
        );
    }
}

#[test]
fn a_function_keeps_what_it_costs_beside_its_calls() {
    let recording = read_as(None, &bytes("sample.txt")).unwrap();
    let stacks = stacks(&recording);
    let work = stacks
        .iter()
        .find(|stack| stack.contains("app!work work.c:30"))
        .unwrap();
    assert!(work.starts_with("wall 100 100000000 ns "), "{work}");
}

#[test]
fn samples_without_an_interval_are_counted() {
    let text = "Sampling process 93 for 3 seconds with 1 millisecond of run time between samples\n\n\
                Call graph:\n    5 Thread_1\n      4 main  (in app)\n\nTotal number in stack:\n";
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        [
            "samples 1 1 samples []: [unknown] (unresolved)",
            "samples 4 4 samples []: app!main"
        ]
    );
}

#[test]
fn ticks_and_bytes_of_ghc_are_exact_where_they_are_printed() {
    let text = "\tMon Jan  6 09:20 2025 Time and Allocation Profiling Report  (Final)\n\n\
                \t   /opt/app +RTS -P\n\n\
                \ttotal time  =  0.25 secs   (250 ticks @ 500 us, 1 processor)\n\
                \ttotal alloc = 1,000 bytes  (excludes profiling overheads)\n\n\
                COST CENTRE MODULE SRC no. entries %time %alloc %time %alloc ticks bytes\n\n\
                MAIN MAIN <built-in> 1 0 0.1 0.1 100.0 100.0 1 3\n main Main Main.hs:1:1 2 1 99.9 99.9 99.9 99.9 249 997\n";
    let recording = read_as(None, text.as_bytes()).unwrap();
    assert_eq!(recording.processes[0].program, "app");
    assert_eq!(
        stacks(&recording),
        [
            "alloc 1 3 bytes []: MAIN.MAIN",
            "alloc 1 997 bytes []: MAIN.MAIN;Main.main Main.hs:0",
            "time 1 500000 ns []: MAIN.MAIN",
            "time 249 124500000 ns []: MAIN.MAIN;Main.main Main.hs:0",
        ]
    );
}

#[test]
fn rows_of_xctrace_without_weights_are_counted() {
    let text = r#"<trace-query-result><node><row><backtrace id="1"><frame id="2" name="b"/><frame id="3" name="a"/></backtrace></row><row><backtrace ref="1"/></row></node></trace-query-result>"#;
    assert_eq!(
        stacks(&read_as(None, text.as_bytes()).unwrap()),
        ["samples 2 2 samples []: a;b"]
    );
}

#[test]
fn a_format_is_named_where_the_content_does_not_tell() {
    let text = "\n  main\n  3\n";
    assert!(read_as(None, text.as_bytes()).is_err());
    let recording = read_as(Some(Format::DTrace), text.as_bytes()).unwrap();
    assert_eq!(stacks(&recording), ["samples 3 3 samples []: main"]);
}
