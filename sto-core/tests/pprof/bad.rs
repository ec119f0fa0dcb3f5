//! Malformed files: errors with an offset, never a panic or a partial profile.

use super::build::{Builder, read};
use proptest::prelude::*;
use std::path::Path;
use sto_core::formats::{Format, ReadOptions, read_bytes};
use sto_core::limits::{MAX_DEPTH, MAX_SAMPLE_TYPES};
use sto_core::recording::Recording;
use sto_test_support::pprof::ValueType;

fn sound() -> Builder {
    let mut builder = Builder::cpu();
    let app = builder.mapping("/usr/bin/app", "");
    let main = builder.location(app, &[("main", "a.c", 1)]);
    let leaf = builder.location(app, &[("inner", "a.c", 1), ("outer", "b.c", 2)]);
    builder.sample(vec![leaf, main], &[1, 10]);
    builder.label("thread", "a", 0);
    builder
}

/// Reads bytes as a pprof profile, without detection.
fn read_named(bytes: &[u8]) -> Result<Recording, String> {
    let named = ReadOptions {
        format: Some(Format::Pprof),
        ..ReadOptions::default()
    };
    read_bytes(Path::new("a/file"), bytes, &named).map_err(|error| error.to_string())
}

/// The error of a valid profile after this change.
#[track_caller]
fn error_after(change: impl FnOnce(&mut sto_test_support::pprof::Profile)) -> String {
    let mut builder = sound();
    change(&mut builder.0);
    let error = builder.error();
    assert!(error.starts_with("a/file: "), "{error}");
    error
}

#[track_caller]
fn assert_rejected(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

#[test]
fn rejects_strings_outside_of_the_table() {
    let error = error_after(|profile| profile.function[0].name = 1000);
    assert_rejected(
        &error,
        &["byte ", "string 1000 of a string table that has "],
    );
    assert_rejected(
        &error_after(|p| p.function[0].filename = -1),
        &["string 18446744073709551615"],
    );
    assert_rejected(&error_after(|p| p.sample_type[1].unit = 99), &["string 99"]);
    assert_rejected(&error_after(|p| p.mapping[0].filename = 99), &["string 99"]);
    assert_rejected(
        &error_after(|p| p.sample[0].label[0].str = 99),
        &["string 99"],
    );
    assert_rejected(&error_after(|p| p.comment.push(99)), &["string 99"]);
}

#[test]
fn rejects_unknown_ids() {
    assert_rejected(
        &error_after(|p| p.sample[0].location_id[1] = 9),
        &["the location 9"],
    );
    assert_rejected(
        &error_after(|p| p.sample[0].location_id[1] = 0),
        &["the location 0"],
    );
    assert_rejected(
        &error_after(|p| p.location[1].line[0].function_id = 9),
        &["the function 9"],
    );
    assert_rejected(
        &error_after(|p| p.location[1].mapping_id = 9),
        &["the mapping 9"],
    );
}

#[test]
fn rejects_duplicate_ids_and_id_0() {
    assert_rejected(
        &error_after(|p| p.location[1].id = 1),
        &["the id 1 for the second time"],
    );
    assert_rejected(&error_after(|p| p.function[1].id = 0), &["the id 0"]);
}

#[test]
fn requires_one_value_per_sample_type() {
    assert_rejected(
        &error_after(|p| p.sample[0].value.truncate(1)),
        &["a sample of 1 values; expected 2"],
    );
    let many = vec![ValueType { r#type: 5, unit: 6 }; MAX_SAMPLE_TYPES + 1];
    assert_rejected(
        &error_after(|p| p.sample_type = many),
        &["1025 sample types", "1024"],
    );
}

#[test]
fn rejects_a_profile_without_sample_types_or_strings() {
    for (bytes, missing) in [
        (&b"\x32\x00"[..], "sample types"),
        (b"\x48\x01", "string table"),
    ] {
        assert_rejected(&read_named(bytes).unwrap_err(), &[missing]);
    }
}

#[test]
fn rejects_difference_profiles() {
    assert_rejected(
        &error_after(|p| p.sample[0].value[1] = -10),
        &["the value -10", "-diff_base"],
    );
    let mut builder = sound();
    builder.label("pprof::base", "true", 0);
    assert_rejected(&builder.error(), &["pprof::base", "difference of two"]);
}

#[test]
fn rejects_values_that_overflow_after_conversion() {
    let mut builder = Builder::new(&[("wall", "seconds")]);
    builder.stack("main", &[i64::MAX]);
    assert_rejected(
        &builder.error(),
        &["9223372036854775807 times 1000000000 ns"],
    );
}

#[test]
fn rejects_too_deep_stacks() {
    let mut builder = Builder::cpu();
    let fib = builder.location(0, &[("fib", "", 0)]);
    builder.sample(vec![fib; MAX_DEPTH + 1], &[1, 1]);
    assert_rejected(&builder.error(), &["2097153 frames"]);
}

/// A location is written once with all functions inlined there, and stacks can have it often.
#[test]
fn limits_the_memory_for_small_files() {
    let mut builder = Builder::cpu();
    let lines = vec![("fib", "", 0); 1_000];
    let many = builder.location(0, &lines);
    for depth in [1_500, 1_501, 1_502] {
        builder.sample(vec![many; depth], &[1, 1]);
    }
    assert!(builder.bytes().len() < 25_000, "{}", builder.bytes().len());
    assert_rejected(
        &builder.error(),
        &["have 4", "frames", "the limit is 4", "of a file of"],
    );
}

#[test]
fn limits_the_time_of_drop_patterns() {
    let mut builder = Builder::cpu();
    builder.stack("main", &[1, 1]);
    let repeats = builder.string("(a{1,1000}){1,1000}");
    builder.0.drop_frames = repeats;
    assert_rejected(
        &builder.error(),
        &["the frames to drop are not a valid regular expression"],
    );
}

#[test]
fn rejects_a_profile_without_samples() {
    assert_rejected(&error_after(|p| p.sample.clear()), &["holds no samples"]);
    assert_rejected(
        &error_after(|p| p.sample[0].value = vec![0, 0]),
        &["holds no samples"],
    );
}

#[test]
fn warns_about_invalid_utf8() {
    let bytes = sound().bytes();
    let at = bytes.windows(4).position(|four| four == b"main").unwrap();
    let mut bytes = bytes;
    bytes[at] = 0xff;
    let recording = read(&bytes).unwrap();
    assert!(
        recording
            .warnings
            .iter()
            .any(|warning| warning.contains("UTF-8"))
    );
}

#[test]
fn rejects_truncated_files() {
    let whole = sound().bytes();
    for end in 1..whole.len() {
        let error = read_named(&whole[..end]).expect_err("half a file");
        assert!(error.starts_with("a/file: "), "{end}: {error}");
        assert!(!error.contains("--allow-truncated"), "{end}: {error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn does_not_detect_text_as_a_profile(text in "[ -~\n]{1,40}") {
        if let Ok(recording) = read(text.as_bytes()) {
            prop_assert_ne!(recording.format, Format::Pprof);
        }
    }
}
