//! Files of OpenTelemetry's own encoders.

use std::fmt::Write;
use std::path::PathBuf;
use sto_core::formats::{Format, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::Recording;
use sto_core::stages::symbolize;
use sto_test_support::assert_golden;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../testdata/otlp"))
}

fn read(name: &str) -> Result<Recording, String> {
    let bytes = std::fs::read(folder().join(name)).unwrap();
    let read = read_bytes(name.as_ref(), &bytes, &Default::default());
    read.map_err(|error| error.to_string())
}

fn describe(recording: &Recording) -> String {
    let mut text = format!("{:?}\n", recording.origin);
    let out = &mut text;
    for warning in &recording.warnings {
        writeln!(out, "warning: {warning}").unwrap();
    }
    for module in &recording.modules {
        writeln!(out, "module {:?} {:?}", module.path, module.build_id).unwrap();
    }
    for process in &recording.processes {
        let main = process.main_module.map(|ix| ix.0);
        writeln!(
            out,
            "process {} {:?}, module {main:?}",
            process.pid, process.program
        )
        .unwrap();
    }
    let symbols = symbolize(recording, &SymbolOptions::default());
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let sample_type = &recording.sample_types[sample.sample_type.0 as usize];
        let head = format!(
            "{}: {} samples, {} {}, at {:?}, {:?} ({}) of process {} {}",
            sample_type.event,
            sample.cost.samples,
            sample.cost.value,
            sample_type.unit.name(),
            sample.time.map(|time| time.0),
            thread.name,
            thread.tid,
            recording.processes[thread.process.0 as usize].pid,
            crate::common::labels_of(thread),
        );
        writeln!(out, "\n{}", head.trim_end()).unwrap();
        for &location in &*recording.stacks.get(sample.stack) {
            for line in symbols.code_lines(location) {
                let line = symbols.lines[line.0 as usize];
                let frame = symbols.frames.frame(line.frame);
                let source = match frame.file {
                    "" => String::new(),
                    file => format!(" {file}:{}", line.line),
                };
                writeln!(out, "  {}{source}", crate::common::show(&frame)).unwrap();
            }
        }
    }
    text
}

/// The layout of the Collector's file exporter.
#[test]
fn reads_length_prefixed_exports() {
    let export = std::fs::read(folder().join("v1.10.otlp")).unwrap();
    let framed = [
        &(export.len() as u32).swap_bytes().to_le_bytes()[..],
        &export,
    ]
    .concat();
    let read = |bytes: &[u8]| read_bytes("x".as_ref(), bytes, &Default::default());
    let once = read(&export).unwrap();
    assert_eq!(read(&framed).unwrap().samples, once.samples);
    let twice = read(&framed.repeat(2)).unwrap();
    assert_eq!(twice.samples.len(), 2 * once.samples.len());
    for cut in [1, export.len()] {
        let error = read(&framed.repeat(2)[..2 * framed.len() - cut]).unwrap_err();
        assert!(error.to_string().contains("cut short"), "{error}");
    }
}

/// The layout of the exporter with `compression: zstd`, in both formats.
#[test]
fn reads_individually_compressed_messages() {
    let once = read("v1.10.otlp").unwrap();
    let twice = read("v1.10.zstd.otlp").unwrap();
    assert_eq!(twice.samples.len(), 2 * once.samples.len());
    let read = |messages: &[&[u8]]| {
        let framed = messages.iter().flat_map(|message| {
            let message = zstd::encode_all(*message, 3).unwrap();
            [
                &(message.len() as u32).swap_bytes().to_le_bytes()[..],
                &message,
            ]
            .concat()
        });
        let framed: Vec<u8> = framed.collect();
        let read = read_bytes("x".as_ref(), &framed, &Default::default());
        read.map_err(|error| error.to_string())
    };
    let json = std::fs::read(folder().join("v1.10.json")).unwrap();
    assert_eq!(read(&[&json]).unwrap().samples, once.samples);
    assert_eq!(read(&[&json, &json]).unwrap().samples, twice.samples);

    let wrong = String::from_utf8(json.clone()).unwrap();
    let wrong = wrong.replacen("\"unitStrindex\":24", "\"unitStrindex\":99", 1);
    for (message, path) in [
        (
            wrong.as_bytes(),
            "sampleType.unitStrindex of the compressed message at byte ",
        ),
        (&json[..json.len() / 2], "the compressed message at byte "),
    ] {
        let error = read(&[&json, message]).unwrap_err();
        assert!(error.contains(path), "{error}");
    }
    let mut damaged = std::fs::read(folder().join("v1.10.zstd.otlp")).unwrap();
    let middle = damaged.len() * 3 / 4;
    damaged[middle..middle + 20].fill(0xff);
    let error = read_bytes("x".as_ref(), &damaged, &Default::default()).unwrap_err();
    let error = error.to_string();
    assert!(
        error.contains("x: the message at byte ") && error.contains("zstd data are damaged"),
        "{error}"
    );
}

#[test]
fn reads_both_numberings_and_json_alike() {
    let golden = folder().join("exports.expected");
    for name in ["v1.10.otlp", "v1.9.otlp", "v1.10.json", "v1.10.lines.json"] {
        let recording = read(name).unwrap();
        assert_eq!(recording.format, Format::Otlp);
        let found = describe(&recording);
        assert_golden(&golden, &found);
    }
}

#[test]
fn rejects_older_exports_with_the_supported_versions() {
    let error = read("v1.7.otlp").unwrap_err();
    for part in [
        "v1.7.otlp: byte ",
        "an attribute with a text as key",
        "versions 1.9 to 1.11 are read",
    ] {
        assert!(error.contains(part), "{error}");
    }
}
