//! Malformed recordings: errors with an offset, never a panic or a partial profile.

use super::build::{
    Chunk, Pool, checkpoint, event, header, number, numbers, read, read_cut, shown, text,
};
use super::types::with_types;
use sto_core::limits::{MAX_DEPTH, MAX_NAME};

#[track_caller]
fn error_of(bytes: &[u8]) -> String {
    let error = read(bytes).expect_err("not a recording").to_string();
    assert!(error.starts_with("a/file: "), "{error}");
    error
}

#[track_caller]
pub(crate) fn assert_rejected(bytes: &[u8], parts: &[&str]) {
    let error = error_of(bytes);
    for part in parts {
        assert!(error.contains(part), "`{part}` is missing in: {error}");
    }
}

/// A valid chunk after a change.
pub(crate) fn changed(change: impl FnOnce(&mut Chunk)) -> Vec<u8> {
    let mut chunk = Chunk::sound();
    change(&mut chunk);
    chunk.bytes()
}

/// A valid chunk with other bytes at an offset of its header.
fn with_header(offset: usize, bytes: &[u8]) -> Vec<u8> {
    let mut file = Chunk::sound().bytes();
    file[offset..offset + bytes.len()].copy_from_slice(bytes);
    file
}

#[test]
fn rejects_truncated_chunks() {
    let whole = Chunk::sound().bytes();
    for end in 4..whole.len() {
        assert_rejected(
            &whole[..end],
            &[
                "truncated: the chunk at byte 0 ends at",
                "cannot be read without the rest",
            ],
        );
        assert!(read_cut(&whole[..end]).is_err(), "no whole chunk is left");
    }
}

#[test]
fn keeps_complete_chunks_of_a_truncated_file_if_allowed() {
    let first = Chunk::sound().bytes();
    let both = [first.as_slice(), &first].concat();
    for end in first.len() + 1..both.len() {
        let cut = &both[..end];
        assert_rejected(
            cut,
            &[
                "truncated",
                &format!("the chunk at byte {}", first.len()),
                "or read the part before the cut",
            ],
        );
        let kept = read_cut(cut).unwrap();
        assert_eq!(shown(&kept), shown(&read(&first).unwrap()));
        let warning = format!(
            "It ends within the chunk at byte {}, which was left out",
            first.len()
        );
        assert!(
            kept.warnings[0].starts_with(&warning),
            "{:?}",
            kept.warnings
        );
    }
}

#[test]
fn rejects_other_data_after_a_chunk() {
    let file = [Chunk::sound().bytes(), b"something".to_vec()].concat();
    assert_rejected(&file, &["expected a chunk, which begins with `FLR\\0`"]);
}

#[test]
fn rejects_invalid_headers() {
    assert_rejected(
        &with_header(8, &[0; 8]),
        &["byte 8", "a chunk of 0 bytes; expected 68"],
    );
    assert_rejected(&with_header(8, &[0xff; 8]), &["truncated"]);
    assert_rejected(
        &with_header(16, &[0; 8]),
        &[
            "byte 16",
            "a chunk that has no constants yet; was the recording process killed?",
        ],
    );
    assert_rejected(
        &with_header(16, &[0xff; 8]),
        &["the constants at byte 18446744073709551615"],
    );
    assert_rejected(
        &with_header(24, &[0x7f; 8]),
        &["the types at byte 9187201950435737471"],
    );
    assert_rejected(&with_header(56, &[0; 8]), &["0 ticks a second"]);
    assert_rejected(&with_header(56, &[0xff; 8]), &["-1 ticks a second"]);
}

#[test]
fn names_unsupported_chunk_versions() {
    assert_rejected(&with_header(4, &[0, 1, 0, 0]), &["version 1.0", "JDK 11"]);
    assert_rejected(&with_header(4, &[0, 3]), &["version 3.1"]);
    assert_rejected(&with_header(67, &[0]), &["not compressed"]);
}

#[test]
fn rejects_empty_and_oversized_events() {
    for size in [0, 1, -1, i64::MIN, 1 << 40] {
        let file = changed(|chunk| chunk.events[1] = number(size));
        assert_rejected(&file, &[&format!("an event of {size} bytes")]);
    }
}

#[test]
fn rejects_values_past_the_end_of_their_event() {
    let file = changed(|chunk| chunk.events[1] = event(101, &numbers(&[5, 1])));
    assert_rejected(&file, &["expected a value that ends by byte"]);
}

#[test]
fn counts_missing_constants_as_unknown() {
    let without = |of: i64, key: i64| {
        let file = changed(|chunk| {
            chunk
                .pool(of)
                .constants
                .retain(|constant| constant.0 != key)
        });
        read(&file).unwrap()
    };
    let trace = without(26, 1);
    assert_eq!(
        shown(&trace),
        ["jdk.ExecutionSample main: [unknown] (unresolved) 1 10000000 ns"]
    );
    assert!(
        trace.warnings[0].starts_with("1 stacks and methods"),
        "{:?}",
        trace.warnings
    );
    let method = without(28, 2);
    assert!(shown(&method)[0].contains("a.A.main (interpreted);[unknown] (unresolved) "));
    assert!(
        method.warnings[0].starts_with("1 stacks and methods"),
        "{:?}",
        method.warnings
    );
    assert!(
        shown(&without(31, 3))[0].contains(";a.A (interpreted) "),
        "a method without a name"
    );
    assert!(shown(&without(21, 1))[0].contains("main (interpreted);leaf (interpreted) "));
    assert!(shown(&without(22, 1))[0].starts_with("jdk.ExecutionSample : "));
}

#[test]
fn rejects_self_referential_constants() {
    let file = changed(|chunk| {
        *chunk.fields(31) = vec!["string 31*".to_owned()];
        chunk.pool(31).constants = vec![(1, number(2)), (2, number(1)), (3, number(3))];
    });
    assert_rejected(&file, &["byte ", "that refers to itself"]);
    let file = changed(|chunk| {
        let strings = Pool::new(20, &[(1, [2, 1].to_vec())]);
        chunk.constants[0].push(strings);
        chunk.pool(31).constants[1].1 = [2, 1].to_vec();
    });
    assert_rejected(&file, &["that refers to itself"]);
}

#[test]
fn rejects_constant_pools_that_do_not_point_backwards() {
    let types = Chunk::sound().bytes();
    let types = &types[u64::from_be_bytes(types[24..32].try_into().unwrap()) as usize..];
    for back in [1, i64::MAX, -69, i64::MIN] {
        let body = event(1, &checkpoint(back, &[]));
        let file = header(
            (68 + body.len() + types.len()) as i64,
            68,
            68 + body.len() as i64,
            &[&*body, types].concat(),
        );
        assert_rejected(&file, &["byte 68", &format!("found {back} bytes")]);
    }
}

#[test]
fn rejects_wrong_offsets_of_constants_and_types() {
    let file = Chunk::sound().bytes();
    assert_rejected(
        &with_header(16, &68_u64.to_be_bytes()),
        &["expected constants, an event of type 1, found type 103"],
    );
    assert_rejected(
        &with_header(24, &file[16..24]),
        &["expected the chunk's types, an event of type 0, found type 1"],
    );
}

#[test]
fn rejects_impossible_counts_before_allocating() {
    for count in [-1, i64::MIN, i64::MAX, 1 << 40] {
        let expected = ["byte ", &format!("found {count}")];
        assert_rejected(
            &changed(|chunk| chunk.pool(31).count = Some(count)),
            &expected,
        );
        let frames = [&[0], &*number(count)].concat();
        assert_rejected(
            &changed(|chunk| chunk.pool(26).constants[0].1 = frames),
            &expected,
        );
        let name = [&[3], &*number(count)].concat();
        assert_rejected(
            &changed(|chunk| chunk.pool(31).constants[0].1 = name),
            &expected,
        );
        let units = [&[4], &*number(count)].concat();
        assert_rejected(
            &changed(|chunk| chunk.pool(31).constants[0].1 = units),
            &expected,
        );
        assert_rejected(&with_types(&numbers(&[count])), &expected);
        assert_rejected(
            &with_types(&[numbers(&[1]), text("root"), numbers(&[0, count])].concat()),
            &expected,
        );
        assert_rejected(
            &with_types(&[numbers(&[1]), text("root"), numbers(&[0, 0, count])].concat()),
            &expected,
        );
    }
}

#[test]
fn skips_any_number_of_empty_values_quickly() {
    let mut chunk = Chunk::sound();
    // Each type has two fields of the previous type.
    chunk.types.push(("Nothing0".to_owned(), 1000, vec![]));
    for id in 1001..1030 {
        let fields = [format!("a {}", id - 1), format!("b {}", id - 1)];
        chunk
            .types
            .push((format!("Nothing{id}"), id, fields.to_vec()));
    }
    chunk.fields(101).insert(0, "many 1029[]".to_owned());
    chunk.events[1] = event(101, &numbers(&[i64::MAX, 5, 1, 1]));
    assert_eq!(shown(&read(&chunk.bytes()).unwrap()).len(), 1);

    let frames = changed(|chunk| {
        chunk.fields(27).clear();
        chunk.pool(26).constants = vec![(1, [vec![0], number(i64::MAX)].concat())];
    });
    assert!(shown(&read(&frames).unwrap())[0].contains(": [unknown] (unresolved) 1 "));
}

#[test]
fn rejects_negative_and_missing_weights() {
    let negative = changed(|chunk| chunk.event(102, &numbers(&[5, 1, 1, -8])));
    assert_rejected(
        &negative,
        &[
            "byte ",
            "jdk.ObjectAllocationSample with the weight -8; expected 0 or more",
        ],
    );
    let without = changed(|chunk| {
        chunk.fields(102).pop();
        chunk.event(102, &numbers(&[5, 1, 1]));
    });
    assert_rejected(&without, &["without a number `weight`"]);
}

#[test]
fn rejects_impossible_object_weights() {
    let weighing = |weight: f32| {
        changed(|chunk| {
            let fields = [
                "startTime 11",
                "eventThread 22*",
                "stackTrace 26*",
                "size 11",
            ];
            let fields = [&fields[..], &["weight 6"]].concat();
            let fields = fields.into_iter().map(str::to_owned).collect();
            chunk.types.push(("float".to_owned(), 6, vec![]));
            let name = "datadog.ObjectSample".to_owned();
            chunk.types.push((name, 106, fields));
            let weight = weight.to_be_bytes();
            chunk.event(106, &[&*numbers(&[5, 1, 1, 1000]), &weight].concat());
        })
    };
    for weight in [-1.0, f32::NAN, f32::INFINITY, 1e17] {
        assert_rejected(
            &weighing(weight),
            &["ObjectSample of 1000 bytes that weighs "],
        );
    }
    let found = shown(&read(&weighing(2.5)).unwrap());
    assert!(
        found.iter().any(|line| line.ends_with(" 1 2500 bytes")),
        "{found:?}"
    );
}

#[test]
fn rejects_spans_that_overflow() {
    let file = changed(|chunk| {
        let fields = "startTime 11,duration 11,eventThread 22*,stackTrace 26*".split(',');
        let fields = fields.map(str::to_owned).collect();
        chunk.types.push(("jdk.ThreadPark".to_owned(), 105, fields));
        chunk.event(105, &numbers(&[5, i64::MAX, 1, 1]));
        chunk.span = Some(("jdk.ThreadPark.duration", "SECONDS"));
    });
    assert_rejected(&file, &["jdk.ThreadPark of more than 2^64 - 1 nanoseconds"]);
}

#[test]
fn ignores_times_that_overflow() {
    for ticks in [i64::MIN, -START_TICKS, i64::MAX, i64::MAX / 2] {
        let file = changed(|chunk| chunk.events[1] = event(101, &numbers(&[ticks, 1, 1])));
        let recording = read(&file).unwrap();
        assert_eq!(
            recording.samples[0].time.is_some(),
            ticks == i64::MAX / 2,
            "{ticks}"
        );
    }
}

/// More ticks than from 1970 to the start of the chunks.
const START_TICKS: i64 = super::build::TICKS_PER_SECOND + 1;

#[test]
fn rejects_a_too_deep_stack() {
    let mut frames = [&[0], &*number(MAX_DEPTH as i64 + 1)].concat();
    for _ in 0..=MAX_DEPTH {
        frames.extend([1, 7, 1]);
    }
    let file = changed(|chunk| chunk.pool(26).constants[0].1 = frames);
    assert_rejected(&file, &["a stack of 2097153 frames"]);
}

#[test]
fn repairs_invalid_and_long_names() {
    let file = changed(|chunk| chunk.pool(31).constants[2].1 = super::build::bytes(3, b"le\xffaf"));
    let recording = read(&file).unwrap();
    assert!(shown(&recording)[0].contains("a.A.le\u{fffd}af"));
    assert!(
        recording.warnings[0].contains("not valid UTF-8"),
        "{:?}",
        recording.warnings
    );
    for encoding in [3, 5] {
        let name = super::build::bytes(encoding, &vec![b'n'; 100_000]);
        let file = changed(|chunk| chunk.pool(31).constants[2].1 = name);
        let recording = read(&file).unwrap();
        let frames = crate::common::frames_of(&recording, &recording.samples[0]);
        assert!(frames[1].symbol.len() <= MAX_NAME && frames[1].symbol.ends_with('\u{2026}'));
        assert!(
            recording.warnings[0].contains("4096 bytes"),
            "{:?}",
            recording.warnings
        );
    }
}

#[test]
fn rejects_a_recording_without_samples() {
    assert_rejected(
        &changed(|chunk| chunk.events.clear()),
        &["holds no samples"],
    );
}
