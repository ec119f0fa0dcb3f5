//! Formats of viewers: the Firefox Profiler, speedscope, Chrome and V8.

mod bad;
mod chrome;
mod cpuprofile;
mod firefox;
mod hermes;
mod perfetto;
mod perun;
mod real;
mod simpleperf;
mod slabs;
mod speedscope;

use crate::common;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use sto_core::formats::{FormatError, read_bytes};
use sto_core::recording::{Location, Recording};
use sto_core::units::Cost;

fn read(text: &str) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), text.as_bytes(), &Default::default())
}

#[track_caller]
fn error(text: &str) -> String {
    let error = read(text).expect_err("a file that breaks the rules");
    error.to_string()
}

#[test]
fn does_not_detect_json_as_a_text_format() {
    for text in [
        // A sample of `perf script`.
        r#"[{"method": "Page.x", "at": ": worker 123 [000] 4.567890: 1000 cycles:"}]"#,
        // A stack of DTrace with its count.
        "{\n  \"stack\":\n    0x1234`main\n    12\n}\n",
        // ftrace output inside JSON.
        "[ {\"body\": \"# tracer: function_graph\"},\n {} ]\n",
        // Folded stacks.
        "{\"a;b\": 1,\n\"c;d\": 2\n\"e\" 3\n",
    ] {
        let error = error(text);
        assert!(error.contains("not a profile that sto can read"), "{error}");
    }
    // A function name may begin like JSON.
    for text in ["[kernel];read 3\n", "{closure};main 2\n", "[[stack]] 1\n"] {
        assert_eq!(read(text).unwrap().samples.len(), 1, "{text}");
    }
}

/// The cost of each stack, one per line: `event samples value unit [thread]: root;leaf file:line`.
pub(crate) fn stacks(recording: &Recording) -> Vec<String> {
    let mut costs: BTreeMap<String, (Cost, &str, &str)> = BTreeMap::new();
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let mut key = format!("[{}]: ", thread.name);
        let (mut separator, mut source) = ("", String::new());
        for &location in &*recording.stacks.get(sample.stack) {
            key.push_str(separator);
            separator = ";";
            source.clear();
            match recording.locations[location.0 as usize] {
                Location::Named(frame) => {
                    let frame = recording.named.frame(frame);
                    key.push_str(&common::show(&frame));
                    if !frame.file.is_empty() {
                        source = format!(" {}:{}", frame.file, frame.line);
                    }
                }
                Location::Address { module, address } => {
                    let name = recording.modules[module.0 as usize].name();
                    write!(key, "{name}+{address:#x}").unwrap();
                }
                Location::Unmapped => key.push_str("[unknown]"),
            }
        }
        key.push_str(&source);
        let key = format!("{}\0{key}", sample_type.event);
        let unit = sample_type.unit.name();
        costs
            .entry(key)
            .or_insert((Cost::ZERO, &sample_type.event, unit))
            .0 += sample.cost;
    }
    let lines = costs.into_iter().map(|(key, (cost, event, unit))| {
        let stack = key.split_once('\0').unwrap().1;
        format!("{event} {} {} {unit} {stack}", cost.samples, cost.value)
    });
    lines.collect()
}

/// One line per metric: name, kind, and points with times in nanoseconds.
fn metrics(recording: &Recording) -> Vec<String> {
    let metrics = recording.metrics.iter().map(|metric| {
        let times = metric.times().iter().zip(metric.values());
        let points: Vec<String> = times
            .map(|(time, value)| format!("{}:{value}", time.0))
            .collect();
        format!("{} {:?} {}", metric.name(), metric.kind(), points.join(" "))
    });
    metrics.collect()
}
