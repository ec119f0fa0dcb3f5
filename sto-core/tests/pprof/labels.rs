//! Labels of samples.

use super::build::Builder;
use crate::common::labels_of;
use std::collections::BTreeSet;
use std::path::Path;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::limits::{LABEL_OVERHEAD, MAX_LABEL_SETS_SIZE, MAX_NAME};
use sto_core::recording::Recording;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_core::units::Nanoseconds;
use sto_core::{Hint, Notice};

#[test]
fn labels_identify_threads_and_processes() {
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
fn time_labels_order_the_samples() {
    let mut builder = Builder::cpu();
    for (name, time) in [("late", 20), ("early", 10)] {
        builder.stack(name, &[1, 1]);
        builder.label("end_timestamp_ns", "", time);
    }
    let recording = builder.read();
    let times: Vec<_> = recording.samples.iter().map(|s| s.time).collect();
    assert_eq!(times, [Some(Nanoseconds(10)), Some(Nanoseconds(20))]);
}

/// The labels of each sample as text.
fn labels(recording: &Recording) -> Vec<String> {
    let samples = recording.samples.iter();
    samples
        .map(|sample| labels_of(&recording.threads[sample.thread.0 as usize]))
        .collect()
}

#[test]
fn keeps_other_labels_as_text_or_numbers_with_units() {
    let mut builder = Builder::cpu();
    builder.stack("main", &[1, 1]);
    builder.label("request", "GET /", 0);
    builder.label("tenant", "b", 0);
    builder.label("tenant", "a", 0);
    builder.label("tenant", "b", 0);
    builder.label("thread_id", "", 7);
    builder.stack("main", &[1, 1]);
    builder.label("bytes", "", 1024);
    builder.label("size", "", -3);
    builder.label_of_unit("wait", "", 20, "milliseconds");
    builder.stack("main", &[1, 1]);
    builder.label("nothing", "", 0);
    builder.label_of_unit("zero", "", 0, "seconds");
    builder.stack("main", &[1, 1]);
    let recording = builder.read();
    assert_eq!(
        labels(&recording),
        [
            "request=GET / tenant=a tenant=b",
            "bytes=1024 bytes size=-3 wait=20 milliseconds",
            "zero=0 seconds",
            "",
        ]
    );
    assert_eq!(recording.threads[0].tid, 7);
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn label_order_does_not_matter() {
    let mut builder = Builder::cpu();
    for keys in [["a", "b"], ["b", "a"], ["a", "c"]] {
        builder.stack("main", &[1, 1]);
        for key in keys {
            builder.label(key, "x", 0);
        }
    }
    let recording = builder.read();
    let threads: Vec<_> = recording.samples.iter().map(|s| s.thread.0).collect();
    assert_eq!(threads, [0, 0, 1]);
}

/// An id so long that few of them reach the limit.
fn long(id: usize) -> String {
    format!("{id:04000}")
}

/// The number of labels with such an id, and with `other` bytes of other text, that fit.
fn fitting(other: usize) -> usize {
    MAX_LABEL_SETS_SIZE / (LABEL_OVERHEAD + long(0).len() + other)
}

#[test]
fn leaves_out_labels_with_too_many_values() {
    let mut builder = Builder::cpu();
    for id in 0..=fitting("id".len()) {
        builder.stack("main", &[1, 1]);
        builder.label("id", &long(id), 0);
        builder.label("kind", ["read", "write"][id % 2], 0);
    }
    let recording = builder.read();
    let warning = "Labels with too many distinct values were left out: `id`.";
    assert_eq!(recording.warnings, [warning]);
    assert_eq!(labels(&recording)[..2], ["kind=read", "kind=write"]);
    let sets: BTreeSet<_> = recording.threads.iter().map(|t| &t.labels).collect();
    assert_eq!(sets.len(), 2);
}

#[test]
fn keeps_labels_up_to_the_limit() {
    let mut builder = Builder::cpu();
    let count = fitting("id".len());
    for id in 0..count {
        builder.stack("main", &[1, 1]);
        builder.label("id", &long(id), 0);
    }
    let recording = builder.read();
    assert_eq!(recording.warnings, [""; 0]);
    assert_eq!(labels(&recording)[7], format!("id={}", long(7)));
    builder.stack("main", &[1, 1]);
    builder.label("id", &long(count), 0);
    assert_eq!(labels(&builder.read())[7], "", "one more is too much");
}

#[test]
fn leaves_out_equally_large_labels_by_name() {
    let mut builder = Builder::cpu();
    for id in 0..2 * fitting(0) {
        builder.stack("main", &[1, 1]);
        builder.label(&long(id), "", 1);
    }
    let labels = labels(&builder.read());
    let (left_out, kept) = labels.split_at(fitting(0));
    assert!(left_out.iter().all(String::is_empty));
    assert!(kept.iter().all(|labels| labels.ends_with("=1")));
}

#[test]
fn truncates_long_label_texts() {
    let mut builder = Builder::cpu();
    builder.stack("main", &[1, 1]);
    let long = "x".repeat(MAX_NAME + 1);
    builder.label(&long, &long, 0);
    builder.label(&long, &format!("{long}y"), 0);
    let recording = builder.read();
    let [label] = &*recording.threads[0].labels else {
        panic!("cut, they are one");
    };
    assert!(label.key.len() <= MAX_NAME && label.key.ends_with('…'));
    assert!(label.text().len() <= MAX_NAME && label.text().ends_with('…'));
    assert!(recording.warnings[0].contains("4096 bytes"));
}

#[test]
fn labels_need_slices() {
    let mut builder = Builder::cpu();
    for tenant in ["a", "b"] {
        builder.stack("main", &[1, 5]);
        builder.label("tenant", tenant, 0);
    }
    let ingest = |slices| {
        let store = Store::in_memory().unwrap();
        let options = IngestOptions {
            version: Some("v1".to_owned()),
            slices,
            ..IngestOptions::default()
        };
        let report = ingest(
            &store,
            (Path::new("p"), builder.read()),
            &options,
            &mut |_| (),
        );
        let report = report.unwrap();
        let contexts = store
            .snapshot()
            .unwrap()
            .load_contexts(report.profiles[0].id)
            .unwrap();
        (report.warnings, contexts)
    };
    let expected = Notice {
        text: "Labels of samples are only stored together with slices of time: `tenant`."
            .to_owned(),
        hint: Some(Hint::KeepSlices),
    };
    assert_eq!(ingest(None), (vec![expected], None));
    let (warnings, contexts) = ingest(SliceCount::new(1));
    assert_eq!(warnings, [], "without time stamps, one slice is possible");
    let contexts = contexts.unwrap();
    let values = contexts.iter().map(|context| context.labels[0].text());
    assert_eq!(values.collect::<Vec<_>>(), ["a", "b"]);
}
