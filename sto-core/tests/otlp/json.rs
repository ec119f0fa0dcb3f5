//! Exports in JSON are read like Protocol Buffers; errors have the JSON path.

use super::bad::{read_named, sound};
use super::build::{Builder, read};
use crate::common::labels_of;
use proptest::prelude::*;
use prost::Message;
use std::fmt::Write;
use sto_core::formats::Format;
use sto_core::recording::Recording;
use sto_core::units::Nanoseconds;
use sto_test_support::otlp::{List, Mapping, Value};

/// The contents of a recording without the identity of its file.
fn content(recording: Recording) -> String {
    let recording = recording.edit(|recording| {
        recording.source = sto_core::id::RecordingDigest::hash_bytes(b"");
        recording.source_bytes.0 = 0;
    });
    format!("{:?}", recording.unwrap())
}

#[track_caller]
fn assert_alike(builder: &Builder) {
    let json = builder.json();
    let recordings = [json.as_bytes(), &builder.data().encode_to_vec()].map(read);
    let [json, protobuf] = recordings.map(|read| read.map(content));
    // They differ in the place.
    let problem = |error: String| error.rsplit_once(": ").map(|(_, end)| end.to_owned());
    assert_eq!(json.map_err(problem), protobuf.map_err(problem));
}

#[track_caller]
fn replaced(from: &str, to: &str) -> String {
    let json = sound().json();
    assert_eq!(json.matches(from).count(), 1, "{from} in {json}");
    json.replace(from, to)
}

#[track_caller]
fn error_of(json: &str) -> String {
    let error = read(json.as_bytes()).unwrap_err();
    assert!(error.starts_with("a/file: "), "{error}");
    assert!(error.len() < 400 && !error.contains('\x1b'), "{error}");
    error
}

#[test]
fn attributes_of_every_type_equal_protocol_buffers() {
    let mut builder = sound();
    let values = [
        Value::Text("\u{1f600} \"quoted\"".to_owned()),
        Value::Bool(true),
        Value::Bool(false),
        Value::Number(i64::MIN),
        Value::Fraction(-0.5),
        Value::List(List::default()),
        Value::Bytes(b"\xff\x00?>".to_vec()),
        Value::TextAt(1),
    ];
    let indices = values.iter().enumerate();
    let indices = indices.map(|(ix, value)| builder.attribute(&format!("key {ix}"), value.clone()));
    let indices: Vec<i32> = indices.collect();
    builder.profiles[0].samples[0].attribute_indices = indices;
    let recording = read(builder.json().as_bytes()).unwrap();
    assert_eq!(
        labels_of(&recording.threads[0]),
        "key 0=\u{1f600} \"quoted\" key 1=true key 2=false key 3=-9223372036854775808 key 4=-0.5 \
         key 6=\u{fffd}\0?> key 7=cpu"
    );
    assert_alike(&builder);
}

#[test]
fn accepts_string_numbers_null_fields_and_unknown_names() {
    let expected = content(read(sound().json().as_bytes()).unwrap());
    for (from, to) in [
        (r#""values":[10]"#, r#""values":["10"]"#),
        (r#""stackIndex":1"#, r#""stackIndex":"1""#),
        (
            r#""timestampsUnixNano":[5]"#,
            r#""timestampsUnixNano":["5"]"#,
        ),
        (
            r#""periodType":null"#,
            r#""other":{"a":[{}]},"periodType":null"#,
        ),
        (r#""periodType":null,"#, ""),
        (r#""resource":{"#, "\n\t\"resource\" : {"),
        (r#""linkIndex":0"#, r#""linkIndex":"what is not read""#),
    ] {
        let read = read(replaced(from, to).as_bytes()).unwrap();
        assert_eq!(content(read), expected, "{to}");
    }
}

#[test]
fn detects_exports_by_their_first_key() {
    let json = sound().json();
    let dictionary = json.find(r#""dictionary""#).unwrap();
    let turned = format!(
        "{{{},{}}}",
        &json[dictionary..json.len() - 1],
        &json[1..dictionary - 1]
    );
    assert!(turned.starts_with(r#"{"dictionary":{"#));
    for json in [json, turned] {
        assert_eq!(read(json.as_bytes()).unwrap().format, Format::Otlp);
    }
    let error = read(br#"{"dictionary":{"a":1}}"#).unwrap_err();
    assert!(error.contains("not a profile that sto can read"), "{error}");
}

#[test]
fn concatenated_exports_are_one_recording() {
    let with = |first_module: &str, time: u64| {
        let mut builder = sound();
        for path in [first_module, "/lib/both.so"] {
            let filename_strindex = builder.string(path);
            builder.dictionary.mapping_table.push(Mapping {
                filename_strindex,
                ..Mapping::default()
            });
        }
        let key = builder.attribute("key", Value::Text(first_module.to_owned()));
        let location = builder.location(&[], &[]) as usize;
        builder.dictionary.location_table[location].mapping_index = 2;
        builder.dictionary.location_table[location].address = 64;
        let profile = &mut builder.profiles[0];
        (profile.time_unix_nano, profile.duration_nano) = (time, 7);
        profile.samples[0].timestamps_unix_nano = vec![time];
        profile.samples[0].attribute_indices.push(key);
        builder.dictionary.stack_table[1].location_indices = vec![location as i32];
        builder
    };
    let (late, early) = (with("/bin/late", 30), with("/bin/early", 10));
    let json = format!("{}\n\n {}\n", late.json(), early.json());
    let recording = read(json.as_bytes()).unwrap();
    let modules: Vec<_> = recording
        .modules
        .iter()
        .map(|module| &*module.path)
        .collect();
    assert_eq!(modules, ["/bin/late", "/lib/both.so", "/bin/early"]);
    let times = recording.samples.iter().map(|sample| sample.time);
    assert!(times.eq([10, 30].map(|time| Some(Nanoseconds(time)))));
    assert_eq!(recording.stacks.len(), 1, "an address of the same file");
    assert_eq!(recording.sample_types.len(), 1);
    assert_eq!(recording.processes.len(), 1);
    let labels: Vec<_> = recording.threads.iter().map(labels_of).collect();
    assert_eq!(labels, ["key=/bin/late", "key=/bin/early"]);
    let spanned = "from the start of the first to the end of the last";
    assert_eq!(
        recording.origin.duration,
        Some(Nanoseconds(27)),
        "{spanned}"
    );
}

#[test]
fn reports_invalid_indices_with_line_and_path() {
    let sample = "resourceProfiles[0].scopeProfiles[0].profiles[0].samples[0]";
    for (from, to, path, problem) in [
        (
            r#""stackIndex":1"#,
            r#""stackIndex":9"#,
            sample,
            "the stack 9, which",
        ),
        (
            r#""locationIndices":[1,2]"#,
            r#""locationIndices":[9]"#,
            sample,
            "the location 9",
        ),
        (
            r#"{"typeStrindex":1,"unitStrindex":2}"#,
            r#"{"typeStrindex":1,"unitStrindex":99}"#,
            "resourceProfiles[0].scopeProfiles[0].profiles[0].sampleType.unitStrindex",
            "string 99 of a string table that has",
        ),
        (
            r#""lines":[{"functionIndex":2,"#,
            r#""lines":[{"functionIndex":7,"#,
            "dictionary.locationTable[2].lines[0]",
            "the function 7",
        ),
    ] {
        let json = format!("{}\n{}", sound().json(), replaced(from, to));
        let error = error_of(&json);
        let expected = format!("a/file: line 2, {path}: ");
        assert!(error.starts_with(&expected), "{expected} in {error}");
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn reports_wrong_types_with_their_place() {
    for (from, to, problem) in [
        (
            r#""stackIndex":1"#,
            r#""stackIndex":1.5"#,
            "expected a whole number of 64 bits",
        ),
        (
            r#""stackIndex":1"#,
            r#""stackIndex":"1x""#,
            "expected a whole number of 64 bits",
        ),
        (
            r#""stackIndex":1"#,
            r#""stackIndex":true"#,
            "expected a whole number of 64 bits",
        ),
        (
            r#""stackIndex":1"#,
            r#""stackIndex":{}"#,
            "expected a whole number of 64 bits",
        ),
        (r#""values":[10]"#, r#""values":10"#, "expected a list"),
        (
            r#""values":[10]"#,
            r#""values":[null]"#,
            "invalid type: null",
        ),
        (
            r#""values":[10]"#,
            r#""values":["18446744073709551616"]"#,
            "64 bits",
        ),
        (
            r#""timestampsUnixNano":[5]"#,
            r#""timestampsUnixNano":[-5]"#,
            "from 0 to 2^64",
        ),
        (
            r#""stringTable":["""#,
            r#""stringTable":[null"#,
            "expected a string",
        ),
        (
            r#"{"stringValue":"worker"}"#,
            r#"{"bytesValue":"!"}"#,
            "a string in base64",
        ),
        (
            r#"{"stringValue":"worker"}"#,
            r#"{"boolValue":"yes"}"#,
            "true or false",
        ),
        (
            r#"{"stringValue":"worker"}"#,
            r#""\u001b[31m worker""#,
            "expected an object",
        ),
    ] {
        let json = replaced(from, to);
        let error = error_of(&json);
        let at = error.strip_prefix("a/file: byte ").expect(&error);
        let at: usize = at.split_once(':').unwrap().0.parse().unwrap();
        let changed = json.find(to).unwrap();
        assert!(
            (changed..=changed + to.len()).contains(&at),
            "{at}: {error}"
        );
        assert!(error.contains(problem), "{error}");
    }
}

#[test]
fn recognises_older_exports() {
    for (from, to, found) in [
        (
            r#""sampleType":{"#,
            r#""sampleType":[{"typeStrindex":0}],"other":{"#,
            "sampleType is a list",
        ),
        (
            r#""keyStrindex":3"#,
            r#""key":"thread.name""#,
            "an attribute with a text as key",
        ),
        (r#""dictionary":"#, r#""other":"#, "no dictionary"),
    ] {
        let error = error_of(&replaced(from, to));
        for part in [found, "versions 1.9 to 1.11 are read", "Record again"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn rejects_truncated_files() {
    let line = sound().json();
    let json = format!("{line}\n{line}");
    for end in 1..json.len() {
        // Between the two is a complete file.
        let is_whole = (line.len()..=line.len() + 1).contains(&end);
        assert_eq!(
            read_named(&json.as_bytes()[..end]).is_ok(),
            is_whole,
            "{end}"
        );
    }
    let error = error_of(&json[..json.len() - 10]);
    assert!(error.contains("in the middle of its JSON"), "{error}");
}

#[test]
fn rejects_deeply_nested_lists() {
    for open in ["[", "{\"arrayValue\":", "[{\"value\":"] {
        let mut json = sound().json();
        json.truncate(json.find(r#"{"stringValue":"worker"}"#).unwrap());
        write!(json, "{}", open.repeat(100_000)).unwrap();
        error_of(&json);
    }
}

prop_compose! {
    /// An export, valid or with invalid indices.
    fn export()(
        names in prop::collection::vec("\\PC{0,5}", 1..4),
        samples in prop::collection::vec((0..6i32, prop::collection::vec(any::<i64>(), 0..3), any::<bool>()), 1..5),
        number in any::<i64>(),
        (time, duration, address) in any::<(u64, u64, u64)>(),
    ) -> Builder {
        let mut builder = Builder::new(&names[0], "count");
        let attributes = [
            builder.attribute("process.pid", Value::Number(number)),
            builder.attribute(names.last().unwrap(), Value::Text(names.concat())),
        ];
        for name in &names {
            builder.stack(&format!("main;{name}"));
        }
        builder.dictionary.location_table[1].address = address;
        for (stack, values, has_times) in &samples {
            let sample = builder.sample(*stack, values);
            sample.attribute_indices = attributes[..values.len().min(2)].to_vec();
            if *has_times {
                sample.timestamps_unix_nano = values.iter().map(|value| value.unsigned_abs()).collect();
            }
        }
        (builder.profiles[0].time_unix_nano, builder.profiles[0].duration_nano) = (time, duration);
        builder
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn json_equals_protocol_buffers(builder in export()) {
        // This makes the numbering unambiguous in Protocol Buffers.
        let mut builder = builder;
        for sample in &mut builder.profiles[0].samples {
            sample.link_index = 1;
        }
        assert_alike(&builder);
    }
}
