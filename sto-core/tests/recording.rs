//! Recordings made with the builder.

use sto_core::formats::Format;
use sto_core::id::RecordingDigest;
use sto_core::recording::{
    LocationIx, ModuleIx, ProcessIx, RecordingBuilder, SampleTypeIx, StackIx, ThreadIx,
};
use sto_core::units::{Bytes, Cost, Unit};

#[test]
fn rejects_indices_of_another_builder() {
    let mut builder = RecordingBuilder::default();
    let cost = Cost::from_count(1);
    let process = builder.process(1, "app");
    let thread = builder.thread(process, 1, "main").unwrap();
    let event = builder.sample_type("samples", Unit::Samples);
    let stack = builder.stack(&[]).unwrap();
    assert!(builder.thread(ProcessIx(1), 1, "main").is_err());
    assert!(builder.address(ModuleIx(0), 1).is_err());
    assert!(builder.stack(&[LocationIx(1)]).is_err());
    assert!(builder.add(ThreadIx(1), event, stack, cost).is_err());
    assert!(builder.add(thread, SampleTypeIx(1), stack, cost).is_err());
    assert!(builder.add(thread, event, StackIx(1), cost).is_err());
    builder.add(thread, event, stack, cost).unwrap();
    let recording = builder.finish(Format::Folded, RecordingDigest([0; 16]), Bytes(0));
    recording.edit(|_| {}).unwrap();
}

#[test]
fn merges_threads_with_equal_name_and_id() {
    let mut builder = RecordingBuilder::default();
    let process = builder.process(1, "app");
    let thread = builder.thread(process, 1, "main");
    assert_eq!(builder.process(1, "app"), process);
    assert_eq!(builder.thread(process, 1, "main"), thread);
    assert_ne!(builder.thread(process, 2, "main"), thread);
}

#[test]
fn parses_the_name_of_every_format() {
    for format in Format::all() {
        assert_eq!(format.word().parse::<Format>().unwrap(), format);
    }
}
