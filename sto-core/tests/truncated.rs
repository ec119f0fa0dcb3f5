//! Messages about truncated files of any format.

use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write;
use std::path::Path;
use sto_core::Hint;
use sto_core::formats::{FormatError, ReadOptions, read_bytes};

/// A real file of each kind of format.
const FILES: [&str; 21] = [
    "demo/v1.perf.data",
    "perf-data/pipe.perf.data",
    "perf-script/frame-pointers.txt",
    "folded/py-spy.folded",
    "pprof/go-cpu.pb.gz",
    "otlp/v1.10.otlp",
    "otlp/v1.10.json",
    "otlp/v1.10.lines.json",
    "firefox/samply-75.jslb",
    "jfr/samples.jfr",
    "jfr/tlab.jfr",
    "firefox/samply.json",
    "speedscope/py-spy.json",
    "cpuprofile/node.cpuprofile",
    "perun/complexity.perf",
    "perun/time.object",
    "chrome/node.json",
    "callgrind/threads.callgrind",
    "reports/xctrace.xml",
    "reports/yourkit.csv",
    "reports/sample.txt",
];

fn error(bytes: &[u8], allow_truncated: bool) -> Option<FormatError> {
    let options = ReadOptions {
        allow_truncated,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("file"), bytes, &options).err()
}

fn check(name: &str, whole: &[u8]) {
    for percent in (10..100).step_by(6) {
        let part = &whole[..whole.len() * percent / 100];
        let Some(refused) = error(part, false) else {
            continue;
        };
        let taken = match error(part, true) {
            // The rest is too short to detect the format.
            Some(FormatError::Empty { .. } | FormatError::Unknown { .. }) => continue,
            None | Some(FormatError::NoSamples { .. }) => true,
            Some(_) => false,
        };
        let is_offered = refused.hint() == Some(Hint::AllowTruncated);
        let message = refused.to_string();
        assert!(
            message.contains("ecord or copy it again"),
            "{name} at {percent} %: {message}"
        );
        assert_eq!(is_offered, taken, "{name} at {percent} %: {message}");
    }
}

#[test]
fn offers_allow_truncated_only_if_it_helps() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    for name in FILES {
        check(name, &std::fs::read(testdata.join(name)).unwrap());
    }
}

/// Here the compressed file is truncated; its format decides whether the rest can be read.
#[test]
fn offers_allow_truncated_for_compressed_files() {
    let testdata = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata");
    for name in ["folded/py-spy.folded", "chrome/node.json"] {
        let mut copy = GzEncoder::new(Vec::new(), Compression::default());
        let bytes = std::fs::read(testdata.join(name)).unwrap();
        copy.write_all(&bytes).unwrap();
        check(name, &copy.finish().unwrap());
    }
}
