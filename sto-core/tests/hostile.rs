//! Hostile files give an error or a profile, never a panic, and take no more memory than their size
//! justifies.

use crate::common::{error_of, read_text};
use std::io::Write;
use std::path::Path;
use sto_core::formats::read_bytes;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::limits::{
    MAX_DEPTH, MAX_LABELS, MAX_NAME, MAX_PROCESS_NAME, MAX_SAMPLE_TYPES, MAX_USER_STRING,
};
use sto_core::recording::Recording;
use sto_core::store::Store;

fn testdata(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    std::fs::read(folder.join(name)).unwrap()
}

/// Reads testdata/perf-data/pipe.perf.data with more records at the end.
fn with_records(records: &[u8]) -> Result<Recording, String> {
    let bytes = [&*testdata("perf-data/pipe.perf.data"), records].concat();
    let read = read_bytes(Path::new("a/file"), &bytes, &Default::default());
    read.map_err(|error| error.to_string())
}

fn record(kind: u32, body: &[u8]) -> Vec<u8> {
    let size = u16::try_from(8 + body.len()).unwrap();
    let header = [&kind.to_le_bytes()[..], &[0, 0], &size.to_le_bytes()];
    [&header.concat(), body].concat()
}

const COMM: u32 = 3;
const FORK: u32 = 7;
const MMAP2: u32 = 10;
const COMPRESSED: u32 = 81;
/// More bytes than the `sample_id_all` fields that follow a record's own fields.
const SAMPLE_ID: [u8; 64] = [0; 64];

fn words<const N: usize>(words: [u32; N]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// `PERF_RECORD_MMAP2`: pid, tid, address, length, offset, device and inode, protection, flags, path.
fn executable_mapping(pid: u32, page: u32, path: &[u8]) -> Vec<u8> {
    let at = words([pid, pid, page << 12, 0, 4096, 0, 0, 0]);
    let file = words([8, 1, 1, 0, 0, 0, 5, 2]);
    record(MMAP2, &[&at, &file, path, &SAMPLE_ID].concat())
}

/// `PERF_RECORD_FORK`: pid, parent's pid, tid, parent's tid, time.
fn fork(pid: u32, parent: u32) -> Vec<u8> {
    let fields = words([pid, parent, pid, parent, 0, 0]);
    record(FORK, &[&*fields, &SAMPLE_ID].concat())
}

fn compressed(records: &[u8], times: usize) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    for _ in 0..times {
        encoder.write_all(records).unwrap();
    }
    let stream = encoder.finish().unwrap();
    let pieces = stream.chunks(60_000).map(|piece| record(COMPRESSED, piece));
    pieces.collect::<Vec<_>>().concat()
}

#[test]
fn limits_samples_from_few_compressed_bytes() {
    let many = compressed(&record(1000, &[0; 8]).repeat(1 << 16), 16);
    assert!(many.len() < 10_000, "{}", many.len());
    let message = with_records(&many).unwrap_err();
    assert!(message.contains("expand to more than 6"), "{message}");
    assert!(message.contains("the record at byte 46004"), "{message}");
    let few = compressed(&record(1000, &[0; 8]), 1 << 16);
    with_records(&few).unwrap();
}

#[test]
fn limits_expansion_of_compressed_records() {
    let large = record(1000, &vec![0; 65_520]);
    let message = with_records(&compressed(&large, 9000)).unwrap_err();
    assert!(
        message.contains("expand to more than 536870912 bytes in one round"),
        "{message}"
    );
}

#[test]
fn forked_processes_share_mappings() {
    let mappings = (1..=4096).map(|page| executable_mapping(7, page, b"/bin/x\0\0"));
    // Without sharing there would be 64 million.
    let forks = (0..16_384).flat_map(|child| {
        let child = 1000 + child;
        [fork(child, 7), executable_mapping(child, 9, b"/bin/y\0\0")]
    });
    let many: Vec<u8> = mappings.chain(forks).flatten().collect();
    let recording = with_records(&many).unwrap();
    let paths = recording.modules.iter().map(|module| &*module.path);
    assert_eq!(paths.filter(|path| path.starts_with("/bin/y")).count(), 1);
}

#[test]
fn truncates_long_names_of_perf_data() {
    let path = [b"/bin/", &[b'x'; 6000][..], &[0; 3]].concat();
    let comm = [&*words([7, 7]), &[b'y'; 6000], &[0; 8], &SAMPLE_ID].concat();
    let records = [record(COMM, &comm), executable_mapping(7, 1, &path)].concat();
    let recording = with_records(&records).unwrap();
    let longest = recording.modules.iter().map(|module| module.path.len());
    assert_eq!(longest.max(), Some(MAX_NAME));
}

#[test]
fn excerpts_are_one_short_printable_line() {
    let message = error_of(b"it's\x1b[31m\nred\xff");
    let excerpt = "it starts with `it's\\u{1b}[31m\\nred\u{fffd}`;";
    assert!(message.contains(excerpt), "{message}");
    let clef = "\u{1d11e}";
    let message = error_of(clef.repeat(1000).as_bytes());
    let excerpt = format!("it starts with `{}`...;", clef.repeat(60));
    assert!(message.contains(&excerpt), "{message}");
}

#[test]
fn truncates_long_thread_names() {
    let text = format!("{} 1 1.5: cycles:\n\t1 f (/x)\n", "é".repeat(1000));
    let recording = read_text(&text).unwrap();
    assert!(recording.threads[0].name.len() <= MAX_PROCESS_NAME);
    assert!(recording.threads[0].name.ends_with("éé…"));
    assert_eq!(recording.processes[0].program, recording.threads[0].name);
}

#[test]
fn rejects_too_many_events() {
    let sample = |event| format!("p 1 1.5: e{event}:\n\t1 f (/x)\n\n");
    let most: String = (0..MAX_SAMPLE_TYPES).map(sample).collect();
    assert_eq!(
        read_text(&most).unwrap().sample_types.len(),
        MAX_SAMPLE_TYPES
    );
    let message = error_of((most + &sample(MAX_SAMPLE_TYPES)).as_bytes());
    assert!(message.starts_with("a/file: line 3073: "), "{message}");
    assert!(message.contains("more than 1024 sample types"), "{message}");
}

#[test]
fn limits_the_depth_of_perf_script_stacks() {
    let text = |depth| format!("p 1 1.5: cycles:\n{}", "\t1 f (/x)\n".repeat(depth));
    let deep = read_text(&text(200_000)).unwrap();
    assert_eq!(deep.stacks.get(deep.samples[0].stack).len(), 200_000);
    let message = error_of(text(MAX_DEPTH + 1).as_bytes());
    assert!(message.contains("a stack of 2097153 frames"), "{message}");
}

#[test]
fn replaces_invalid_utf8_of_perf_script_with_one_warning() {
    let text = b"p\xff 1 1.5: cycles:\n\t1 f\xfe (/x)\n\t2 g\xfd (/y\xfc)\n\n";
    let recording = read_bytes(Path::new("x"), text, &Default::default()).unwrap();
    let about = recording
        .warnings
        .iter()
        .filter(|warning| warning.contains("UTF-8"));
    assert_eq!(about.count(), 1, "{:?}", recording.warnings);
}

#[test]
fn rejects_samples_with_malformed_periods_or_times() {
    for header in [
        "p 1 1.5: -7 cycles:",
        "p 1 NaN: 7 cycles:",
        "p 1 1.5: 18446744073709551616 cycles:",
    ] {
        let text = format!("p 1 1.0: 1 cycles:\n\t1 f (/x)\n\n{header}\n\t1 f (/x)\n");
        match read_text(&text) {
            Err(error) => assert!(
                error.to_string().contains("line 4: expected a sample"),
                "{error}"
            ),
            // Arbitrary text may follow a time if there is no event.
            Ok(recording) => assert_eq!(recording.samples[1].cost.value, 1),
        }
    }
}

/// A store rejects records of more than 16 MiB.
#[test]
fn stores_the_longest_names() {
    let name = |ix: usize| format!("{ix:0>MAX_USER_STRING$}");
    let sample = |event| format!("p 1 1.5: e{event:0>4095}:\n\t1 f (/x)\n\n");
    let text: String = (0..MAX_SAMPLE_TYPES).map(sample).collect();
    let options = IngestOptions {
        executable: Some(name(0)),
        version: Some(name(0)),
        revision: Some(name(0)),
        commit: None,
        benchmark: Some(name(0)),
        labels: (0..MAX_LABELS).map(|ix| (name(ix), name(ix))).collect(),
        metrics: (0..MAX_LABELS).map(|ix| (name(ix), 1.0)).collect(),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    let recording = read_text(&text).unwrap();
    ingest(&store, (Path::new("x"), recording), &options, &mut |_| {}).unwrap();
    let builds = store.snapshot().unwrap().builds().unwrap();
    assert_eq!(builds[0].profiles[0].profile.labels, options.labels);
    let sample_types = &builds[0].profiles[0].profile.sample_types;
    assert_eq!(sample_types.len(), MAX_SAMPLE_TYPES);
    assert_eq!(sample_types[0].event.len(), MAX_NAME);
}
