//! memray's recordings, held against what its own reader finds in them.

use crate::common::assert_golden;
use crate::viewers::stacks;
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, ReadOptions, read, read_bytes};
use sto_core::recording::Recording;

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/memray")).join(file)
}

/// Holds a file to the costs that `expected.py` wrote of it.
#[track_caller]
fn check(file: &str) -> Recording {
    let recording = read(&testdata(file), &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, Format::Memray, "{file}");
    let mut found = stacks(&recording);
    found.sort();
    let found = found.join("\n") + "\n";
    assert_golden(&testdata(&format!("{file}.expected")), &found);
    recording
}

#[test]
fn each_stack_has_what_memray_itself_says_was_allocated_at_the_peak_and_at_the_end() {
    for file in ["default.bin", "plain.bin"] {
        let recording = check(file);
        let events = recording.sample_types.iter().map(|of| &*of.event);
        let events: Vec<&str> = events.collect();
        assert_eq!(events, ["allocated", "peak", "at-end"], "{file}");
        assert_eq!(recording.processes[0].program, "app.py");
        assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
    }
}

#[test]
fn files_that_memray_aggregated_have_the_peak_and_the_end() {
    check("aggregate.bin");
}

#[test]
fn native_frames_are_left_out_and_said() {
    let recording = check("native.bin");
    let [warning] = &recording.warnings[..] else {
        panic!("one warning: {:?}", recording.warnings);
    };
    assert!(warning.starts_with("Its native frames were left out"));
}

#[test]
fn files_of_older_versions_are_read_the_same() {
    check("v11.bin");
    check("v12.bin");
}

#[test]
fn a_version_that_is_not_known_is_refused_with_what_to_do() {
    let mut bytes = fs::read(testdata("plain.bin")).unwrap();
    bytes[7] = 99;
    let error = read_bytes(Path::new("new.bin"), &bytes, &ReadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
    assert!(error.contains("memray transform speedscope"), "{error}");
}

#[test]
fn a_file_that_ends_early_is_refused_or_read_up_to_there() {
    let bytes = fs::read(testdata("plain.bin")).unwrap();
    let salvage = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let mut salvaged = 0;
    for end in (16..bytes.len()).step_by(97) {
        let part = &bytes[..end];
        if let Err(error) = read_bytes(Path::new("cut.bin"), part, &ReadOptions::default()) {
            assert!(!matches!(error, FormatError::Unknown { .. }), "{error}");
        }
        salvaged += u32::from(read_bytes(Path::new("cut.bin"), part, &salvage).is_ok());
    }
    assert!(salvaged > 20, "{salvaged} files were read in part");
}
