//! Streams whose records are put together by tests.

use super::stacks::stacks;
use super::{read_testdata, testdata};
use std::path::Path;
use sto_core::formats::{FormatError, ReadOptions, read_bytes};
use sto_core::recording::{ModuleKind, Recording};

/// The header and the records of a stream.
fn stream() -> (Vec<u8>, Vec<Vec<u8>>) {
    let bytes = std::fs::read(testdata("perf-data/pipe.perf.data")).unwrap();
    let (header, mut rest) = bytes.split_at(16);
    let mut records = Vec::new();
    while !rest.is_empty() {
        let size = u16::from_le_bytes([rest[6], rest[7]]).into();
        records.push(rest[..size].to_vec());
        rest = &rest[size..];
    }
    (header.to_vec(), records)
}

const MMAP: u8 = 1;
const MMAP2: u8 = 10;
const SAMPLE: u8 = 9;
const FINISHED_ROUND: u8 = 68;

fn read_stream_of(header: &[u8], records: &[Vec<u8>]) -> Result<Recording, FormatError> {
    let bytes = [header, &records.concat()].concat();
    read_bytes(Path::new("stream"), &bytes, &ReadOptions::default())
}

#[test]
fn orders_mappings_and_samples_by_time() {
    let (header, records) = stream();
    let expected = read_stream_of(&header, &records).unwrap();
    let is = |kind| move |record: &Vec<u8>| record[0] == kind;
    let (late, mut early): (Vec<_>, Vec<_>) = records.into_iter().partition(is(MMAP2));
    assert_eq!(late.len(), 4);
    let end_of_round = early.iter().rposition(is(FINISHED_ROUND)).unwrap();
    early.splice(end_of_round..end_of_round, late.into_iter().rev());
    for rounds_end in [true, false] {
        early.retain(|record| rounds_end || !is(FINISHED_ROUND)(record));
        let found = read_stream_of(&header, &early).unwrap();
        assert_eq!(found.samples, expected.samples);
        assert_eq!(stacks(&found), stacks(&expected));
        assert_eq!(found.processes[0].program, "demo-v1");
    }
}

/// The kernel's mapping, with the name of a module.
#[test]
fn kernel_module_code_begins_at_its_mapping() {
    let (header, mut records) = stream();
    let name = b"[kernel.kallsyms]_text";
    let is_mapped = |record: &&mut Vec<u8>| record[0] == MMAP && record[40..62] == *name;
    let kernel = records.iter_mut().find(is_mapped).unwrap();
    kernel[40..62].copy_from_slice(b"/lib/modules/nf_wrk.ko");
    let start = u64::from_le_bytes(kernel[16..24].try_into().unwrap());
    let found = read_stream_of(&header, &records).unwrap();
    let module = found
        .modules
        .iter()
        .find(|module| module.path.ends_with(".ko"))
        .unwrap();
    assert_eq!(module.kind, ModuleKind::KernelModule);
    assert_eq!(module.text_address, Some(start));
}

#[test]
fn result_does_not_depend_on_the_number_of_threads() {
    // A few hundred samples, and tens of thousands that several threads read.
    let (header, mut records) = stream();
    let is_sample = |record: &&Vec<u8>| record[0] == SAMPLE;
    let samples: Vec<Vec<u8>> = records.iter().filter(is_sample).cloned().collect();
    let end = records.len();
    let copies = samples.iter().cycle().take(samples.len() * 60).cloned();
    records.splice(end..end, copies);
    let read_with = |threads, records: &[Vec<u8>]| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| {
            let small = read_testdata("demo/v1.dwarf.perf.data");
            [Ok(small), read_stream_of(&header, records)].map(|read| {
                let recording: Recording = read.map_err(|error| error.to_string())?;
                Ok::<_, String>((recording.samples.len(), format!("{recording:?}")))
            })
        })
    };
    let one = read_with(1, &records);
    assert!(one[1].as_ref().unwrap().0 > 20_000);
    for threads in [2, 5] {
        assert!(read_with(threads, &records) == one, "{threads} threads");
    }

    // Of several errors, the first by time is returned.
    for at in [end + 20_000, end + 3000, end + 9000] {
        let cut = records[at][..40].to_vec();
        records[at] = [&cut[..6], &40_u16.to_le_bytes()[..], &cut[8..]].concat();
    }
    let one = read_with(1, &records)[1].as_ref().unwrap_err().clone();
    assert!(one.contains("does not match its event"), "{one}");
    for threads in [2, 5] {
        assert_eq!(*read_with(threads, &records)[1].as_ref().unwrap_err(), one);
    }
}
