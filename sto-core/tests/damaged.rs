//! Damaged files of every format are read or rejected with an error that names the file; nothing panics.

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use sto_core::Hint;
use sto_core::formats::{Format, FormatError, ReadOptions, read, read_bytes, read_stream};
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::recording::Recording;
use sto_core::store::Store;
use sto_core::tree::SliceCount;
use sto_test_support::{Random, damage};

/// Files in `testdata`, at least one of each format, in different variants. Compressed files are decompressed before
/// they are damaged.
const SAMPLES: &[(Format, &str)] = &[
    (Format::PerfData, "perf-data/counters-all.perf.data"),
    (Format::PerfData, "perf-data/pipe-zstd.perf.data"),
    (Format::PerfData, "perf-data/pipe.perf.data"),
    (Format::PerfData, "perf-data/threads.perf.data"),
    (Format::PerfData, "perf-data/waiting-counters.perf.data"),
    (Format::PerfData, "perf-data/zstd.perf.data"),
    (Format::XRay, "xray/basic.xray"),
    (Format::XRay, "xray/fdr-small.xray"),
    (Format::XRayYaml, "xray/fdr-small.yaml"),
    (Format::Uftrace, "uftrace/arguments.data"),
    (Format::Nettrace, "nettrace/work.nettrace.zst"),
    (Format::Sysprof, "sysprof/work.syscap"),
    (Format::Simpleperf, "simpleperf/cpu-clock.trace.gz"),
    (Format::Pstats, "pstats/work.pstats"),
    (Format::Austin, "austin/full.mojo"),
    (Format::Memray, "memray/default.bin"),
    (Format::Memray, "memray/v11.bin"),
    (Format::Jfr, "jfr/async-profiler.jfr"),
    (Format::Gperftools, "native/contention.txt"),
    (Format::Gperftools, "native/go-heap.txt"),
    (Format::Gperftools, "native/gperftools.cpu"),
    (Format::Gperftools, "native/gperftools.heap"),
    (Format::Gperftools, "native/jemalloc.heap"),
    (Format::Pprof, "pprof/go-labels-cpu.pb.gz"),
    (Format::Otlp, "otlp/v1.10.json"),
    (Format::Otlp, "otlp/v1.10.lines.json"),
    (Format::Otlp, "otlp/v1.10.otlp"),
    (Format::Perfetto, "perfetto/arguments.pftrace.zst"),
    (Format::Perfetto, "perfetto/samples.pftrace.zst"),
    (Format::Perfetto, "perfetto/tracks.pftrace.zst"),
    (Format::Firefox, "firefox/samply-75.jslb"),
    (Format::Firefox, "firefox/samply.json"),
    (Format::Speedscope, "speedscope/py-spy.json"),
    (Format::CpuProfile, "cpuprofile/tree.cpuprofile"),
    (Format::HeapProfile, "heapprofile/work.heapprofile"),
    (Format::HeapSnapshot, "heapsnapshot/heap.heapsnapshot"),
    (Format::V8Log, "v8-log/work.v8log"),
    (Format::V8LogJson, "v8-log/preprocessed.json"),
    (Format::Hermes, "hermes/work.json"),
    (Format::Pyinstrument, "pyinstrument/work.pyisession"),
    (Format::Scalene, "scalene/work.json"),
    (Format::Stackprof, "stackprof/calls.dump"),
    (Format::Stackprof, "stackprof/calls.json"),
    (Format::Stackprof, "stackprof/work-cpu.dump"),
    (Format::BpftraceJson, "native/bpftrace.json"),
    (Format::GhcJson, "reports/ghc.json"),
    (Format::Xhprof, "xhprof/work.xhprof"),
    (Format::Xhprof, "xhprof/work.xhprof.json"),
    (Format::Dhat, "native/dhat.json"),
    (Format::Perun, "perun/complexity.perf"),
    (Format::Perun, "perun/time.object"),
    (Format::Chrome, "chrome/usage.json"),
    (Format::Callgrind, "callgrind/contexts.callgrind"),
    (Format::Callgrind, "callgrind/xdebug.out"),
    (Format::Xctrace, "reports/xctrace.xml"),
    (Format::YourKit, "reports/yourkit.csv"),
    (Format::YourKit, "reports/yourkit.xml"),
    (Format::VTune, "reports/vtune.csv"),
    (Format::VisualStudio, "reports/visual-studio.csv"),
    (Format::Ghc, "reports/ghc-exact.prof"),
    (Format::Ghc, "reports/ghc.prof"),
    (Format::Rbspy, "rbspy/work.raw.gz"),
    (Format::Rprof, "rprof/work.Rprof.out"),
    (Format::Phpspy, "phpspy/work.txt"),
    (Format::AustinText, "austin/native.austin"),
    (Format::Gprof, "native/calls.gprof"),
    (Format::Massif, "native/massif.out"),
    (Format::Heaptrack, "native/heaptrack.gz"),
    (Format::Sample, "reports/sample.txt"),
    (Format::Instruments, "reports/instruments-allocations.txt"),
    (Format::Instruments, "reports/instruments-cycles.txt"),
    (Format::Instruments, "reports/instruments-time.txt"),
    (Format::Jstack, "thread-dumps/jstack.txt"),
    (Format::Jstack, "thread-dumps/quit.log"),
    (Format::Goroutines, "thread-dumps/goroutines.txt"),
    (Format::Goroutines, "thread-dumps/panic.log"),
    (Format::Ftrace, "ftrace/latency.trace"),
    (Format::Bpftrace, "native/bpftrace.txt"),
    (Format::Bcc, "native/bcc-memleak.txt"),
    (Format::Bcc, "native/bcc-stackcount.txt"),
    (Format::Gdb, "native/gdb.txt"),
    (Format::PerfScript, "perf-script/dwarf-inlined.txt"),
    (Format::PerfScript, "perf-script/system-wide.txt"),
    (Format::PerfScript, "perf-script/without-call-chains.txt"),
    (Format::NonSequitur, "nonsequitur/12.txt"),
    (Format::DTrace, "reports/dtrace.txt"),
    (Format::Folded, "folded/async-profiler.folded"),
    (Format::Folded, "folded/py-spy.folded"),
];

/// Number of damaged files per sample.
const DAMAGES: usize = 64;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(name)
}

fn uncompressed(sample: &str) -> Vec<u8> {
    let bytes = std::fs::read(testdata(sample)).unwrap();
    match sample.rsplit_once('.') {
        Some((_, "gz")) => {
            let mut plain = Vec::new();
            GzDecoder::new(&*bytes).read_to_end(&mut plain).unwrap();
            plain
        }
        Some((_, "zst")) => zstd::decode_all(&*bytes).unwrap(),
        _ => bytes,
    }
}

/// Checks that a stream of the bytes gives the same recording or error, and slices of time the same costs.
fn assert_readings_agree(
    sample: &str,
    bytes: &[u8],
    options: &ReadOptions,
    whole: &Result<Recording, FormatError>,
) {
    let streamed = read_stream(Path::new(sample), bytes, options);
    let sliced = ReadOptions {
        call_slices: SliceCount::new(7),
        ..options.clone()
    };
    let sliced = read_bytes(Path::new(sample), bytes, &sliced);
    match (whole, &streamed, &sliced) {
        (Ok(whole), Ok(streamed), Ok(sliced)) => {
            assert_eq!(streamed.samples, whole.samples);
            assert_eq!(costs(sliced), costs(whole));
        }
        (whole, streamed, sliced) => {
            let errors = [whole, streamed, sliced].map(|read| read.as_ref().err());
            let errors = errors.map(|error| error.map(ToString::to_string));
            assert!(
                errors[0] == errors[1] && errors[0] == errors[2],
                "{errors:?}"
            );
        }
    }
}

/// Sums of the samples and values of each event.
fn costs(recording: &Recording) -> BTreeMap<usize, (u128, u128)> {
    let mut costs: BTreeMap<usize, (u128, u128)> = BTreeMap::new();
    for sample in &recording.samples {
        let (samples, value) = costs.entry(sample.sample_type.get()).or_default();
        *samples += u128::from(sample.cost.samples);
        *value += u128::from(sample.cost.value);
    }
    costs
}

/// Reads a sample with new damage; in a folder, one file is damaged.
fn read_damaged(
    sample: &str,
    random: &mut Random,
    options: &ReadOptions,
) -> Result<Recording, FormatError> {
    if !testdata(sample).is_dir() {
        let mut bytes = match random.below(8) {
            0 => std::fs::read(testdata(sample)).unwrap(),
            _ => uncompressed(sample),
        };
        damage(&mut bytes, random);
        let whole = read_bytes(Path::new(sample), &bytes, options);
        assert_readings_agree(sample, &bytes, options, &whole);
        return whole;
    }
    let temporary = tempfile::tempdir().unwrap();
    let copy = temporary.path().join(sample);
    std::fs::create_dir_all(&copy).unwrap();
    let entries = std::fs::read_dir(testdata(sample)).unwrap();
    let files: BTreeSet<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    let damaged = random.below(files.len());
    for (number, file) in files.iter().enumerate() {
        let mut bytes = std::fs::read(file).unwrap();
        if number == damaged {
            damage(&mut bytes, random);
        }
        std::fs::write(copy.join(file.file_name().unwrap()), bytes).unwrap();
    }
    read(&copy, options)
}

/// Stores a recording, which may be rejected.
fn store(sample: &str, recording: Recording) {
    let options = IngestOptions {
        version: Some("v".to_owned()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    match ingest(
        &store,
        (Path::new(sample), recording),
        &options,
        &mut |_| {},
    ) {
        Ok(ingested) => assert!(!ingested.profiles.is_empty(), "{sample}"),
        Err(error) => assert!(error.to_string().contains(sample), "{error}"),
    }
}

#[test]
fn every_format_has_a_sample() {
    for &(format, sample) in SAMPLES {
        assert_eq!(
            read(&testdata(sample), &Default::default()).unwrap().format,
            format,
            "{sample}"
        );
    }
    for format in Format::all() {
        let mut formats = SAMPLES.iter().map(|(format, _)| *format);
        assert!(formats.any(|of| of == format), "no sample of {format:?}");
    }
}

#[test]
fn damaged_files_are_read_or_rejected_with_their_name() {
    SAMPLES
        .par_iter()
        .enumerate()
        .for_each(|(seed, &(format, sample))| {
            let mut random = Random::new(seed as u64);
            for number in 0..DAMAGES {
                let options = ReadOptions {
                    format: (random.below(2) == 0).then_some(format),
                    allow_truncated: random.below(2) == 0,
                    ..ReadOptions::default()
                };
                let result = catch_unwind(AssertUnwindSafe(|| {
                    match read_damaged(sample, &mut random, &options) {
                        Ok(recording) if number % 8 == 0 => store(sample, recording),
                        Ok(_) => {}
                        Err(error) => assert!(error.to_string().contains(sample), "{error}"),
                    }
                }));
                assert!(result.is_ok(), "{sample}, damage {number} with {options:?}");
            }
        });
}

#[test]
fn files_of_another_format_are_read_or_rejected_with_their_name() {
    for (_, sample) in SAMPLES {
        if testdata(sample).is_dir() {
            continue;
        }
        let mut bytes = uncompressed(sample);
        bytes.truncate(2000);
        for format in Format::all() {
            let options = ReadOptions {
                format: Some(format),
                ..ReadOptions::default()
            };
            if let Err(error) = read_bytes(Path::new(sample), &bytes, &options) {
                assert!(error.to_string().contains(sample), "{format:?}: {error}");
            }
        }
    }
}

/// Returns the error of reading a truncated file.
fn error_of_cut(bytes: &[u8], allow_truncated: bool) -> Option<FormatError> {
    let options = ReadOptions {
        allow_truncated,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("file"), bytes, &options).err()
}

/// Truncates a file at several places, and checks that errors suggest `allow_truncated` if and only if it helps.
fn check_cuts(name: &str, whole: &[u8]) {
    for percent in (10..100).step_by(6) {
        let part = &whole[..whole.len() * percent / 100];
        let Some(refused) = error_of_cut(part, false) else {
            continue;
        };
        let taken = match error_of_cut(part, true) {
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
fn truncated_files_are_offered_only_if_they_can_be_read() {
    let samples = [
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
    samples
        .par_iter()
        .for_each(|sample| check_cuts(sample, &std::fs::read(testdata(sample)).unwrap()));
}

/// The compressed file is truncated; whether the profile in it can be read depends on the format.
#[test]
fn truncated_compressed_files_are_offered_only_if_they_can_be_read() {
    for sample in ["folded/py-spy.folded", "chrome/node.json"] {
        let mut copy = GzEncoder::new(Vec::new(), Compression::default());
        copy.write_all(&uncompressed(sample)).unwrap();
        check_cuts(sample, &copy.finish().unwrap());
    }
}
