//! Files of real tools, compared with goldens.

use super::stacks;
use crate::common::frames_of;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use sto_core::formats::{Format, read, read_bytes};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::{Location, Recording};
use sto_core::store::Store;
use sto_test_support::assert_golden;

fn describe(recording: &Recording) -> String {
    let mut text = String::new();
    let out = &mut text;
    let origin = &recording.origin;
    writeln!(
        out,
        "recorded {:?}, duration {:?}",
        origin.recorded, origin.duration
    )
    .unwrap();
    for warning in &recording.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    for process in &recording.processes {
        writeln!(out, "process {} {:?}", process.pid, process.program).unwrap();
    }
    for module in &recording.modules {
        writeln!(out, "module {:?} {:?}", module.path, module.build_id).unwrap();
    }
    let times = recording
        .samples
        .iter()
        .filter(|sample| sample.time.is_some());
    writeln!(
        out,
        "{} samples, {} with times",
        recording.samples.len(),
        times.count()
    )
    .unwrap();
    for line in stacks(recording) {
        writeln!(out, "{line}").unwrap();
    }
    text + &describe_metrics(recording)
}

fn describe_metrics(recording: &Recording) -> String {
    let mut text = String::new();
    let out = &mut text;
    for metric in &recording.metrics {
        let (times, values) = (metric.times(), metric.values());
        let from = times[0].0 as f64 / 1e9;
        let to = times[times.len() - 1].0 as f64 / 1e9;
        let least = values.iter().copied().fold(f64::MAX, f64::min);
        let most = values.iter().copied().fold(f64::MIN, f64::max);
        let sum: f64 = values.iter().sum();
        writeln!(
            out,
            "metric {:?}: {:?} of {} points from {from:.4} s to {to:.4} s, {least:.4} to {most:.4}, sum {sum:.4}",
            metric.name(),
            metric.kind(),
            times.len()
        )
        .unwrap();
    }
    text
}

fn testdata(format: Format, file: &str) -> PathBuf {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata"));
    folder.join(format.word()).join(file)
}

#[track_caller]
fn check(format: Format, file: &str) {
    check_against(format, file, file);
}

/// Compares a file with the golden of another file.
#[track_caller]
fn check_against(format: Format, file: &str, other: &str) {
    let path = testdata(format, file);
    let bytes = std::fs::read(&path).unwrap();
    let recording = read_bytes(&path, &bytes, &Default::default()).unwrap();
    assert_eq!(recording.format, format);
    let found = describe(&recording);
    let golden = testdata(format, other).with_extension("expected");
    assert_golden(&golden, &found);
}

#[test]
fn reads_samply() {
    check(Format::Firefox, "samply.json");
}

#[test]
fn reads_profiles_upgraded_by_the_firefox_profiler() {
    check_against(Format::Firefox, "samply-75.json", "samply.json");
}

#[test]
fn reads_own_exports_upgraded_by_the_firefox_profiler() {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let exported = root.join("sto-query/tests/golden/export-v1.firefox.json");
    let [exported, back] = [exported, testdata(Format::Firefox, "export-75.json")].map(|path| {
        let bytes = std::fs::read(&path).unwrap();
        describe(&read_bytes(&path, &bytes, &Default::default()).unwrap())
    });
    assert!(exported.contains("doLogging"), "{exported}");
    assert_eq!(back, exported);
}

#[test]
fn reads_javascript_imported_by_the_firefox_profiler() {
    check(Format::Firefox, "node-75.json");
}

#[test]
fn reads_slabs_like_json() {
    check_against(Format::Firefox, "samply-75.jslb", "samply.json");
}

#[test]
fn reads_firefox_counters() {
    let path = testdata(Format::Firefox, "firefox-75.json.zst");
    let bytes = std::fs::read(&path).unwrap();
    let recording = read_bytes(&path, &bytes, &Default::default()).unwrap();
    assert_golden(
        &path.with_extension("expected"),
        &describe_metrics(&recording),
    );
}

#[test]
fn reads_hermes() {
    check(Format::Hermes, "work.json");
}

#[test]
fn reads_py_spy_sampled_profiles() {
    check(Format::Speedscope, "py-spy.json");
}

#[test]
fn reads_pyinstrument_evented_profiles() {
    check(Format::Speedscope, "pyinstrument.json");
}

#[test]
fn reads_memray_sampled_profiles() {
    check(Format::Speedscope, "memray.json");
}

#[test]
fn reads_py_spy_traces() {
    check(Format::Chrome, "py-spy.json");
}

#[test]
fn reads_node() {
    check(Format::CpuProfile, "node.cpuprofile");
}

#[test]
fn reads_older_v8_profiles() {
    check(Format::CpuProfile, "tree.cpuprofile");
}

#[test]
fn reads_v8_heap_profiles() {
    check(Format::HeapProfile, "work.heapprofile");
    check(Format::HeapProfile, "node-10.heapprofile");
}

#[test]
fn reads_pyinstrument_trees() {
    check(Format::Pyinstrument, "work.json");
}

#[test]
fn reads_stackprof() {
    check(Format::Stackprof, "cpu.json");
    check(Format::Stackprof, "object.json");
}

#[test]
fn reads_a_trace_with_lost_v8_samples() {
    check(Format::Chrome, "lost-parts.json");
}

#[test]
fn accepts_nodes_with_parent_and_children() {
    let path = testdata(Format::Chrome, "parents.json");
    let recording = read(&path, &Default::default()).unwrap();
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    for sample in &recording.samples {
        let leaf = frames_of(&recording, sample).pop().unwrap();
        *found.entry(leaf.symbol).or_default() += sample.cost.samples;
    }
    // The number of `samples` in all chunks whose node has that name.
    let expected = [
        ("(idle)", 1376),
        ("(program)", 30),
        ("alpha", 3),
        ("beta", 63),
        ("delta", 61),
        ("gamma", 67),
    ];
    assert_eq!(found.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn reads_perun_files_and_objects() {
    check(Format::Perun, "complexity.perf");
    check(Format::Perun, "time.perf");
    check_against(Format::Perun, "time.object", "time.perf");
}

#[test]
fn reads_counters_of_a_page() {
    check(Format::Chrome, "counters.json.zst");
}

#[test]
fn reads_counters_of_a_program() {
    check(Format::Chrome, "usage.json");
}

#[test]
fn reads_a_trace_of_node() {
    check(Format::Chrome, "node.json");
}

#[test]
fn reads_a_trace_of_chromium() {
    check(Format::Chrome, "chromium.json");
}

#[test]
fn samples_are_the_default_over_calls() {
    let path = testdata(Format::Chrome, "chromium.json");
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    let report = ingest(&store, &path, &options, &mut |_| {}).unwrap();
    let profile = &report.profiles[0].profile;
    let events = profile.sample_types.iter().map(|kind| &*kind.event);
    assert_eq!(events.collect::<Vec<_>>(), ["wall", "spans", "calls"]);
    assert!(profile.has_default_sample_type());
    // `(idle)` has no caller.
    assert_eq!(profile.quality.without_stack, 0);
}

#[test]
fn reads_heap_snapshots_by_constructor() {
    check(Format::HeapSnapshot, "heap.heapsnapshot");
}

#[test]
fn reads_node_ticks() {
    check(Format::V8Log, "work.v8log");
}

/// JavaScript functions and regular expressions of each tick, one tick per line, leaf last.
fn functions_of_ticks(recording: &Recording) -> Vec<String> {
    let ticks = recording.samples.iter().map(|sample| {
        let stack = recording.stacks.get(sample.stack);
        let names = stack.iter().filter_map(|location| {
            let Location::Named(frame) = recording.locations[location.0 as usize] else {
                return None;
            };
            let frame = recording.named.frame(frame);
            let is_js = !frame.file.is_empty() || frame.symbol.starts_with("RegExp: ");
            is_js.then(|| {
                format!(
                    "{} {:?} {}:{}",
                    frame.symbol, frame.kind, frame.file, frame.line
                )
            })
        });
        names.collect::<Vec<_>>().join(";")
    });
    ticks.collect()
}

#[test]
fn functions_of_a_log_equal_those_of_node() {
    let [log, preprocessed] = ["work.v8log", "preprocessed.json"].map(|file| {
        let recording =
            sto_core::formats::read(&testdata(Format::V8Log, file), &Default::default());
        functions_of_ticks(&recording.unwrap())
    });
    assert_eq!(log.len(), 324);
    assert_eq!(log, preprocessed);
}

#[test]
fn reads_perfetto_samples_of_counters_heaps_and_chrome() {
    check(Format::Perfetto, "samples.pftrace.zst");
}

#[test]
fn reads_dotnet_traces() {
    check(Format::Nettrace, "work.nettrace.zst");
}

#[test]
fn reads_sysprof_captures() {
    check(Format::Sysprof, "work.syscap");
}

#[test]
fn reads_viztracer_traces() {
    check(Format::Chrome, "viztracer.json");
}

#[test]
fn call_times_equal_the_events_of_both_kinds() {
    let path = testdata(Format::Chrome, "x-event-trace.json.zst");
    let recording = sto_core::formats::read(&path, &Default::default()).unwrap();
    assert!(recording.warnings.is_empty(), "{:?}", recording.warnings);
    let threads = [
        "CrRendererMain",
        "Compositor",
        "CompositorRasterWorker1/14752",
    ];
    let took = |what: &str| {
        let found = stacks(&recording).into_iter().filter(|line| {
            let (_, stack) = line.split_once(" [").unwrap();
            let (thread, calls) = stack.split_once("]: ").unwrap();
            let is_it = thread == what || calls.split(';').any(|call| call == what);
            is_it && line.starts_with("wall ")
        });
        let values = found.map(|line| line.split(' ').nth(2).unwrap().parse::<u64>().unwrap());
        values.sum::<u64>()
    };
    // The time in which anything was open in a thread, and in which a function was.
    assert_eq!(threads.map(took), [123_940_000, 137_679_000, 241_166_000]);
    let functions = [
        "ThreadProxy::BeginFrameOnMainThread",
        "Scheduler::OnBeginFrameDeadline",
        "RasterTask",
    ];
    assert_eq!(functions.map(took), [119_393_000, 73_800_000, 165_570_000]);
    // The id of the only counter is an address.
    let counter = "metric \"unused_memory_bytes.value\": Level of 42 points from 0.0006 s to 1.5368 s, \
                   25378816.0000 to 36143104.0000, sum 1373503488.0000\n";
    assert_eq!(describe_metrics(&recording), counter);
}
