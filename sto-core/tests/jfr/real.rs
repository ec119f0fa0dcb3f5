//! Recordings, compared with the output of `jfr print` (`testdata/jfr/reference.py`).

use std::collections::BTreeMap;
use std::path::PathBuf;
use sto_core::formats::{Format, read_bytes};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::Recording;
use sto_core::store::Store;
use sto_core::units::{Cost, Nanoseconds, UnixSeconds};

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
fn time_allocation_and_lock_samples_equal_those_of_the_jdk() {
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
fn several_chunks_and_truncated_stacks_equal_those_of_the_jdk() {
    check("tlab");
}

#[test]
fn async_profiler_events_equal_those_of_the_jdk() {
    let recording = check("async-profiler");
    let origin = &recording.origin;
    assert_eq!(
        origin.command.as_deref(),
        Some("java -Xmx1g /opt/app.jar 2500")
    );
    assert_eq!(origin.kernel.as_deref(), Some("6.1.0-18-amd64"));
    assert_eq!(origin.cpu.as_deref(), Some("Intel(R) Xeon(R) Processor"));
    assert_eq!(origin.recorded, Some(UnixSeconds(1_790_000_000)));
    assert_eq!(origin.duration, Some(Nanoseconds(1_199_000_000)));
    assert_eq!(recording.processes.len(), 1);
    assert_eq!(recording.processes[0].program, "app.jar");
    assert_eq!(recording.processes[0].pid, 4711);
}

#[test]
fn async_profiler_wall_clock_and_malloc_equal_those_of_the_jdk() {
    check("async-wall");
    check("async-malloc");
}

#[test]
fn async_profiler_native_code_named_after_its_library_is_unresolved() {
    let recording = check("rust-agent");
    let events = recording.sample_types.iter().map(|kind| &*kind.event);
    let expected = [
        "jdk.ExecutionSample",
        "profiler.WallClockSample",
        "profiler.Malloc",
    ];
    assert_eq!(events.collect::<Vec<_>>(), expected);
    let cpu = recording.origin.cpu.as_deref();
    assert_eq!(cpu, Some("AMD EPYC 7763 64-Core Processor"));
}

#[test]
fn datadog_samples_have_weights() {
    let recording = check("datadog");
    let mut found: Vec<(&str, Cost)> = Vec::new();
    for kind in &recording.sample_types {
        found.push((&kind.event, Cost::default()));
    }
    for sample in &recording.samples {
        found[sample.sample_type.0 as usize].1 += sample.cost;
    }
    // The number that `jfr summary` prints.
    let samples: Vec<_> = found
        .iter()
        .map(|(name, cost)| (*name, cost.samples))
        .collect();
    let expected = [
        ("datadog.ExecutionSample", 107),
        ("datadog.MethodSample", 424),
        ("datadog.ObjectSample", 182),
        ("datadog.HeapLiveObject", 9),
        ("datadog.NativeMemoryAllocation", 7),
    ];
    assert_eq!(samples, expected);
    assert_eq!(recording.processes[0].program, "Work");
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn samples_are_sorted_by_time() {
    let recording = check("async-profiler");
    let times = recording
        .samples
        .iter()
        .map(|sample| sample.time.unwrap().0);
    let times: Vec<u64> = times
        .map(|time| (time - 1_790_000_000_000_000_000) / 1_000_000)
        .collect();
    let second = [1, 2, 3, 4, 5, 6, 7, 8, 9, 150, 200];
    assert_eq!(times[..11], second);
    assert_eq!(times[11..], second.map(|time| 1000 + time));
}

#[test]
fn time_is_the_default_event() {
    let store = Store::in_memory().unwrap();
    let path = PathBuf::from("tlab.jfr");
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let recording = check("tlab");
    let report = ingest(&store, (&path, recording), &options, &mut |_| {}).unwrap();
    let profile = &report.profiles[0].profile;
    assert!(profile.has_default_sample_type());
    assert_eq!(profile.sample_types[0].event, "jdk.ExecutionSample");
}
