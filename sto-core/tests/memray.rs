//! memray's recordings, compared with memray's reader.

use crate::viewers::stacks;
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, ReadOptions, read, read_bytes};
use sto_core::recording::Recording;
use sto_test_support::assert_golden;

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/memray")).join(file)
}

/// Compares a file with the costs that `expected.py` wrote.
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
fn peak_and_final_allocations_equal_those_of_memray() {
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
fn reads_aggregated_files() {
    check("aggregate.bin");
}

#[test]
fn warns_about_omitted_native_frames() {
    let recording = check("native.bin");
    let [warning] = &recording.warnings[..] else {
        panic!("one warning: {:?}", recording.warnings);
    };
    assert!(warning.starts_with("Its native frames were left out"));
}

#[test]
fn reads_older_versions() {
    check("v11.bin");
    check("v12.bin");
}

#[test]
fn rejects_unknown_versions_with_advice() {
    let mut bytes = fs::read(testdata("plain.bin")).unwrap();
    bytes[7] = 99;
    let error = read_bytes(Path::new("new.bin"), &bytes, &ReadOptions::default());
    let error = error.unwrap_err().to_string();
    assert!(error.contains("version 99"), "{error}");
    assert!(error.contains("memray transform speedscope"), "{error}");
}

#[test]
fn rejects_truncated_recordings_unless_allowed() {
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
