//! Malformed files: errors with the place, never a panic or a partial profile.

use super::build::{Builder, part, read, with_profile};
use prost::Message;
use std::path::Path;
use sto_core::formats::{Format, ReadOptions, read_bytes};
use sto_test_support::otlp::{Stack, Value};

pub(crate) fn sound() -> Builder {
    let mut builder = Builder::new("cpu", "nanoseconds");
    builder.of_resource("service.name", Value::Text("shop".to_owned()));
    let thread = builder.attribute("thread.name", Value::Text("worker".to_owned()));
    let stack = builder.stack("main;run");
    let sample = builder.sample(stack, &[10]);
    sample.attribute_indices = vec![thread];
    sample.timestamps_unix_nano = vec![5];
    builder
}

/// Asserts that a valid export is rejected after a change, with these words in the error.
#[track_caller]
fn assert_rejected(change: impl FnOnce(&mut Builder), parts: &[&str]) {
    let mut builder = sound();
    change(&mut builder);
    let error = builder.error();
    assert!(error.starts_with("a/file: byte "), "{error}");
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

#[test]
fn rejects_invalid_indices() {
    assert_rejected(
        |b| b.dictionary.function_table[1].name_strindex = 99,
        &["string 99 of a string table that has "],
    );
    assert_rejected(
        |b| b.profiles[0].samples[0].stack_index = 9,
        &["the stack 9, which the file does not have"],
    );
    assert_rejected(
        |b| b.profiles[0].samples[0].stack_index = -1,
        &["the stack 18446744073709551615"],
    );
    assert_rejected(
        |b| b.profiles[0].samples[0].attribute_indices = vec![9],
        &["the attribute 9"],
    );
    assert_rejected(
        |b| b.dictionary.stack_table[1].location_indices[0] = 0,
        &["the location 0"],
    );
    assert_rejected(
        |b| b.dictionary.location_table[1].mapping_index = 3,
        &["the mapping 3"],
    );
    assert_rejected(
        |b| b.dictionary.location_table[1].lines[0].function_index = 9,
        &["the function 9"],
    );
    assert_rejected(
        |b| b.dictionary.attribute_table[1].key_strindex = 99,
        &["string 99"],
    );
    assert_rejected(
        |b| {
            b.dictionary
                .mapping_table
                .push(sto_test_support::otlp::Mapping {
                    attribute_indices: vec![77],
                    ..Default::default()
                })
        },
        &["the attribute 77"],
    );
    assert_rejected(|b| b.dictionary.string_table.clear(), &["without strings"]);
}

#[test]
fn rejects_impossible_values() {
    let samples = |b: &mut Builder| b.profiles[0].samples.clone();
    assert_rejected(
        |b| b.profiles[0].samples[0].values = vec![-1],
        &["the value -1; expected 0 or more"],
    );
    assert_rejected(
        |b| b.profiles[0].samples[0].values = vec![1, 2],
        &["a sample of 2 values and 1 times; expected as many"],
    );
    assert_rejected(
        |b| {
            let mut empty = samples(b);
            empty[0].values.clear();
            empty[0].timestamps_unix_nano.clear();
            b.profiles[0].samples.extend(empty);
        },
        &["a sample without values and times"],
    );
}

#[test]
fn recognises_older_versions() {
    let mut data = sound().data();
    data.dictionary = None;
    let without = data.encode_to_vec();
    let with_list = with_profile(&sound(), &part(3, &[1, 2]));
    for (bytes, found) in [
        (without, "no dictionary, as before"),
        (with_list, "a profile with a list instead of its time"),
    ] {
        let error = read(&bytes).unwrap_err();
        for part in [found, "versions 1.9 to 1.11 are read"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn rejects_concatenated_files() {
    let bytes = sound().data().encode_to_vec();
    let error = read(&[&bytes[..], &bytes].concat()).unwrap_err();
    assert!(error.contains("a second dictionary"), "{error}");
}

#[test]
fn rejects_an_export_without_samples() {
    let mut builder = sound();
    builder.profiles[0].samples.clear();
    assert!(
        builder.error().contains("no samples"),
        "{}",
        builder.error()
    );
}

#[test]
fn rejects_truncated_files() {
    let bytes = sound().data().encode_to_vec();
    for end in 1..bytes.len() {
        assert!(
            read_named(&bytes[..end]).is_err(),
            "{end} of {}",
            bytes.len()
        );
    }
}

#[test]
fn limits_the_memory_for_small_files() {
    let mut builder = Builder::new("samples", "count");
    // A million references to a location with thousands of functions.
    let many = builder.location(&["f"; 5_000], &[]);
    builder.dictionary.stack_table.push(Stack {
        location_indices: vec![many; 1_000_000],
    });
    builder.sample(1, &[1]);
    let error = builder.error();
    assert!(
        error.contains("frames, including inlined functions")
            && error.contains("for stacks of a file of"),
        "{error}"
    );
}

pub(crate) fn read_named(bytes: &[u8]) -> Result<usize, String> {
    let named = ReadOptions {
        format: Some(Format::Otlp),
        ..ReadOptions::default()
    };
    let read = read_bytes(Path::new("a/file"), bytes, &named);
    read.map(|recording| recording.samples.len())
        .map_err(|error| error.to_string())
}
