//! Functions generated at run time, named by perf maps and jitdumps.

use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use sto_core::files::User;
use sto_core::formats::{ReadOptions, read};
use sto_core::ingest::{IngestOptions, SymbolOptions, ingest};
use sto_core::model::FrameKind;
use sto_core::recording::Recording;
use sto_core::stages::{Symbols, symbolize};
use sto_core::store::Store;
use sto_test_support::assert_golden;
use sto_test_support::skip;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata/perf-data")
        .join(name)
}

fn read_with(path: &Path, symbols: SymbolOptions) -> (Recording, Symbols) {
    let options = ReadOptions {
        symbols,
        ..ReadOptions::default()
    };
    let recording = read(path, &options).unwrap();
    let symbols = symbolize(&recording, &options.symbols);
    (recording, symbols)
}

fn options_for(dir: &Path) -> SymbolOptions {
    SymbolOptions {
        recording_dir: Some(dir.to_owned()),
        ..SymbolOptions::default()
    }
}

/// Stacks of generated functions, with their samples; other frames depend on the
/// files of this machine.
fn generated_stacks(recording: &Recording, symbols: &Symbols) -> String {
    let mut stacks: BTreeMap<String, u64> = BTreeMap::new();
    for sample in &recording.samples {
        let mut line = String::new();
        for &location in &*recording.stacks.get(sample.stack) {
            for &code in symbols.code_lines(location) {
                let frame = symbols.frames.frame(symbols.lines[code.0 as usize].frame);
                if frame.module == "[jit]" {
                    let at = frame.file.rsplit('/').next().unwrap();
                    write!(line, ";{}({}) {at}", frame.symbol, frame.kind.name()).unwrap();
                }
            }
        }
        if !line.is_empty() {
            *stacks.entry(line[1..].to_owned()).or_default() += sample.cost.samples;
        }
    }
    let lines = stacks
        .iter()
        .map(|(stack, samples)| format!("{stack} {samples}\n"));
    lines.collect()
}

#[test]
fn generated_functions_have_names_kinds_and_files() {
    for name in ["node-map", "node-dump", "node-injected"] {
        let path = testdata(&format!("{name}.perf.data"));
        let (recording, symbols) = read_with(&path, options_for(path.parent().unwrap()));
        let found = generated_stacks(&recording, &symbols);
        let golden = testdata(&format!("{name}.expected"));
        assert_golden(&golden, &found);
        assert!(found.contains(";leaf(jit) fib.js"), "{name}: {found}");
    }
}

/// In saved stacks, generated code has a frame pointer, which its callers and callees lack, or unwinding rules in a
/// jitdump. `perf script` 6.1 ends such stacks there.
#[test]
fn unwinds_stacks_through_generated_functions() {
    assert_calls_generated("made.perf.data", "made_at_run_time", 23);
    assert_calls_generated("dumped/dumped.perf.data", "dumped_at_run_time", 9);
}

#[track_caller]
fn assert_calls_generated(file: &str, generated: &str, samples: usize) {
    let path = testdata(file);
    let (recording, symbols) = read_with(&path, options_for(path.parent().unwrap()));
    assert_eq!(recording.samples.len(), samples);
    for sample in &recording.samples {
        let locations = recording.stacks.get(sample.stack);
        let codes = locations
            .iter()
            .flat_map(|&location| symbols.code_lines(location));
        let names: Vec<&str> = codes
            .map(|code| {
                let frame = symbols.lines[code.0 as usize].frame;
                symbols.frames.frame(frame).symbol
            })
            .collect();
        let expected = ["main", generated, "called", "compute"];
        assert!(names.windows(4).any(|four| four == expected), "{names:?}");
    }
}

#[test]
fn reads_perf_inject_output_like_the_jitdump() {
    let expected = |name| std::fs::read_to_string(testdata(name)).unwrap();
    assert_eq!(
        expected("node-dump.expected"),
        expected("node-injected.expected")
    );
}

fn problems(recording: &Recording, symbols: &Symbols) -> String {
    let anonymous =
        |&ix: &usize| recording.modules[symbols.modules[ix].module.0 as usize].path == "//anon";
    let found = (0..symbols.modules.len()).filter(anonymous);
    found
        .filter_map(|ix| symbols.modules[ix].problem.clone())
        .map(|problem| problem.text)
        .collect()
}

#[test]
fn advises_to_write_a_perf_map() {
    let (recording, symbols) = read_with(&testdata("node-map.perf.data"), SymbolOptions::default());
    assert_eq!(generated_stacks(&recording, &symbols), "");
    let problems = problems(&recording, &symbols);
    assert!(
        problems.contains("there is no perf map of process"),
        "{problems}"
    );
    assert!(problems.contains("node --perf-basic-prof"), "{problems}");
}

/// As `node --use-largepages=on` does.
#[test]
fn code_that_was_copied_over_the_program_is_the_programs() {
    let path = testdata("huge/huge.perf.data");
    let (recording, symbols) = read_with(&path, options_for(path.parent().unwrap()));
    let innermost = recording.samples.iter().map(|sample| {
        let leaf = recording.stacks.leaf(sample.stack).unwrap();
        let code = symbols.code_lines(leaf).last().unwrap();
        symbols.frames.frame(symbols.lines[code.get()].frame).symbol
    });
    let work = innermost.filter(|function| ["leaf_a", "leaf_b", "work"].contains(function));
    assert!(work.count() * 10 > recording.samples.len() * 9);
}

#[test]
fn counts_samples_whose_caller_frame_pointers_skip() {
    let path = testdata("frameless/frameless.perf.data");
    let (recording, _) = read_with(&path, options_for(path.parent().unwrap()));
    let warning = "100 % of samples lack the caller of the function that ran";
    let warnings = &recording.warnings;
    assert!(
        warnings.iter().any(|text| text.starts_with(warning)),
        "{warnings:?}"
    );
}

/// musl's start code has no unwinding rules, so unwinding ends there with an error.
#[test]
fn stacks_that_reach_main_are_whole() {
    let path = testdata("musl/musl.perf.data");
    let options = IngestOptions {
        symbols: options_for(path.parent().unwrap()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    let report = ingest(&store, &path, &options, &mut |_| {}).unwrap();
    let quality = &report.profiles[0].profile.quality;
    assert_eq!(
        (quality.unresolved, quality.truncated),
        (0, 0),
        "{quality:?}"
    );
}

/// Process ids are reused, and old maps stay.
#[test]
fn trusts_a_perf_map_only_if_written_during_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, copy, options) = leave_map_in(folder.path());
    let (read, symbols) = read_with(&recording, options.clone());
    assert!(generated_stacks(&read, &symbols).contains("leaf(jit)"));

    let before = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    std::fs::File::options()
        .write(true)
        .open(&copy)
        .unwrap()
        .set_modified(before)
        .unwrap();
    let (read, symbols) = read_with(&recording, options);
    assert_eq!(generated_stacks(&read, &symbols), "");
    let problems = problems(&read, &symbols);
    assert!(
        problems.contains("is older than the recording"),
        "{problems}"
    );
}

#[test]
fn ignores_a_perf_map_of_another_user() {
    let folder = tempfile::tempdir().unwrap();
    let (recording, _, mut options) = leave_map_in(folder.path());
    options.trusted_users = vec![User(User::current().0 + 1)];
    let (read, symbols) = read_with(&recording, options);
    assert_eq!(generated_stacks(&read, &symbols), "");
    let problems = problems(&read, &symbols);
    assert!(
        problems.contains("but it is ignored: it belongs to user"),
        "{problems}"
    );
}

#[test]
fn ignores_a_jitdump_of_another_user() {
    let (name, bytes) = dump();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    // The path in the recording.
    let mut recording = std::fs::read(testdata("node-dump.perf.data")).unwrap();
    let inode = std::os::unix::fs::MetadataExt::ino(&path.metadata().unwrap());
    let mapped = redirect(&mut recording, path.to_str().unwrap(), inode);
    if !mapped {
        skip("jitdumps: the path of this folder is longer than the recorded one");
        return;
    }
    let copy = folder.path().join("perf.data");
    std::fs::write(&copy, recording).unwrap();
    for (user, is_trusted) in [(0, true), (1, false)] {
        let options = SymbolOptions {
            trusted_users: vec![User(User::current().0 + user)],
            ..SymbolOptions::default()
        };
        let (read, symbols) = read_with(&copy, options);
        let found = generated_stacks(&read, &symbols);
        assert_eq!(found.contains("leaf(jit)"), is_trusted, "{found}");
    }
}

#[test]
fn rejects_perf_maps_that_are_not_regular_or_too_large() {
    use std::os::unix::fs::symlink;
    for kind in ["pipe", "endless", "sparse"] {
        let folder = tempfile::tempdir().unwrap();
        let (recording, map, mut options) = leave_map_in(folder.path());
        options.recording_dir = map.parent().map(Path::to_owned);
        options.perf_maps = None;
        std::fs::remove_file(&map).unwrap();
        match kind {
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(&map).status();
                assert!(made.unwrap().success());
            }
            "endless" => symlink("/dev/zero", &map).unwrap(),
            _ => std::fs::File::create(&map)
                .unwrap()
                .set_len(3 << 30)
                .unwrap(),
        }
        let (read, symbols) = read_with(&recording, options);
        let problems = problems(&read, &symbols);
        let expected = match kind {
            "sparse" => "it is larger than 256 MiB",
            _ => "it is not a regular file",
        };
        assert!(problems.contains(expected), "{kind}: {problems}");
    }
}

/// Makes a recording of another machine refer to this jitdump. Returns `false` if the path does not fit.
fn redirect(recording: &mut [u8], path: &str, inode: u64) -> bool {
    let recorded = b"/tmp/sto-demo.XtdW5E/jit-28628.dump";
    let starts = memchr::memmem::find_iter(recording, recorded).collect::<Vec<_>>();
    assert!(!starts.is_empty());
    for start in starts {
        let Some(rest) = recorded.len().checked_sub(path.len()) else {
            return false;
        };
        let name = [path.as_bytes(), &vec![0; rest]].concat();
        recording[start..start + name.len()].copy_from_slice(&name);
        // `ino` of `PERF_RECORD_MMAP2`; `ino_generation`, `prot` and `flags` are in between.
        recording[start - 24..start - 16].copy_from_slice(&inode.to_le_bytes());
    }
    true
}

/// A recording, a perf map in a folder `tmp` next to it, and options that find the map.
fn leave_map_in(folder: &Path) -> (PathBuf, PathBuf, SymbolOptions) {
    let recording = folder.join("perf.data");
    std::fs::copy(testdata("node-map.perf.data"), &recording).unwrap();
    let maps = folder.join("tmp");
    std::fs::create_dir(&maps).unwrap();
    let testdata_files = testdata("")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let map = testdata_files
        .into_iter()
        .find(|path| path.extension().is_some_and(|end| end == "map"));
    let map = map.unwrap();
    let copy = maps.join(map.file_name().unwrap());
    std::fs::copy(map, &copy).unwrap();
    let options = SymbolOptions {
        perf_maps: Some(maps),
        trusted_users: vec![User::current()],
        ..SymbolOptions::default()
    };
    (recording, copy, options)
}

fn dump() -> (String, Vec<u8>) {
    let mut files = testdata("")
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let path = files
        .find(|path| path.extension().is_some_and(|end| end == "dump"))
        .unwrap();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    (name, std::fs::read(path).unwrap())
}

fn kinds_with(name: &str, dump: &[u8]) -> Vec<FrameKind> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join(name), dump).unwrap();
    let (_, symbols) = read_with(&testdata("node-dump.perf.data"), options_for(folder.path()));
    symbols.frames.iter().map(|(_, frame)| frame.kind).collect()
}

#[test]
fn reads_complete_records_of_an_unfinished_jitdump() {
    let (name, bytes) = dump();
    let of = |bytes: &[u8]| {
        kinds_with(&name, bytes)
            .iter()
            .filter(|&&kind| kind == FrameKind::Jit)
            .count()
    };
    let whole = of(&bytes);
    let half = of(&bytes[..bytes.len() * 2 / 3]);
    assert!(0 < half && half < whole, "{half} of {whole}");
    assert_eq!(of(&bytes[..30]), 0);
}

#[test]
fn ignores_a_jitdump_of_another_process() {
    let (name, mut bytes) = dump();
    bytes[20] ^= 1;
    assert!(!kinds_with(&name, &bytes).contains(&FrameKind::Jit));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 20, ..ProptestConfig::default() })]

    #[test]
    fn damaged_jitdumps_never_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
    ) {
        let (name, mut bytes) = dump();
        for (offset, value) in damage {
            let offset = offset.index(bytes.len());
            bytes[offset] = value;
        }
        kinds_with(&name, &bytes);
    }
}
