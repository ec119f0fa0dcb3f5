//! NonSequitur's text: folders with one file per thread, and single files.

use crate::common::folded;
use proptest::prelude::*;
use std::fs;
use std::io::Write;
use std::path::Path;
use sto_core::formats::{Format, ReadOptions, is_recording, read, read_bytes, read_stream};
use sto_core::ingest::{IngestOptions, prepare};
use sto_core::recording::Recording;
use sto_core::trace::CallRecord;

const FIRST: &str =
    "0 main 1000\n0 work 1010\n1 work 1030\n0 work 1060\n1 work 1080\n1 main 1100\n";
const SECOND: &str = "0 wait 990\n1 wait 1050\n";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read_folder(folder: &Path) -> Recording {
    read(folder, &ReadOptions::default()).unwrap()
}

#[test]
fn reads_a_folder_with_one_file_per_thread() {
    let folder = folder(&[
        ("run_12.txt", FIRST),
        ("run_3.txt", SECOND),
        ("run_4.txt", ""),
    ]);
    assert!(is_recording(folder.path()));
    let recording = read_folder(folder.path());
    assert_eq!(recording.format, Format::NonSequitur);
    assert_eq!(
        recording.source_bytes.0,
        (FIRST.len() + SECOND.len()) as u64
    );
    let calls = recording.calls.as_ref().unwrap();
    let threads: Vec<_> = calls
        .threads
        .iter()
        .map(|of| {
            (
                &*of.thread.name,
                of.thread.tid,
                of.calls,
                of.begin.0,
                of.end.0,
            )
        })
        .collect();
    assert_eq!(
        threads,
        [("run_3", 3, 1, 990, 1050), ("run_12", 12, 3, 1000, 1100)]
    );
    let first = &calls.threads[1].records;
    assert!(
        matches!(first[0], CallRecord::Call(call) if (call.begin.0, call.end.0) == (1000, 1100))
    );
    let costs = recording.samples.iter();
    let costs: Vec<_> = costs
        .map(|sample| {
            (
                sample.thread.0,
                sample.sample_type.0,
                sample.cost.samples,
                sample.cost.value,
            )
        })
        .collect();
    // `wait`, then `main` and `work`: first the self time, then the calls.
    let expected = [
        (0, 0, 1, 60),
        (0, 1, 1, 1),
        (1, 0, 1, 60),
        (1, 1, 1, 1),
        (1, 0, 2, 40),
        (1, 1, 2, 2),
    ];
    assert_eq!(costs, expected);
    assert_eq!(folded(&recording)[4], "main;work 2");
    assert_eq!(recording.warnings, [""; 0]);
}

#[test]
fn source_of_a_folder_depends_on_file_names_not_order() {
    let there = folder(&[("a1", FIRST), ("a2", SECOND)]);
    let other_order = folder(&[("a2", SECOND), ("a1", FIRST)]);
    let other_names = folder(&[("a1", SECOND), ("a2", FIRST)]);
    let source = |folder: &tempfile::TempDir| read_folder(folder.path()).source;
    assert_eq!(source(&there), source(&other_order));
    assert_ne!(source(&there), source(&other_names));
}

#[test]
fn files_with_different_extensions_are_separate_threads() {
    let folder = folder(&[("a.1", FIRST), ("a.2", SECOND)]);
    let recording = read_folder(folder.path());
    let calls = recording.calls.as_ref().unwrap();
    let names: Vec<_> = calls.threads.iter().map(|of| &*of.thread.name).collect();
    assert_eq!(names, ["a.2", "a.1"]);
}

#[test]
fn reads_compressed_files() {
    let plain = folder(&[("a", FIRST)]);
    let packed = tempfile::tempdir().unwrap();
    let mut file = fs::File::create(packed.path().join("a")).unwrap();
    file.write_all(&zstd::encode_all(FIRST.as_bytes(), 0).unwrap())
        .unwrap();
    assert!(is_recording(packed.path()));
    let [plain, packed] = [plain, packed].map(|folder| read_folder(folder.path()));
    assert_eq!(plain.source, packed.source);
    assert_eq!(plain.calls, packed.calls);
}

#[test]
fn reads_one_file_as_one_thread() {
    let recording = read_bytes(Path::new("t"), FIRST.as_bytes(), &ReadOptions::default()).unwrap();
    assert_eq!(recording.format, Format::NonSequitur);
    let threads = &recording.calls.as_ref().unwrap().threads;
    assert_eq!((threads.len(), threads[0].calls), (1, 3));
}

#[test]
fn rejects_folders_of_other_files() {
    for files in [
        &[("a", FIRST), ("notes.txt", "nothing to see\n")][..],
        &[("a", FIRST), ("b.folded", "main;work 3\n")],
        &[("a", "")],
        &[],
    ] {
        let folder = folder(files);
        assert!(!is_recording(folder.path()), "{files:?}");
        let error = read(folder.path(), &ReadOptions::default()).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with("a folder that is not one recording; name a file in it"),
            "{error}"
        );
    }
    let nested = folder(&[("a", FIRST)]);
    fs::create_dir(nested.path().join("more")).unwrap();
    assert!(!is_recording(nested.path()));
}

#[test]
fn reports_malformed_lines_with_file_and_number() {
    for (line, found) in [
        ("2 work 5", "`2 work 5`"),
        ("0 work", "`0 work`"),
        ("0  5", "`0  5`"),
        (
            "1 work 99999999999999999999",
            "`1 work 99999999999999999999`",
        ),
        ("1 work -5", "`1 work -5`"),
    ] {
        let mut text = FIRST.repeat(1000);
        text += line;
        text += "\n";
        let folder = folder(&[("a", &text), ("b", SECOND)]);
        let error = read(folder.path(), &ReadOptions::default())
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("/a: line 6001: expected `0` or `1`, a function"),
            "{error}"
        );
        assert!(error.ends_with(found), "{error}");
    }
}

#[test]
fn ignores_a_truncated_line_only_if_allowed() {
    let folder = folder(&[("a", "0 main 1000\n1 main 1100\n0 mai")]);
    let mut options = ReadOptions::default();
    let error = read(folder.path(), &options).unwrap_err().to_string();
    assert!(error.contains("the file ends within this line"), "{error}");
    options.allow_truncated = true;
    let recording = read(folder.path(), &options).unwrap();
    assert_eq!(recording.calls.as_ref().unwrap().threads[0].calls, 1);
    assert_eq!(
        recording.warnings,
        ["The last line of `a` has no line end, so it may be cut off and was left out."]
    );
}

#[test]
fn accepts_spaces_in_names_and_both_line_ends() {
    let text = "0 operator new(unsigned long) 10\r\n\n1 operator new(unsigned long) 20 \r\n";
    let folder = folder(&[("a", text)]);
    let recording = read_folder(folder.path());
    let symbols: Vec<_> = recording
        .named
        .iter()
        .map(|(_, frame)| frame.symbol)
        .collect();
    assert_eq!(symbols, ["operator new(unsigned long)"]);
    assert_eq!(recording.calls.as_ref().unwrap().threads[0].end.0, 20);
}

#[test]
fn rejects_times_with_other_characters_than_digits() {
    let mut line = b"0 work ".to_vec();
    line.extend([0xff; 19]);
    let options = ReadOptions {
        format: Some(Format::NonSequitur),
        ..ReadOptions::default()
    };
    let refused = read_bytes(Path::new("t"), &line, &options).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("expected `0` or `1`"), "{refused}");
    assert!(read_bytes(Path::new("t"), &line, &ReadOptions::default()).is_err());
}

#[test]
fn slices_equal_those_of_the_trace() {
    let folder = folder(&[("a1", FIRST), ("a2", SECOND)]);
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        slices: sto_core::tree::SliceCount::new(11),
        ..IngestOptions::default()
    };
    let prepared = prepare(folder.path(), &options, &mut |_| ()).unwrap();
    let slices = prepared.profiles()[0].interned.slices.as_ref().unwrap();
    assert_eq!((slices.grid.first().0, slices.grid.last().0), (990, 1100));
    // All time of `wait`, `main` and `work` is in the slices.
    let wall: u64 = slices.costs[0].iter().map(|of| of.cost.value).sum();
    assert_eq!(wall, 60 + 100);
    let in_slice_6: u64 = slices.costs[0]
        .iter()
        .filter(|of| of.slice.0 == 6)
        .map(|of| of.cost.value)
        .sum();
    // From time 1051 to 1061.
    assert_eq!(in_slice_6, 10);
}

proptest! {
    #[test]
    fn reads_memory_and_streams_alike(
        lines in prop::collection::vec("[01] ?[abc]? ?[0-9]{0,3}|[01] a [0-9]{1,3}", 1..200),
        cut in any::<bool>(),
    ) {
        let text = lines.join("\n");
        let options = ReadOptions {
            format: Some(Format::NonSequitur),
            allow_truncated: cut,
            ..ReadOptions::default()
        };
        let whole = read_bytes(Path::new("t"), text.as_bytes(), &options);
        let stream = read_stream(Path::new("t"), text.as_bytes(), &options);
        match (whole, stream) {
            (Ok(whole), Ok(stream)) => prop_assert_eq!(&whole.calls, &stream.calls),
            (whole, stream) => prop_assert_eq!(
                whole.map(|_| ()).unwrap_err().to_string(),
                stream.map(|_| ()).unwrap_err().to_string()
            ),
        }
    }
}
