//! Output of `simpleperf report-sample --protobuf`, built by its schema.

use super::stacks;
use crate::common::frames_of;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::formats::{Format, FormatError, read_bytes};
use sto_core::model::FrameKind;
use sto_core::recording::Recording;
use sto_core::units::Cost;

/// A field that is a message or text.
fn part(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
}

/// A field that is a number.
fn number(field: u8, value: u8) -> Vec<u8> {
    vec![field << 3, value]
}

/// A frame: file, symbol, and execution type.
fn frame(file: u8, symbol: Option<u8>, kind: u8) -> Vec<u8> {
    // -1 means no symbol.
    let symbol = match symbol {
        Some(symbol) => number(3, symbol),
        None => [&[3 << 3][..], &[0xff; 9], &[1]].concat(),
    };
    part(3, &[number(2, file), symbol, number(4, kind)].concat())
}

fn profile(sample: &[u8], end: &[u8]) -> Vec<u8> {
    let file = |id: u8, path: &str, symbols: &[&str]| {
        let symbols = symbols.iter().flat_map(|name| part(3, name.as_bytes()));
        let file = [number(1, id), part(2, path.as_bytes())].concat();
        part(3, &file.into_iter().chain(symbols).collect::<Vec<u8>>())
    };
    let thread = |tid, name: &str| {
        part(
            4,
            &[number(1, tid), number(2, 7), part(3, name.as_bytes())].concat(),
        )
    };
    let records = [
        part(5, &part(1, b"cpu-clock")),
        part(1, sample),
        part(2, &[number(1, 1), number(2, 3)].concat()),
        file(0, "/system/lib64/libc.so", &["malloc", "free"]),
        file(1, "/data/app/base.vdex", &["app.Main.run"]),
        file(2, "[kernel.kallsyms]", &[]),
        thread(7, "app"),
        thread(9, "worker"),
    ];
    let mut bytes = b"SIMPLEPERF\x01\0".to_vec();
    for record in records {
        bytes.extend((record.len() as u32).to_le_bytes());
        bytes.extend(record);
    }
    [&bytes, end].concat()
}

fn sample() -> Vec<u8> {
    let stack = [
        frame(2, None, 0),
        frame(0, Some(1), 0),
        frame(1, Some(0), 1),
    ]
    .concat();
    [
        number(1, 50),
        number(2, 9),
        stack,
        number(4, 100),
        number(5, 0),
    ]
    .concat()
}

fn read(bytes: &[u8]) -> Result<Recording, FormatError> {
    read_bytes(Path::new("a/file"), bytes, &Default::default())
}

#[test]
fn reads_samples_that_refer_to_later_records() {
    let recording = read(&profile(&sample(), &[0; 4])).unwrap();
    assert_eq!(recording.format, Format::Simpleperf);
    assert_eq!(recording.lost, 3);
    assert_eq!(recording.processes[0].program, "app");
    assert_eq!(
        stacks(&recording),
        [
            "cpu-clock 1 100 ns [worker]: base.vdex!app.Main.run (interpreted);libc.so!free;[kernel]![kernel] (unresolved)"
        ]
    );
}

#[test]
fn rejects_truncated_files() {
    let whole = profile(&sample(), &[0; 4]);
    for end in 10..whole.len() {
        let error = read(&whole[..end]).unwrap_err().to_string();
        assert!(error.starts_with("a/file: truncated: "), "{end}: {error}");
    }
    let nameless = profile(&[number(2, 9), frame(5, Some(0), 0)].concat(), &[0; 4]);
    let error = read(&nameless).unwrap_err().to_string();
    assert!(
        error.contains("file 5, which the file does not have"),
        "{error}"
    );
}

/// The reference is made by `testdata/simpleperf/reference.py`.
#[test]
fn costs_equal_those_of_the_reference_reader() {
    let folder = PathBuf::from(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../testdata/simpleperf"
    ));
    let path = folder.join("cpu-clock.trace.gz");
    let recording = sto_core::formats::read(&path, &Default::default()).unwrap();
    assert_eq!(recording.format, Format::Simpleperf);
    let mut totals = vec![Cost::default(); recording.sample_types.len()];
    let mut own: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &recording.samples {
        let ix = sample.sample_type.0 as usize;
        totals[ix] += sample.cost;
        let leaf = frames_of(&recording, sample).pop().unwrap();
        let module = leaf.module.replace("[kernel]", "[kernel.kallsyms]");
        let symbol = match leaf.kind {
            FrameKind::Unresolved if !module.is_empty() => "no symbol",
            _ => leaf.symbol,
        };
        let event = &recording.sample_types[ix].event;
        *own.entry(format!("{event}: {{}} in {module} {symbol}"))
            .or_default() += 1;
    }
    let mut found: Vec<String> = own
        .iter()
        .map(|(line, count)| line.replace("{}", &count.to_string()))
        .collect();
    for (kind, total) in recording.sample_types.iter().zip(totals) {
        found.push(format!(
            "{}: {} samples, {}",
            kind.event, total.samples, total.value
        ));
    }
    let expected = std::fs::read_to_string(folder.join("cpu-clock.expected")).unwrap();
    let mut expected: Vec<&str> = expected.lines().collect();
    found.sort();
    expected.sort_unstable();
    assert_eq!(found, expected);
}
