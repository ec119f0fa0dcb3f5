//! Recordings of other machines, kernels and processors, made by others.

use super::{Event, events, read_testdata};
use sto_core::recording::Recording;

fn read_public(name: &str) -> Recording {
    read_testdata(&format!("perf-data/quipper/{name}.perf.data.zst"))
}

#[test]
fn reads_samples_of_32_bit_machines() {
    let arm = read_public("armv7");
    assert_eq!(events(&arm), [("cycles", 700, 72_156_940)]);
    let x86: [Event<'_>; 6] = [
        ("cycles", 147, 264_438_523),
        ("instructions", 155, 85_205_501),
        ("cache-references", 116, 1_447_587),
        ("cache-misses", 89, 65_138),
        ("branches", 95, 11_678_830),
        ("branch-misses", 101, 817_902),
    ];
    assert_eq!(events(&read_public("i686")), x86);
}

#[test]
fn cores_of_a_hybrid_processor_have_one_event() {
    let recording = read_public("hybrid");
    assert_eq!(events(&recording), [("cycles:ppp", 7, 7_048_948)]);
}

#[test]
fn events_without_names_have_those_of_their_numbers() {
    let recording = read_public("pipe-without-names");
    assert_eq!(events(&recording), [("cycles", 7, 3_051_275)]);
}

#[test]
fn reads_groups_of_events() {
    let expected = [
        ("cache-references", 7, 165_909),
        ("branch-misses", 6, 23_813),
    ];
    assert_eq!(events(&read_public("group")), expected);
}

#[test]
fn says_that_traces_of_the_processor_are_not_read() {
    let recording = read_public("intel-pt");
    assert_eq!(events(&recording), [("cycles", 15, 2_213_124)]);
    let mut warnings = recording.warnings.iter();
    let expected = "`perf inject --itrace=i100usg` turns it into samples";
    assert!(warnings.any(|warning| warning.contains(expected)));
}
