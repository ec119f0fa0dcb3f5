//! Profiles in JSON slabs (JSLB) are read like JSON.

use super::firefox::{SAMPLES, profile};
use super::{read, stacks};
use flate2::Compression;
use flate2::read::GzEncoder;
use json_slabs::{Builder, SlabPlaceholder, SlabPrimitive};
use serde_json::{Value, json};
use std::io::Read;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::recording::Recording;

fn read_slabs(bytes: &[u8]) -> Result<Recording, String> {
    let read = read_bytes(Path::new("a/file"), bytes, &Default::default());
    read.map_err(|error| error.to_string())
}

/// A profile as the profiler's page saves it: arrays of numbers become slabs, libraries and names embedded JSON.
fn slabs(json: &str) -> Vec<u8> {
    let mut builder = Builder::new();
    let mut root = serde_json::from_str(json).unwrap();
    lift("", &mut root, &mut builder);
    builder.finish(root.to_string().as_bytes())
}

fn lift(key: &str, value: &mut Value, builder: &mut Builder<'_>) {
    match value {
        Value::Array(list) => {
            let whole = list.iter().map(|one| i32::try_from(one.as_i64()?).ok());
            let numbers = list.iter().map(Value::as_f64);
            if let Some(whole) = whole.collect::<Option<Vec<_>>>() {
                *value = placeholder(builder.add_slab_from_vec(whole));
            } else if let Some(numbers) = numbers.collect::<Option<Vec<_>>>() {
                *value = placeholder(builder.add_slab_from_vec(numbers));
            } else {
                list.iter_mut().for_each(|one| lift("", one, builder));
            }
        }
        Value::Object(members) => {
            for (key, member) in members {
                lift(key, member, builder);
            }
        }
        _ => {}
    }
    if matches!(key, "libs" | "stringArray") && value.is_array() {
        *value = placeholder(builder.add_json_slab(value.to_string().into_bytes()));
    }
}

fn placeholder(slab: SlabPlaceholder) -> Value {
    json!({ "$s": slab.index() })
}

fn sound() -> Vec<u8> {
    slabs(&profile(SAMPLES, str::to_owned))
}

/// A profile with these samples and one slab.
fn with_slab<T: SlabPrimitive>(samples: &str, numbers: &[T]) -> Result<Recording, String> {
    let mut builder = Builder::new();
    builder.add_slab(numbers);
    let json = profile(samples, str::to_owned);
    read_slabs(&builder.finish(json.as_bytes()))
}

#[test]
fn reference_crate_writes_the_slabs_of_the_test_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/firefox");
    let expected = slabs(&std::fs::read_to_string(folder.join("samply-75.json")).unwrap());
    let file = folder.join("samply-75.jslb");
    if std::env::var_os("STO_UPDATE_GOLDENS").is_some() {
        std::fs::write(&file, &expected).unwrap();
    }
    assert!(std::fs::read(file).unwrap_or_default() == expected);
}

#[test]
fn slabs_equal_json_even_compressed() {
    let json = profile(SAMPLES, str::to_owned);
    let expected = read(&json).unwrap();
    let (sound, mut compressed) = (sound(), Vec::new());
    let mut encoder = GzEncoder::new(&*sound, Compression::fast());
    encoder.read_to_end(&mut compressed).unwrap();
    for bytes in [&sound, &compressed] {
        let found = read_slabs(bytes).unwrap();
        assert_eq!(stacks(&found), stacks(&expected));
        assert_eq!(found.samples, expected.samples);
        assert_eq!(found.modules, expected.modules);
        assert_eq!(found.origin, expected.origin);
    }
}

#[test]
fn reads_arrays_of_every_type() {
    let samples = r#"{"stack":[0,1],"weight":{"$s":1},"weightType":"bytes"}"#;
    let read = [
        with_slab(samples, &[3i8, 100]),
        with_slab(samples, &[3u8, 100]),
        with_slab(samples, &[3i16, 100]),
        with_slab(samples, &[3u16, 100]),
        with_slab(samples, &[3i32, 100]),
        with_slab(samples, &[3u32, 100]),
        with_slab(samples, &[3i64, 100]),
        with_slab(samples, &[3u64, 100]),
        with_slab(samples, &[3f32, 100.0]),
        with_slab(samples, &[3f64, 100.0]),
    ];
    for read in read {
        assert_eq!(
            stacks(&read.unwrap()),
            [
                "bytes 1 3 bytes [helper]: main a.c:3",
                "bytes 1 100 bytes [helper]: main;libc.so.6!work",
            ]
        );
    }
    let largest = with_slab(samples, &[u64::MAX, 0]).unwrap();
    assert_eq!(largest.samples[0].cost.value, u64::MAX);
}

#[test]
fn reads_floating_point_slabs_as_integers() {
    let stack = r#"{"stack":{"$s":1},"time":[0,1]}"#;
    let found = with_slab(stack, &[1.0, -1.0]).unwrap();
    assert_eq!(
        stacks(&found),
        [
            "samples 1 1 samples [helper]: [unknown] (unresolved)",
            "samples 1 1 samples [helper]: main;libc.so.6!work",
        ]
    );
    let deltas = r#"{"stack":[0,1],"time":[0,1],"threadCPUDelta":{"$s":1}}"#;
    let found = with_slab(deltas, &[f64::NAN, 2.0]).unwrap();
    assert_eq!(
        stacks(&found)[0],
        "cpu 1 2000 ns [helper]: main;libc.so.6!work"
    );
}

#[test]
fn ignores_lookalikes_of_placeholders() {
    let json = profile(SAMPLES, |text| {
        let text = text.replace(r#""work""#, r#""{\"$s\":1}""#);
        text.replacen(
            '{',
            r#"{"$s":1,"other":["$s",{"$s":"1"},{"$s":1,"a":1}],"#,
            1,
        )
    });
    let found = read_slabs(&Builder::new().finish(json.as_bytes())).unwrap();
    let stacks = stacks(&found);
    assert!(
        stacks[2].ends_with(r#"main;libc.so.6!{"$s":1}"#),
        "{stacks:?}"
    );
}

#[test]
fn reports_missing_slabs_by_number() {
    let samples = r#"{"stack":{ "$s" : 2 }}"#;
    let error = with_slab(samples, &[0]).unwrap_err();
    assert_eq!(
        error,
        "a/file: slab 2: the file has 2, from 0 on; was it edited? Save it as JSON"
    );
}

#[test]
fn rejects_recursive_slabs() {
    let of = |slabs: &[&str]| {
        let mut builder = Builder::new();
        for slab in slabs {
            builder.add_json_slab(slab.as_bytes().to_vec());
        }
        read_slabs(&builder.finish(br#"{"meta":{"$s":1}}"#)).unwrap_err()
    };
    let doubling: Vec<String> = (2..60)
        .map(|ix| format!(r#"{{"$s":{ix}}}{{"$s":{ix}}}"#))
        .collect();
    let doubling: Vec<&str> = doubling.iter().map(String::as_str).chain([""]).collect();
    for slabs in [
        &[r#"{"$s":1}"#][..],
        &[r#"[{"$s":2}]"#, r#"[{"$s":1}]"#],
        &doubling,
    ] {
        let error = of(slabs);
        assert!(error.contains("do they contain each other?"), "{error}");
    }
}

#[test]
fn reports_errors_with_the_json_path() {
    let mut builder = Builder::new();
    builder.add_slab(&[f64::NAN, 1.0]);
    let json = profile(r#"{"stack":[0,1],"time":{"$s":1}}"#, str::to_owned);
    let error = read_slabs(&builder.finish(json.as_bytes())).unwrap_err();
    assert!(error.starts_with("a/file: byte "), "{error}");
    assert!(
        error.contains(" of the JSON that its slabs make: "),
        "{error}"
    );
    let samples = r#"{"stack":{"$s":1},"time":[0,1]}"#;
    let error = with_slab(samples, &[0, 7]).unwrap_err();
    assert!(error.contains("threads[0].samples.stack[1]: 7;"), "{error}");
}

#[test]
fn rejects_truncated_files() {
    let bytes = sound();
    for end in 1..bytes.len() {
        let error = read_slabs(&bytes[..end]).unwrap_err();
        assert!(
            end < 8 || error.contains("in the middle of its slabs"),
            "{end}: {error}"
        );
    }
    let mut newer = bytes;
    newer[8] = 2;
    let error = read_slabs(&newer).unwrap_err();
    assert!(error.contains("unsupported version 2"), "{error}");
}
