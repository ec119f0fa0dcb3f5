//! Recordings, against what `jfr print` finds in them (`testdata/jfr/reference.py`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use sto_core::formats::{Format, Recording, read_bytes};
use sto_core::units::Cost;

/// The samples of each event by thread and stack, in the form of the reference.
fn describe(recording: &Recording) -> String {
    let mut sums: BTreeMap<String, Cost> = BTreeMap::new();
    for sample in &recording.samples {
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let frames = crate::common::frames_of(recording, sample);
        let frames = frames.iter().map(|frame| match frame.line {
            0 => crate::common::show(frame),
            line => format!("{}:{line}", crate::common::show(frame)),
        });
        let key = format!(
            "{} in {}, {}{}: {}",
            sample_type.event,
            sample_type.unit.name(),
            recording.threads[sample.thread.0 as usize].name,
            if sample.truncated { ", cut" } else { "" },
            frames.collect::<Vec<_>>().join(";")
        );
        *sums.entry(key).or_default() += sample.cost;
    }
    let lines = sums
        .iter()
        .map(|(key, cost)| format!("{key} {} {}\n", cost.samples, cost.value));
    lines.collect()
}

#[track_caller]
fn check(name: &str) -> Recording {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/jfr"));
    let path = folder.join(format!("{name}.jfr"));
    let bytes = std::fs::read(&path).unwrap();
    let recording = read_bytes(&path, &bytes, &Default::default()).unwrap();
    assert_eq!(recording.format, Format::Jfr);
    let found = describe(&recording);
    let reference = folder.join(format!("{name}.expected"));
    let expected = std::fs::read_to_string(&reference).unwrap();
    for (number, (found, expected)) in found.lines().zip(expected.lines()).enumerate() {
        assert_eq!(
            found,
            expected,
            "{}, line {}",
            reference.display(),
            number + 1
        );
    }
    assert_eq!(found.len(), expected.len(), "{}", reference.display());
    recording
}

#[test]
fn samples_of_time_allocations_and_locks_are_those_that_the_jdk_reads() {
    let recording = check("samples");
    let origin = &recording.origin;
    assert!(origin.command.as_ref().unwrap().ends_with(" Work 2500"));
    assert_eq!(origin.arch.as_deref(), Some("x86_64"));
    assert!(origin.kernel.as_ref().unwrap().starts_with("6."));
    assert!(origin.cpu.as_ref().unwrap().starts_with("Intel(R) Xeon(R)"));
    assert_eq!(recording.processes.len(), 1);
    assert_eq!(recording.processes[0].program, "Work");
    assert_ne!(recording.processes[0].pid, 0);
    assert!(recording.threads.iter().all(|thread| thread.tid > 0));
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn several_chunks_and_cut_stacks_are_those_that_the_jdk_reads() {
    check("tlab");
}
