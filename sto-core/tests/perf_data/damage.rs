//! Damaged recordings, and those of other machines.

use super::{error_of, read_testdata, testdata, try_read};
use std::path::Path;
use sto_core::formats::{FormatError, ReadOptions, read_bytes};
use sto_core::recording::Recording;

/// Reads a recording with `allow_truncated`.
fn try_read_part(bytes: &[u8]) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("part"), bytes, &options)
}

#[test]
fn keeps_complete_records_of_a_truncated_recording_if_allowed() {
    for name in [
        "demo/v1.perf.data",
        "perf-data/pipe.perf.data",
        "perf-data/zstd.perf.data",
    ] {
        let bytes = std::fs::read(testdata(name)).unwrap();
        let whole = try_read_part(&bytes).unwrap();
        assert_eq!(whole.warnings, read_testdata(name).warnings, "{name}");
        let part = &bytes[..bytes.len() * 2 / 3];
        assert!(matches!(
            read_bytes(Path::new("part"), part, &ReadOptions::default()),
            Err(FormatError::Truncated { .. })
        ));
        let kept = try_read_part(part).unwrap();
        assert!(
            (whole.samples.len() / 4..=whole.samples.len()).contains(&kept.samples.len()),
            "{name}: {} of {}",
            kept.samples.len(),
            whole.samples.len()
        );
        let warning = kept.warnings.last().unwrap();
        assert!(
            warning.starts_with("The file is cut off or damaged after byte"),
            "{warning}"
        );
        assert_eq!(kept.source_bytes.0, part.len() as u64);
    }
}

/// If perf is killed, it leaves the size of its data section zero.
#[test]
fn reads_a_recording_of_a_killed_perf() {
    let mut bytes = std::fs::read(testdata("demo/v1.perf.data")).unwrap();
    let samples = try_read_part(&bytes).unwrap().samples.len();
    let data_end = (bytes[40..48].iter().zip(&bytes[48..56]).rev())
        .fold(0usize, |sum, (at, size)| {
            (sum << 8) + usize::from(*at) + usize::from(*size)
        });
    bytes[48..56].fill(0);
    bytes.truncate(data_end);
    assert!(try_read_part(&bytes).unwrap().samples.len() == samples);
}

#[test]
fn rejects_big_endian_recordings() {
    let mut bytes = std::fs::read(testdata("perf-data/zstd.perf.data")).unwrap();
    bytes[..8].reverse();
    assert!(error_of("perf.data", &bytes).contains("big-endian"));
}

#[test]
fn rejects_an_unfinished_recording() {
    let mut bytes = std::fs::read(testdata("perf-data/zstd.perf.data")).unwrap();
    bytes[48..56].fill(0);
    let error = error_of("perf.data", &bytes);
    assert!(error.contains("perf was killed"), "{error}");
}

#[test]
fn rejects_truncation_anywhere() {
    for file in ["zstd.perf.data", "threads.perf.data", "pipe.perf.data"] {
        let bytes = std::fs::read(testdata("perf-data").join(file)).unwrap();
        let is_stream = file.starts_with("pipe");
        for cut in (9..bytes.len()).step_by(bytes.len() / 150) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            std::fs::write(&path, &bytes[..cut]).unwrap();
            match try_read(&path) {
                Err(error) => assert!(error.to_string().contains(file), "{file} {cut}: {error}"),
                // A stream that ends between two records cannot be distinguished from a whole one.
                Ok(_) => assert!(is_stream, "{file} was read although cut at {cut}"),
            }
        }
    }
}

#[test]
fn reports_actual_and_expected_size_of_a_truncated_file() {
    let bytes = std::fs::read(testdata("perf-data/threads.perf.data")).unwrap();
    let data_end = u64::from_le_bytes(bytes[40..48].try_into().unwrap())
        + u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    let expected = format!(
        "perf.data: truncated: the data section ends at byte {data_end}, but the file ends at \
         byte 5000; was the recording killed, or the copy cut short? Record or copy it again, or read the part before the cut"
    );
    assert_eq!(error_of("perf.data", &bytes[..5000]), expected);
}
