//! Profiles of native programs, compared with their own tools.

mod gperftools;
mod gprof;
mod stacks;
mod valgrind;

use std::path::{Path, PathBuf};
use sto_core::formats::{Format, ReadOptions, read, read_bytes};
use sto_core::recording::{Location, Recording};

fn testdata(file: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/native")).join(file)
}

fn text(file: &str) -> String {
    std::fs::read_to_string(testdata(file)).unwrap()
}

#[track_caller]
fn recording(file: &str, format: Format) -> Recording {
    let recording = read(&testdata(file), &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, format);
    recording
}

/// The error message of reading.
#[track_caller]
fn error(bytes: &[u8]) -> String {
    let read = read_bytes(Path::new("x"), bytes, &ReadOptions::default());
    read.expect_err("not a profile").to_string()
}

/// A frame as `file+0xaddress`, or by its name.
fn place(recording: &Recording, location: Location) -> String {
    match location {
        Location::Address { module, address } => {
            let module = recording.modules[module.0 as usize].name();
            format!("{module}+{address:#x}")
        }
        Location::Unmapped => "?".to_owned(),
        Location::Named(frame) => recording.named.frame(frame).symbol.to_owned(),
    }
}

/// The frames of a stack, leaf first.
fn places(recording: &Recording, stack: sto_core::recording::StackIx) -> Vec<String> {
    let stack = recording.stacks.get(stack);
    let leaf_first = stack.iter().rev();
    leaf_first
        .map(|location| place(recording, recording.locations[location.0 as usize]))
        .collect()
}
