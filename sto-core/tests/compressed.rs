//! Compressed profiles.

use crate::common::error_of;
use flate2::write::GzEncoder;
use std::io::{Read, Write};
use std::path::Path;
use sto_core::Hint;
use sto_core::formats::{FormatError, ReadOptions, read, read_bytes, read_stream};
use sto_core::recording::Recording;
use sto_core::units::Bytes;

const FOLDED: &[u8] = b"main;parse;read 3\nmain;parse 1\nmain;render 5\n";

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    zstd::encode_all(bytes, 1).unwrap()
}

/// Text that takes several blocks in each compression.
fn many_stacks() -> Vec<u8> {
    let lines = (0..20_000).map(|line| format!("main;f{};{}{line} 1\n", line % 7, "g".repeat(80)));
    lines.collect::<String>().into_bytes()
}

fn plain(bytes: &[u8]) -> Recording {
    read_bytes(Path::new("x"), bytes, &Default::default()).unwrap()
}

fn allowing(bytes: &[u8]) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("x"), bytes, &options)
}

#[test]
fn reads_utf16_text() {
    for text in [FOLDED.to_vec(), many_stacks()] {
        let expected = format!("{:?}", plain(&text));
        let text = String::from_utf8(text).unwrap();
        let units = || [0xfeff].into_iter().chain(text.encode_utf16());
        let little: Vec<u8> = units().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units()
            .flat_map(|unit| unit.swap_bytes().to_le_bytes())
            .collect();
        let marked = format!("\u{feff}{text}").into_bytes();
        for copy in [gzip(&little), little, big, marked] {
            assert_eq!(format!("{:?}", plain(&copy)), expected);
        }
    }
}

#[test]
fn compressed_copy_is_the_same_profile() {
    let not_finished =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/perf-data/zstd.perf.data");
    for bytes in [FOLDED.to_vec(), many_stacks()] {
        let expected = format!("{:?}", plain(&bytes));
        let twice = gzip(&zstd(&bytes));
        let members = [gzip(&bytes[..20]), gzip(&bytes[20..])].concat();
        for copy in [gzip(&bytes), zstd(&bytes), twice, members] {
            assert_eq!(format!("{:?}", plain(&copy)), expected);
            let stream = read_stream(Path::new("x"), &copy[..], &Default::default()).unwrap();
            assert_eq!(format!("{stream:?}"), expected);
        }
    }
    // Formats that are not read line by line give the same error, compressed or not.
    let mut perf_data = std::fs::read(not_finished).unwrap();
    perf_data[48..56].fill(0);
    assert_eq!(error_of(&gzip(&perf_data)), error_of(&perf_data));
}

#[test]
fn keeps_the_modification_time_of_compressed_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.folded.gz");
    std::fs::write(&path, gzip(FOLDED)).unwrap();
    let recording = read(&path, &Default::default()).unwrap();
    assert!(recording.origin.recorded.is_some());
}

#[test]
fn rejects_truncated_compressed_files_unless_allowed() {
    let bytes = many_stacks();
    for (copy, name) in [(gzip(&bytes), "gzip"), (zstd(&bytes), "zstd")] {
        let half = &copy[..copy.len() / 2];
        let message = error_of(half);
        let expected = format!(
            "a/file: truncated: its {name} data end early, after {} bytes",
            half.len()
        );
        assert!(message.starts_with(&expected), "{message}");
        let kept = allowing(half).unwrap();
        assert!((1..20_000).contains(&kept.samples.len()));
        let warnings = kept.warnings.join(
            "
",
        );
        assert!(warnings.contains("compressed data end early"), "{warnings}");
        assert!(warnings.contains("was left out: `main;f"), "{warnings}");
    }
}

#[test]
fn rejects_endless_lines() {
    let stream = b"main;work 1\n".chain(std::io::repeat(b'x'));
    let error = read_stream(Path::new("a/file"), stream, &Default::default()).unwrap_err();
    let message = error.to_string();
    assert!(
        message.starts_with("a/file: byte 12: a line of more than 256 MiB"),
        "{message}"
    );
}

#[test]
fn rejects_damaged_compressed_data() {
    let mut copy = gzip(&many_stacks());
    let middle = copy.len() / 2;
    copy[middle..middle + 100].fill(0xff);
    let message = error_of(&copy);
    assert!(
        message.contains("its gzip data are damaged near byte"),
        "{message}"
    );
    assert!(allowing(&copy).is_err());
}

/// `size` bytes in very few bytes of concatenated zstd frames.
fn bomb(size: usize) -> Vec<u8> {
    let zeros = zstd(&vec![0; 8 << 20]);
    [zstd(b"PERFILE2"), zeros.repeat(size >> 23)].concat()
}

#[test]
fn rejects_decompression_bombs_in_one_or_two_layers() {
    // One gigabyte, and 32 nested gigabytes, so that no layer alone exceeds the ratio.
    for bytes in [bomb(1 << 30), zstd(&bomb(32 << 30)), gzip(&bomb(32 << 30))] {
        assert!(bytes.len() < 200_000);
        let message = error_of(&bytes);
        assert!(
            message.contains("expand to more than 64 MiB, and 256 times as much as they are"),
            "{message}"
        );
        assert!(message.contains("allow its expanded size"), "{message}");
    }
}

#[test]
fn max_input_allows_larger_expansion() {
    let lines = format!("main;{} 3\n", "f".repeat(4000)).repeat(20_000);
    let bytes = zstd(lines.as_bytes());
    let refused = read_bytes(Path::new("x"), &bytes, &ReadOptions::default());
    assert_eq!(refused.unwrap_err().hint(), Some(Hint::RaiseMaxInput));
    let options = ReadOptions {
        max_input: Some(Bytes(100 << 20)),
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("x"), &bytes, &options).unwrap();
    assert_eq!(recording.samples.len(), 1);
}

#[test]
fn rejects_too_many_layers_of_compression() {
    let twice = gzip(&gzip(FOLDED));
    assert_eq!(plain(&twice).samples.len(), 3);
    let message = error_of(&gzip(&twice));
    assert!(
        message.contains("compressed more than 2 times over"),
        "{message}"
    );
}

#[test]
fn reads_an_empty_compressed_file_as_empty() {
    let message = error_of(&gzip(b""));
    assert!(
        message.starts_with("a/file: the file is empty"),
        "{message}"
    );
}
