//! Sample types, units, origin, frames.

use super::build::Builder;
use crate::common::folded;
use sto_core::formats::Format;
use sto_core::model::{FrameKind, GnuBuildId};
use sto_core::recording::{Location, ModuleKind, Recording};
use sto_core::units::{Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

fn sample_type(event: &str, unit: Unit) -> SampleType {
    let event = event.to_owned();
    SampleType { event, unit }
}

/// Samples and value of every sample, by event.
fn costs(recording: &Recording) -> Vec<(&str, u64, u64)> {
    let samples = recording.samples.iter();
    samples
        .map(|sample| {
            let event = &recording.sample_types[sample.sample_type.0 as usize].event;
            (&**event, sample.cost.samples, sample.cost.value)
        })
        .collect()
}

#[test]
fn merges_sample_counts_into_the_next_type() {
    let mut builder = Builder::cpu();
    builder.stack("main;work", &[3, 30_000_000]);
    let recording = builder.read();
    assert_eq!(recording.format, Format::Pprof);
    assert_eq!(
        recording.sample_types,
        [sample_type("cpu", Unit::Nanoseconds)]
    );
    let cost = Cost {
        samples: 3,
        value: 30_000_000,
    };
    assert_eq!(recording.samples[0].cost, cost);
}

#[test]
fn ignores_empty_sample_types() {
    let mut builder = Builder::new(&[("", ""), ("alloc_space", "bytes")]);
    builder.stack("main;work", &[7, 500]);
    let recording = builder.read();
    assert_eq!(
        recording.sample_types,
        [sample_type("alloc_space", Unit::Bytes)]
    );
    assert_eq!(costs(&recording), [("alloc_space", 1, 500)]);
}

#[test]
fn puts_the_default_sample_type_first() {
    let heap = [
        ("alloc_objects", "count"),
        ("alloc_space", "bytes"),
        ("inuse_objects", "count"),
        ("inuse_space", "bytes"),
    ];
    let mut builder = Builder::new(&heap);
    builder.stack("main;work", &[5, 500, 2, 200]);
    let events = |recording: &Recording| -> Vec<String> {
        let types = recording.sample_types.iter();
        types.map(|known| known.event.clone()).collect()
    };
    let recording = builder.read();
    let last = [
        "inuse_space",
        "alloc_objects",
        "alloc_space",
        "inuse_objects",
    ];
    assert_eq!(events(&recording), last, "pprof's default is the last");
    assert_eq!(
        costs(&recording),
        [
            ("inuse_space", 2, 200),
            ("alloc_objects", 5, 5),
            ("alloc_space", 5, 500),
            ("inuse_objects", 2, 2),
        ]
    );
    builder.0.default_sample_type = builder.string("alloc_space");
    let named = [
        "alloc_space",
        "alloc_objects",
        "inuse_objects",
        "inuse_space",
    ];
    assert_eq!(events(&builder.read()), named);
}

#[test]
fn default_sample_count_means_its_event() {
    let types = [
        ("wall", "nanoseconds"),
        ("samples", "count"),
        ("cpu", "nanoseconds"),
    ];
    let mut builder = Builder::new(&types);
    builder.0.default_sample_type = builder.string("samples");
    builder.stack("main", &[9, 1, 5]);
    assert_eq!(
        builder.read().sample_types[0],
        sample_type("cpu", Unit::Nanoseconds)
    );
}

#[test]
fn keeps_a_lone_sample_count() {
    let mut builder = Builder::new(&[("samples", "count")]);
    builder.stack("main", &[7]);
    let recording = builder.read();
    assert_eq!(
        recording.sample_types,
        [sample_type("samples", Unit::Samples)]
    );
    assert_eq!(costs(&recording), [("samples", 7, 7)]);
}

#[test]
fn several_events_can_have_sample_counts() {
    let types = [
        ("cycles_samples", "count"),
        ("cycles", "count"),
        ("faults_samples", "count"),
        ("faults", "count"),
    ];
    let mut builder = Builder::new(&types);
    builder.stack("main", &[2, 1000, 1, 0]);
    assert_eq!(
        costs(&builder.read()),
        [("faults", 1, 0), ("cycles", 2, 1000)]
    );
}

#[test]
fn counts_samples_by_period_or_entries() {
    let mut builder = Builder::new(&[("cpu", "nanoseconds")]);
    builder.stack("main", &[25]);
    assert_eq!(costs(&builder.read()), [("cpu", 1, 25)]);
    builder.0.period = 10;
    builder.0.period_type = Some(builder.0.sample_type[0]);
    assert_eq!(costs(&builder.read()), [("cpu", 3, 25)]);
}

#[test]
fn converts_units_and_keeps_unknown_ones() {
    let types = [
        ("a", "microseconds"),
        ("b", "milliseconds"),
        ("c", "seconds"),
        ("d", "kilobytes"),
        ("e", "watts"),
        ("f", ""),
    ];
    let mut builder = Builder::new(&types);
    builder.0.default_sample_type = builder.string("a");
    builder.stack("main", &[2, 2, 2, 2, 2, 2]);
    let recording = builder.read();
    let units: Vec<_> = recording.sample_types.iter().map(|t| t.unit).collect();
    use Unit::{Bytes, Events, Nanoseconds};
    assert_eq!(
        units,
        [Nanoseconds, Nanoseconds, Nanoseconds, Bytes, Events, Events]
    );
    let values: Vec<_> = costs(&recording)
        .into_iter()
        .map(|(e, _, v)| (e, v))
        .collect();
    assert_eq!(
        values,
        [
            ("a", 2_000),
            ("b", 2_000_000),
            ("c", 2_000_000_000),
            ("d", 2_048),
            ("e/watts", 2),
            ("f", 2)
        ]
    );
}

#[test]
fn keeps_time_duration_and_comments() {
    let mut builder = Builder::cpu();
    builder.stack("main", &[1, 1]);
    builder.0.time_nanos = 1_700_000_000_999_999_999;
    builder.0.duration_nanos = 1_500_000_000;
    builder.0.comment = vec![builder.string("first"), builder.string("second")];
    let origin = builder.read().origin.clone();
    assert_eq!(origin.recorded, Some(UnixSeconds(1_700_000_000)));
    assert_eq!(origin.duration, Some(Nanoseconds(1_500_000_000)));
    assert_eq!(origin.command.as_deref(), Some("first\nsecond"));
}

#[test]
fn inlined_lines_follow_their_function() {
    let mut builder = Builder::cpu();
    let app = builder.mapping("/usr/bin/app", "");
    let kernel = builder.mapping("[kernel.kallsyms]_text", "");
    let leaf = builder.location(
        app,
        &[
            ("inner", "/home/ann/app/i.h", 3),
            ("middle", "m.c", 2),
            ("outer", "o.c", 1),
        ],
    );
    let root = builder.location(app, &[("main", "o.c", 9)]);
    let entry = builder.location(kernel, &[("entry", "", 0)]);
    builder.sample(vec![entry, leaf, root], &[1, 1]);
    let recording = builder.read();
    let frames = crate::common::frames_of(&recording, &recording.samples[0]);
    let lines: Vec<_> = frames
        .iter()
        .map(|f| (f.symbol, f.module, f.kind, f.file, f.line))
        .collect();
    use FrameKind::{Inlined, Kernel, User};
    assert_eq!(
        lines,
        [
            ("main", "app", User, "o.c", 9),
            ("outer", "app", User, "o.c", 1),
            ("middle", "app", Inlined, "m.c", 2),
            ("inner", "app", Inlined, "app/i.h", 3),
            ("entry", "[kernel]", Kernel, "", 0),
        ]
    );
}

#[test]
fn first_mapping_names_program_and_build() {
    let mut builder = Builder::cpu();
    let app = builder.mapping("/usr/bin/app", "0123456789abcdef");
    builder.mapping("/lib/libc.so.6", "not hexadecimal");
    let main = builder.location(app, &[("main", "", 0)]);
    builder.sample(vec![main], &[1, 1]);
    let recording = builder.read();
    assert_eq!(recording.processes[0].program, "app");
    let build_id = GnuBuildId::from_bytes(&[1, 35, 69, 103, 137, 171, 205, 239]);
    assert_eq!(recording.modules[0].build_id, build_id);
    assert_eq!(recording.modules[1].build_id, None);
}

#[test]
fn locations_without_functions_become_addresses() {
    let mut builder = Builder::cpu();
    let app = builder.mapping("/usr/bin/app", "");
    let inside = builder.location(app, &[]);
    let nowhere = builder.location(0, &[]);
    builder.sample(vec![inside, nowhere], &[1, 1]);
    let recording = builder.read();
    assert_eq!(recording.modules[0].kind, ModuleKind::File);
    let stack = recording.stacks.get(recording.samples[0].stack);
    let locations = stack.iter();
    let locations: Vec<_> = locations
        .map(|ix| recording.locations[ix.0 as usize])
        .collect();
    let Location::Address { address, .. } = locations[1] else {
        panic!("{locations:?}");
    };
    // Address 0x1001 of a mapping at 0x1000 with file offset 0x400.
    assert_eq!((locations[0], address), (Location::Unmapped, 0x401));
}

#[test]
fn samples_without_locations_have_an_unknown_stack() {
    let mut builder = Builder::cpu();
    builder.sample(vec![], &[4, 4]);
    assert_eq!(folded(&builder.read()), ["[unknown] (unresolved) 4"]);
}

#[test]
fn accepts_sparse_and_unordered_ids() {
    let mut builder = Builder::cpu();
    builder.stack("main;work", &[1, 1]);
    let profile = &mut builder.0;
    for (function, id) in profile.function.iter_mut().zip([u64::MAX, 7]) {
        function.id = id;
    }
    for (location, id) in profile.location.iter_mut().zip([1 << 40, 2]) {
        location.id = id;
    }
    profile.location[0].line[0].function_id = u64::MAX;
    profile.location[1].line[0].function_id = 7;
    profile.sample[0].location_id = vec![1 << 40, 2];
    assert_eq!(folded(&builder.read()), ["main;work 1"]);
}

#[test]
fn reads_half_a_million_levels_of_recursion() {
    let mut builder = Builder::cpu();
    let fib = builder.location(0, &[("fib", "", 0)]);
    builder.sample(vec![fib; 500_000], &[1, 1]);
    let recording = builder.read();
    assert_eq!(
        recording.stacks.get(recording.samples[0].stack).len(),
        500_000
    );
}
