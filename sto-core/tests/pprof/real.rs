//! Real files, compared with goldens that agree with `go tool pprof -raw`.

use std::fmt::Write;
use std::path::PathBuf;
use sto_core::formats::{Format, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Recording;
use sto_core::stages::symbolize;
use sto_test_support::assert_golden;

/// A recording as text for goldens.
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
    let symbols = symbolize(recording, &SymbolOptions::default());
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let (event, unit) = (&sample_type.event, sample_type.unit.name());
        let (samples, value) = (sample.cost.samples, sample.cost.value);
        let labels = crate::common::labels_of(thread);
        let head = format!(
            "{event}: {samples} samples, {value} {unit}, {:?} {labels}",
            thread.name
        );
        writeln!(out, "\n{}", head.trim_end()).unwrap();
        for &location in &*recording.stacks.get(sample.stack) {
            for line in symbols.code_lines(location) {
                let line = symbols.lines[line.0 as usize];
                let frame = symbols.frames.frame(line.frame);
                write!(out, "  {}", crate::common::show(&frame)).unwrap();
                if !frame.file.is_empty() {
                    write!(out, " {}:{}", frame.file, line.line).unwrap();
                }
                out.push('\n');
            }
        }
    }
    text
}

#[track_caller]
fn check_golden(name: &str) {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/pprof"));
    // From memory, because the modification time of a file must not be part of a golden.
    let path = folder.join(format!("{name}.pb.gz"));
    let bytes = std::fs::read(&path).unwrap();
    let recording = read_bytes(&path, &bytes, &Default::default()).unwrap();
    assert_eq!(recording.format, Format::Pprof);
    let found = describe(&recording);
    let golden = folder.join(format!("{name}.expected"));
    assert_golden(&golden, &found);
}

#[test]
fn reads_cpu_time_of_go() {
    check_golden("go-cpu");
}

#[test]
fn reads_allocations_and_lock_waits_of_go() {
    check_golden("go-heap");
    check_golden("go-mutex");
}

#[test]
fn reads_labels_of_go() {
    check_golden("go-labels-cpu");
    check_golden("go-labels-heap");
}

#[test]
fn reads_allocations_of_gperftools() {
    check_golden("gperftools-heap");
}

#[test]
fn reads_wall_clock_time_and_allocations_of_node() {
    check_golden("node-wall");
    check_golden("node-heap");
}
