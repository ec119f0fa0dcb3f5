//! What labels tell of samples.

use crate::build::Builder;
use sto_core::units::Nanoseconds;

#[test]
fn labels_tell_threads_and_processes_apart() {
    let mut builder = Builder::cpu();
    for (key, text, number) in [
        ("thread_id", "", 11),
        ("thread name", "worker", 0),
        ("pid", "7", 0),
    ] {
        if key == "thread_id" {
            builder.stack("main", &[1, 1]);
        }
        builder.label(key, text, number);
    }
    builder.stack("main", &[1, 1]);
    builder.label("thread", "", 12);
    builder.stack("main", &[1, 1]);
    builder.label("thread", "12", 0);
    let recording = builder.read();
    let threads: Vec<_> = recording
        .samples
        .iter()
        .map(|sample| {
            let thread = &recording.threads[sample.thread.0 as usize];
            let pid = recording.processes[thread.process.0 as usize].pid;
            (pid, thread.tid, &*thread.name)
        })
        .collect();
    assert_eq!(threads, [(7, 11, "worker"), (0, 12, ""), (0, 0, "12")]);
}

#[test]
fn labelled_times_order_the_samples() {
    let mut builder = Builder::cpu();
    for (name, time) in [("late", 20), ("early", 10)] {
        builder.stack(name, &[1, 1]);
        builder.label("end_timestamp_ns", "", time);
    }
    let recording = builder.read();
    let times: Vec<_> = recording.samples.iter().map(|s| s.time).collect();
    assert_eq!(times, [Some(Nanoseconds(10)), Some(Nanoseconds(20))]);
}

#[test]
fn other_labels_are_told_to_be_left_out() {
    let mut builder = Builder::cpu();
    builder.stack("main", &[1, 1]);
    builder.label("request", "GET /", 0);
    let warnings = builder.read().warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("`request`"), "{warnings:?}");
}
