//! Summing samples while they are read.

use std::fs;
use std::path::{Path, PathBuf};
use sto_core::formats::{ReadOptions, read};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::{Format, Recording};
use sto_core::store::Store;

/// The content id and the metadata of the profile of a recording.
fn ingested(path: &Path, recording: Recording) -> String {
    let options = IngestOptions {
        executable: Some("app".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    let ingested = ingest(&store, (path, recording), &options, &mut |_| {}).unwrap();
    let of = &ingested.profiles[0];
    format!(
        "{} {:?} {:?} {:?} {:?} {:?}",
        of.id, of.profile, of.totals, of.metrics, of.calls, ingested.warnings
    )
}

fn files_below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_below(&path, found)
        } else {
            found.push(path)
        }
    }
}

#[test]
fn profile_does_not_depend_on_summing_samples() {
    let mut files = Vec::new();
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    files_below(&testdata, &mut files);
    let read = |path: &Path, sum_samples| {
        let options = ReadOptions {
            sum_samples,
            ..ReadOptions::default()
        };
        read(path, &options)
    };
    let mut fewer = 0;
    for path in &files {
        let Ok(single) = read(path, false) else {
            continue;
        };
        // These samples are never summed, and symbolizing them takes long.
        if single.format == Format::PerfData {
            continue;
        }
        let summed = read(path, true).unwrap();
        fewer += u32::from(summed.samples.len() < single.samples.len());
        let name = path.strip_prefix(&testdata).unwrap();
        let (single, summed) = (ingested(path, single), ingested(path, summed));
        assert_eq!(single, summed, "{}", name.display());
    }
    assert!(fewer > 30, "of {fewer} files, samples were summed");
}
