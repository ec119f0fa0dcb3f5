//! Reports of DTrace, `sample`, VTune, Visual Studio, GHC, Instruments, xctrace and YourKit.

mod bad;
mod files;
mod instruments;
mod peers;

use crate::common::{frames_of, show};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, ReadOptions, read_bytes};
use sto_core::recording::Recording;
use sto_core::units::Cost;

/// Files of `testdata/reports`, and their formats.
const FILES: [(&str, Format); 12] = [
    ("dtrace.txt", Format::DTrace),
    ("sample.txt", Format::Sample),
    ("vtune.csv", Format::VTune),
    ("visual-studio.csv", Format::VisualStudio),
    ("ghc.prof", Format::Ghc),
    ("ghc-exact.prof", Format::Ghc),
    ("xctrace.xml", Format::Xctrace),
    ("yourkit.xml", Format::YourKit),
    ("yourkit.csv", Format::YourKit),
    ("instruments-time.txt", Format::Instruments),
    ("instruments-cycles.txt", Format::Instruments),
    ("instruments-allocations.txt", Format::Instruments),
];

fn testdata(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata/reports")
        .join(file)
}

fn bytes(file: &str) -> Vec<u8> {
    std::fs::read(testdata(file)).unwrap()
}

/// Reads bytes in a format; `None` detects it.
fn read_as(format: Option<Format>, bytes: &[u8]) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        format,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("a/file"), bytes, &options)
}

/// The cost of each stack, one per line: `event samples value unit [thread]: root;leaf file:line`.
fn stacks(recording: &Recording) -> Vec<String> {
    let mut costs: BTreeMap<(&str, String), (Cost, &str)> = BTreeMap::new();
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let frames = frames_of(recording, sample);
        let names: Vec<String> = frames.iter().map(show).collect();
        let leaf = frames.last().unwrap();
        let line = match leaf.file {
            "" => String::new(),
            file => format!(" {file}:{}", leaf.line),
        };
        let stack = format!("[{}]: {}{line}", thread.name, names.join(";"));
        let cost = costs.entry((&sample_type.event, stack));
        cost.or_insert((Cost::ZERO, sample_type.unit.name())).0 += sample.cost;
    }
    let lines = costs.into_iter().map(|((event, stack), (cost, unit))| {
        format!("{event} {} {} {unit} {stack}", cost.samples, cost.value)
    });
    lines.collect()
}
