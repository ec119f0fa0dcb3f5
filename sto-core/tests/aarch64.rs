//! Recordings of aarch64: call chains, link registers and saved stacks with signed return addresses.

use std::path::{Path, PathBuf};
use sto_core::formats::{FormatError, ReadOptions, read, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Recording, Sample};
use sto_core::stages::{Symbols, symbolize};

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata/aarch64")
        .join(name)
}

fn read_testdata(name: &str) -> (Recording, Symbols) {
    let options = ReadOptions {
        symbols: SymbolOptions {
            recording_dir: Some(testdata("")),
            ..SymbolOptions::default()
        },
        ..ReadOptions::default()
    };
    let recording = read(&testdata(name), &options).unwrap();
    let symbols = symbolize(&recording, &options.symbols);
    (recording, symbols)
}

/// The functions of a sample's stack, root first.
fn names(recording: &Recording, symbols: &Symbols, sample: &Sample) -> String {
    let stack = recording.stacks.get(sample.stack);
    let code = stack
        .iter()
        .flat_map(|&location| symbols.code_lines(location));
    let frames = code.map(|&code| symbols.lines[code.0 as usize].frame);
    let names = frames.map(|frame| symbols.frames.frame(frame).symbol);
    names.collect::<Vec<_>>().join(";")
}

/// The stacks of a recording, with those that gdb printed.
fn stacks_with_gdbs(mode: &str) -> Vec<(String, String)> {
    let (recording, symbols) = read_testdata(&format!("{mode}.perf.data"));
    assert_eq!(recording.origin.arch.as_deref(), Some("aarch64"));
    let expected = std::fs::read_to_string(testdata(&format!("{mode}.expected"))).unwrap();
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(recording.samples.len(), expected.len());
    let samples = recording.samples.iter().zip(expected);
    samples
        .map(|(sample, expected)| {
            assert!(!sample.truncated, "{expected}");
            let found = names(&recording, &symbols, sample);
            (found, expected.to_owned())
        })
        .collect()
}

#[test]
fn unwinds_signed_return_addresses_like_gdb() {
    for (found, expected) in stacks_with_gdbs("dwarf") {
        assert_eq!(found, expected);
    }
}

#[test]
fn link_register_supplies_the_caller_missing_from_frame_pointers() {
    let stacks = stacks_with_gdbs("fp");
    let leaf = stacks.iter().filter(|(_, gdb)| gdb.ends_with(";leaf"));
    assert!(leaf.clone().count() > 10);
    for (found, expected) in leaf {
        assert_eq!(found, expected);
    }
    // Between two instructions of each prologue, neither the unwinding rules nor a frame record have the caller.
    let other = stacks.iter().filter(|(found, gdb)| found != gdb);
    assert!(other.count() <= 5, "{stacks:?}");
}

#[test]
fn resolves_call_chains_of_an_aarch64_phone() {
    let (recording, symbols) = read_testdata("two-functions.perf.data");
    let samples = recording.samples.iter();
    let found: Vec<String> = samples
        .map(|sample| names(&recording, &symbols, sample))
        .collect();
    // `perf script` has 0x1094 and 0x1104 called from 0x113c and 0x1140, and libc.so+0x4881c.
    assert_eq!(
        found,
        [
            "[libc.so+0x4881b];main;Function1",
            "[libc.so+0x4881b];main;Function2"
        ]
    );
}

/// A recording that claims to be of another machine with the same byte order.
fn read_as_machine(name: &str, machine: &str) -> Result<Recording, FormatError> {
    let mut bytes = std::fs::read(testdata(name)).unwrap();
    let mut windows = bytes.windows(8);
    let at = windows.position(|window| window == b"aarch64\0").unwrap();
    bytes[at..at + 8].fill(0);
    bytes[at..at + machine.len()].copy_from_slice(machine.as_bytes());
    read_bytes(Path::new("perf.data"), &bytes, &ReadOptions::default())
}

#[test]
fn reads_call_chains_and_rejects_saved_stacks_of_other_machines() {
    for machine in ["riscv64", "ppc64le", "armv7l"] {
        let recording = read_as_machine("fp.perf.data", machine).unwrap();
        let depths = recording.stacks.iter();
        let deepest = depths.map(|stack| recording.stacks.depth(stack)).max();
        // `_start`, `main`, `large`, `recurse` twice, `leaf`.
        assert_eq!(deepest, Some(6), "{machine}");
        let error = read_as_machine("dwarf.perf.data", machine).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "perf.data: has copies of stacks of {machine} (`--call-graph dwarf`); sto unwinds those of x86_64 \
                 and aarch64. Record with --call-graph fp, or run `perf script` on the recording machine and ingest \
                 its text"
            )
        );
    }
}
