//! Thread dumps of Java and Go: each thread is a sample of its stack.

use crate::common::{error_of, frames_of, labels_of, show};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, ReadOptions, read_bytes};
use sto_core::recording::Recording;
use sto_test_support::assert_golden;

const FILES: [(&str, Format); 4] = [
    ("jstack.txt", Format::Jstack),
    ("quit.log", Format::Jstack),
    ("goroutines.txt", Format::Goroutines),
    ("panic.log", Format::Goroutines),
];

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/thread-dumps"
    ))
    .join(file)
}

fn read(bytes: &[u8]) -> Recording {
    read_bytes(Path::new("a/file"), bytes, &ReadOptions::default()).unwrap()
}

/// The samples, one per line: `samples thread name [labels]: root;leaf file:line`.
fn describe(recording: &Recording) -> String {
    let mut text = String::new();
    for warning in &recording.warnings {
        writeln!(text, "warning: {warning}").unwrap();
    }
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let frames = frames_of(recording, sample);
        let names: Vec<String> = frames.iter().map(show).collect();
        let leaf = frames.last().unwrap();
        writeln!(
            text,
            "{} {} {} [{}]: {} {}:{}",
            sample.cost.samples,
            thread.tid,
            thread.name,
            labels_of(thread),
            names.join(";"),
            leaf.file,
            leaf.line
        )
        .unwrap();
    }
    text
}

#[test]
fn each_thread_of_a_dump_is_a_sample() {
    for (file, format) in FILES {
        let recording = read(&std::fs::read(testdata(file)).unwrap());
        assert_eq!(recording.format, format, "{file}");
        assert_golden(
            &testdata(file).with_extension("expected"),
            &describe(&recording),
        );
    }
}

#[test]
fn several_dumps_are_several_samples() {
    for (file, _) in FILES {
        let dump = std::fs::read(testdata(file)).unwrap();
        let (one, two) = (read(&dump), read(&[dump.as_slice(), b"\n", &dump].concat()));
        assert_eq!(one.samples.len(), two.samples.len(), "{file}");
        for (one, two) in one.samples.iter().zip(&two.samples) {
            assert_eq!(two.cost.samples, 2 * one.cost.samples, "{file}");
        }
    }
}

#[test]
fn warns_about_a_possibly_truncated_dump() {
    let dump = std::fs::read_to_string(testdata("jstack.txt")).unwrap();
    let cut = dump.split("\tat Queue.lambda$start").next().unwrap();
    let recording = read(cut.as_bytes());
    let warning = recording.warnings.last().unwrap();
    assert!(warning.starts_with("The last dump has no end"), "{warning}");
}

#[test]
fn reports_malformed_frames() {
    let dump = "Full thread dump VM:\n\n\"main\" #1 tid=0x1 nid=0x2 runnable\n\tat work\n";
    assert_eq!(
        error_of(dump.as_bytes()),
        "a/file: line 4: expected a method and where it is, as in `at Work.main(Work.java:5)`, found `work`"
    );
}
