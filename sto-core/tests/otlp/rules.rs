//! The rules of the schema and the conventions.

use super::build::{Builder, part, with_profile};
use crate::common::{folded, labels_of, show};
use prost::Message;
use sto_core::formats::Format;
use sto_core::recording::Recording;
use sto_core::units::{Cost, Nanoseconds, SampleType, Unit};
use sto_test_support::otlp::{List, Mapping, Stack, Value};

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

fn costs(recording: &Recording) -> Vec<(u64, u64)> {
    let costs = recording.samples.iter().map(|sample| sample.cost);
    costs
        .map(|Cost { samples, value }| (samples, value))
        .collect()
}

#[test]
fn each_profile_is_a_sample_type() {
    let mut builder = Builder::new("alloc_space", "bytes");
    let stack = builder.stack("main;run");
    builder.sample(stack, &[4096]);
    builder.profile("wall", "microseconds");
    builder.sample(stack, &[5]);
    builder.profile("alloc_space", "bytes");
    builder.sample(stack, &[1]);
    let recording = builder.read();
    assert_eq!(recording.format, Format::Otlp);
    let sample_type = |event: &str, unit| SampleType {
        event: event.to_owned(),
        unit,
    };
    assert_eq!(
        recording.sample_types,
        [
            sample_type("alloc_space", Unit::Bytes),
            sample_type("wall", Unit::Nanoseconds)
        ],
        "profiles of one type are one column"
    );
    assert_eq!(costs(&recording), [(1, 4096), (1, 5_000), (1, 1)]);
    assert_eq!(folded(&recording)[0], "main;run 1");
}

#[test]
fn period_gives_the_number_of_samples() {
    let mut builder = Builder::new("cpu", "nanoseconds");
    let stack = builder.stack("main");
    builder.sample(stack, &[30]);
    let profile = &mut builder.profiles[0];
    profile.period_type = profile.sample_type;
    profile.period = 10;
    assert_eq!(costs(&builder.read()), [(3, 30)]);
}

#[test]
fn profile_can_count_the_samples_of_the_next() {
    let mut builder = Builder::new("cpu_samples", "count");
    let (main, idle) = (builder.stack("main"), builder.stack("idle"));
    builder.sample(main, &[3]);
    builder.sample(idle, &[1]);
    builder.profile("cpu", "nanoseconds");
    builder.sample(main, &[70]);
    let recording = builder.read();
    assert_eq!(recording.sample_types.len(), 1);
    assert_eq!(costs(&recording), [(3, 0), (1, 0), (0, 70)]);

    // Sample counts of another event are a separate sample type.
    builder.profiles[1].sample_type = builder.profile("wall", "nanoseconds").sample_type;
    builder.profiles.truncate(2);
    let recording = builder.read();
    let events = recording.sample_types.iter();
    let events: Vec<&str> = events.map(|known| known.event.as_str()).collect();
    assert_eq!(events, ["cpu_samples", "wall"]);
    assert_eq!(costs(&recording), [(3, 3), (1, 1), (1, 70)]);
}

#[test]
fn timestamps_without_values_count_one_each() {
    let mut builder = Builder::new("samples", "count");
    let stack = builder.stack("main");
    builder.sample(stack, &[]).timestamps_unix_nano = vec![30, 10];
    builder.sample(stack, &[7]).timestamps_unix_nano = vec![20];
    let recording = builder.read();
    let times = recording.samples.iter().map(|sample| sample.time);
    assert!(times.eq([10, 20, 30].map(|time| Some(Nanoseconds(time)))));
    assert_eq!(costs(&recording), [(1, 1), (7, 7), (1, 1)]);
}

#[test]
fn nearest_attributes_name_processes_and_threads() {
    let mut builder = Builder::new("samples", "count");
    builder.of_resource("service.name", text("shop"));
    builder.of_resource("process.pid", Value::Number(7));
    let stack = builder.stack("main");
    let tid = builder.attribute("thread.id", text("42"));
    let key = builder.string("the worker");
    let name = builder.attribute("thread.name", Value::TextAt(key));
    let program = builder.attribute("process.executable.path", text("/usr/bin/python3"));
    let pid = builder.attribute("process.pid", Value::Number(8));
    builder.sample(stack, &[1]);
    builder.sample(stack, &[1]).attribute_indices = vec![tid, name, program, pid];
    let recording = builder.read();
    let whose = recording.samples.iter().map(|sample| {
        let thread = &recording.threads[sample.thread.0 as usize];
        let process = &recording.processes[thread.process.0 as usize];
        (
            process.pid,
            process.program.as_str(),
            thread.tid,
            thread.name.as_str(),
        )
    });
    let whose: Vec<_> = whose.collect();
    assert_eq!(
        whose,
        [(7, "shop", 0, ""), (8, "python3", 42, "the worker")]
    );
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn other_sample_attributes_become_labels() {
    let mut builder = Builder::new("samples", "count");
    let stack = builder.stack("main");
    let attributes = [
        ("container.id", text("cafe")),
        ("cpu", Value::Number(-1)),
        ("idle", Value::Bool(false)),
        ("load", Value::Fraction(0.5)),
        ("tags", Value::List(List::default())),
    ];
    let indices = attributes.map(|(key, value)| builder.attribute(key, value));
    let size = builder.attribute("size", Value::Number(64));
    builder.dictionary.attribute_table[size as usize].unit_strindex = builder.string("bytes");
    builder.sample(stack, &[1]).attribute_indices = [&indices[..], &[size]].concat();
    let again = builder.attribute("container.id", text("cafe"));
    builder.sample(stack, &[1]).attribute_indices = vec![again, indices[0]];
    let recording = builder.read();
    let labels: Vec<_> = recording.threads.iter().map(labels_of).collect();
    assert_eq!(
        labels,
        [
            "container.id=cafe cpu=-1 idle=false load=0.5 size=64 bytes",
            "container.id=cafe"
        ]
    );
    let warning = "Attributes of samples that are lists or maps were left out: `tags`.";
    assert_eq!(recording.warnings, [warning]);
}

#[test]
fn frame_types_give_kinds() {
    let mut builder = Builder::new("samples", "count");
    let frames = [
        ("native", "main"),
        ("kernel", "[kernel]!main (kernel)"),
        ("jvm", "main (jit)"),
        ("v8js", "main (jit)"),
        ("cpython", "main (interpreted)"),
        ("ruby", "main (interpreted)"),
        ("something new", "main"),
    ];
    for (frame_type, _) in frames {
        let attribute = builder.attribute("profile.frame.type", text(frame_type));
        let location = builder.location(&["inner", "main"], &[attribute]);
        builder.dictionary.stack_table.push(Stack {
            location_indices: vec![location],
        });
        let stack = builder.dictionary.stack_table.len() as i32 - 1;
        builder.sample(stack, &[1]);
    }
    let recording = builder.read();
    for (sample, (frame_type, expected)) in recording.samples.iter().zip(frames) {
        let frames = crate::common::frames_of(&recording, sample);
        let shown: Vec<_> = frames.iter().map(show).collect();
        assert_eq!(shown[0], expected, "{frame_type}");
        assert!(shown[1].ends_with("inner (inlined)"), "{shown:?}");
    }
}

#[test]
fn mappings_become_modules_with_build_ids() {
    let mut builder = Builder::new("samples", "count");
    let path = builder.string("/usr/lib/libz.so.1");
    let build_id = builder.attribute("process.executable.build_id.gnu", text("c0ffee"));
    builder.dictionary.mapping_table.push(Mapping {
        filename_strindex: path,
        attribute_indices: vec![build_id],
        ..Mapping::default()
    });
    let stack = builder.stack("main");
    builder.sample(stack, &[1]);
    let recording = builder.read();
    assert_eq!(recording.modules[0].path, "/usr/lib/libz.so.1");
    let build_id = recording.modules[0].build_id.as_ref().unwrap();
    assert_eq!(build_id.to_string(), "c0ffee");
}

/// An export whose first profile has these encoded sample messages.
fn with_samples(builder: &Builder, samples: &[&[u8]]) -> Vec<u8> {
    let mut profile = builder.profiles[0].clone();
    profile.samples.clear();
    let mut profile = profile.encode_to_vec();
    for sample in samples {
        profile.extend(part(2, sample));
    }
    with_profile(builder, &profile)
}

#[test]
fn reads_ambiguous_numbering_by_plausibility() {
    let mut builder = Builder::new("samples", "count");
    builder.stack("main");
    let read = |samples: &[&[u8]]| {
        let recording = super::build::read(&with_samples(&builder, samples)).unwrap();
        costs(&recording)
    };
    let time = [0x2a, 8, 1, 0, 0, 0, 0, 0, 0, 0];
    let second = |numbers: &[u8]| [&[8, 1, 0x12, numbers.len() as u8][..], numbers].concat();
    assert_eq!(
        read(&[&second(&[5])]),
        [(5, 5)],
        "without times, these are values"
    );
    let with_time = |numbers: &[u8]| [&second(numbers)[..], &time].concat();
    assert_eq!(
        read(&[&with_time(&[0, 0])]),
        [(1, 1)],
        "two for one time are attributes"
    );
    assert_eq!(
        read(&[&with_time(&[9])]),
        [(9, 9)],
        "there is no attribute 9, so it is a value"
    );
    assert_eq!(read(&[&with_time(&[0])]), [(1, 1)], "either: the newer one");
}
