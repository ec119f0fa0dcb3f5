//! LLVM XRay's logs, compared with LLVM's reader.

use super::{Called, arguments, called, common, testdata};
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use sto_core::formats::{FormatError, ReadOptions, read, read_bytes};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Location, Recording};
use sto_core::stages::symbolize;
use sto_test_support::missing;

/// Options for a log whose program is in this folder.
fn with_program(folder: &Path) -> ReadOptions {
    ReadOptions {
        symbols: SymbolOptions {
            recording_dir: Some(folder.to_owned()),
            ..SymbolOptions::default()
        },
        ..ReadOptions::default()
    }
}

fn log(name: &str) -> Vec<u8> {
    fs::read(testdata("xray").join(name)).unwrap()
}

fn read_log(bytes: &[u8]) -> Result<Recording, FormatError> {
    read_bytes(
        Path::new("xray-log.gone.AbCdEf"),
        bytes,
        &ReadOptions::default(),
    )
}

/// The value behind `key: ` in a record that `llvm-xray convert -f yaml` prints.
fn field<'a>(record: &'a str, key: &str) -> &'a str {
    let at = record.find(&format!(" {key}: ")).unwrap() + key.len() + 3;
    let value = &record[at..];
    match value.strip_prefix('\'') {
        Some(quoted) => &quoted[..quoted.find('\'').unwrap()],
        None => value[..value.find([',', ' ']).unwrap()].trim(),
    }
}

/// Number and time of calls in the output of `llvm-xray convert -f yaml`, with a simple reader.
fn called_in_yaml(yaml: &str) -> Called {
    let mut called = Called::new();
    let mut open: HashMap<&str, Vec<(&str, u64)>> = HashMap::new();
    for record in yaml.lines().filter(|line| line.starts_with("  - ")) {
        let stack = open.entry(field(record, "thread")).or_default();
        let time: u64 = field(record, "tsc").parse().unwrap();
        let function = field(record, "function");
        match field(record, "kind") {
            "function-enter" | "function-enter-arg" => stack.push((function, time)),
            "function-exit" | "function-tail-exit" => {
                let (entered, begin) = stack.pop().unwrap();
                assert_eq!(entered, function);
                let name = function.split('(').next().unwrap().to_owned();
                let sum = called.entry(name).or_default();
                *sum = (sum.0 + 1, sum.1 + time - begin);
            }
            _ => {}
        }
    }
    called
}

#[test]
fn calls_and_times_equal_those_of_llvm() {
    for name in ["basic", "fdr", "fdr-small"] {
        let options = with_program(&testdata("xray"));
        let path = testdata("xray").join(format!("{name}.xray"));
        let recording = read(&path, &options).unwrap();
        let expected_warnings = match name {
            "basic" => &[][..],
            _ => &["10 events written by the program itself are not calls and were passed over."],
        };
        assert_eq!(recording.warnings, expected_warnings, "{name}");
        let yaml = fs::read_to_string(path.with_extension("yaml")).unwrap();
        let expected = called_in_yaml(&yaml);
        assert_eq!(expected["leaf"].0, 70);
        assert_eq!(called(&recording, &options.symbols), expected, "{name}");
        assert_eq!(recording.threads.len(), 3);
    }
}

#[test]
fn functions_equal_those_of_perf_recordings() {
    let options = with_program(&testdata("xray"));
    let recording = read(&testdata("xray/basic.xray"), &options).unwrap();
    let symbols = symbolize(&recording, &options.symbols);
    let mut frames: Vec<String> = symbols
        .frames
        .iter()
        .map(|(_, frame)| format!("{} {}", common::show(&frame), frame.file))
        .collect();
    frames.sort();
    let mut stacks: Vec<String> = recording
        .samples
        .iter()
        .map(|sample| {
            let stack = recording.stacks.get(sample.stack);
            let names = stack.iter().map(|&location| {
                let [line] = symbols.code_lines(location) else {
                    panic!("a function is one frame")
                };
                symbols
                    .frames
                    .frame(symbols.lines[line.0 as usize].frame)
                    .symbol
            });
            let names: Vec<&str> = names.collect();
            let of = &recording.sample_types[sample.sample_type.0 as usize].event;
            let thread = recording.threads[sample.thread.0 as usize].tid;
            format!(
                "{of} {} {} [{thread}]: {}",
                sample.cost.samples,
                sample.cost.value,
                names.join(";")
            )
        })
        .collect();
    stacks.sort();
    frames.extend(stacks);
    sto_test_support::assert_golden(
        &testdata("xray/basic.expected"),
        &(frames.join("\n") + "\n"),
    );
}

#[test]
fn keeps_the_first_argument_with_call_times() {
    for (name, yaml) in [
        ("basic.xray", "basic.yaml"),
        ("fdr.xray", "fdr.yaml"),
        ("fdr-small.xray", "fdr-small.yaml"),
        ("basic.yaml", "basic.yaml"),
    ] {
        let yaml = fs::read_to_string(testdata("xray").join(yaml)).unwrap();
        let values = yaml
            .lines()
            .filter(|line| line.contains("kind: function-enter-arg"));
        let values = values.map(|line| {
            let (_, list) = line.split_once("args: [ ").unwrap();
            list[..list.find(' ').unwrap()].parse().unwrap()
        });
        let mut values: Vec<f64> = values.collect();
        values.sort_by(f64::total_cmp);
        let options = with_program(&testdata("xray"));
        let recording = read(&testdata("xray").join(name), &options).unwrap();
        let called = called(&recording, &options.symbols);
        let function = called.iter().find(|of| of.0.starts_with("with_argument"));
        let (function, &(_, took)) = function.unwrap();
        let expected = [(format!("{function} arg1"), (values, took))];
        assert_eq!(
            arguments(&recording, &options.symbols),
            expected.into(),
            "{name}"
        );
    }
}

#[test]
fn finds_the_program_by_the_name_of_the_log() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("xray-log.calls.AbCdEf");
    fs::copy(testdata("xray/basic.xray"), &path).unwrap();
    let first = |options: &ReadOptions| {
        let recording = read(&path, options).unwrap();
        let name = recording.processes[0].program.clone();
        match recording.locations[0] {
            Location::Address { .. } => (name, recording.warnings.clone()),
            _ => (format!("{name}?"), recording.warnings.clone()),
        }
    };
    let (program, warnings) = first(&with_program(folder.path()));
    assert_eq!(program, "calls?");
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("put the program calls next to the log"),
        "{warnings:?}"
    );
    let options = ReadOptions {
        symbols: SymbolOptions {
            symbol_dirs: vec![testdata("xray")],
            ..SymbolOptions::default()
        },
        ..ReadOptions::default()
    };
    assert_eq!(first(&options), ("calls".into(), vec![]));
    fs::copy(testdata("xray/calls"), folder.path().join("calls")).unwrap();
    assert_eq!(
        first(&with_program(folder.path())),
        ("calls".into(), vec![])
    );
    // A program of another name is used if there is only one.
    fs::rename(folder.path().join("calls"), folder.path().join("renamed")).unwrap();
    assert_eq!(
        first(&with_program(folder.path())),
        ("renamed".into(), vec![])
    );
    fs::copy(testdata("xray/calls"), folder.path().join("second")).unwrap();
    let (program, warnings) = first(&with_program(folder.path()));
    assert_eq!(program, "calls?");
    assert!(
        warnings[0].contains("several programs may have written it"),
        "{warnings:?}"
    );
}

#[test]
fn ignores_a_program_with_fewer_functions_than_the_log() {
    let mut bytes = log("basic.xray");
    bytes[36..40].copy_from_slice(&99_u32.to_le_bytes());
    let options = with_program(&testdata("xray"));
    let recording = read_bytes(Path::new("xray-log.calls.AbCdEf"), &bytes, &options).unwrap();
    assert!(
        recording.warnings[0].contains("the log has function 99: it is another program"),
        "{:?}",
        recording.warnings
    );
    let called = called(&recording, &options.symbols);
    assert_eq!(called["[function 99]"].0, 1);
    assert_eq!(called["[function 1]"].0, 70);
}

/// The header of a log of this version and mode, with a clock of 2 GHz.
fn header(version: u8, mode: u8, buffer_size: u64) -> Vec<u8> {
    let mut log = vec![version, 0, mode, 0, 3, 0, 0, 0];
    log.extend(2_000_000_000_u64.to_le_bytes());
    log.extend(buffer_size.to_le_bytes());
    log.extend([0; 8]);
    log
}

fn call(does: u32, function: u32, passed: u32) -> Vec<u8> {
    [
        (function << 4 | does << 1).to_le_bytes(),
        passed.to_le_bytes(),
    ]
    .concat()
}

/// A record of another kind in the flight data recorder.
fn other(kind: u8, data: &[u8]) -> Vec<u8> {
    let mut record = vec![kind << 1 | 1];
    record.extend(data);
    record.resize(16, 0);
    record
}

fn cpu(time: u64) -> Vec<u8> {
    other(2, &[&[0, 0][..], &time.to_le_bytes()].concat())
}

/// A buffer of a thread: the version's metadata records, and the records.
fn buffer(version: u8, tid: u32, second: u64, records: &[Vec<u8>]) -> Vec<u8> {
    let mut buffer = other(0, &tid.to_le_bytes());
    buffer.extend(other(4, &second.to_le_bytes()));
    if version >= 3 {
        buffer.extend(other(9, &7_u32.to_le_bytes()));
    }
    buffer.extend(records.concat());
    if version > 1 {
        buffer.splice(..0, other(7, &(buffer.len() as u64).to_le_bytes()));
    }
    buffer
}

/// Custom data in a flight data recorder log of this version.
fn custom(version: u8, length: u32, passed: u32) -> Vec<u8> {
    let mut data = length.to_le_bytes().to_vec();
    match version {
        5 => data.extend(passed.to_le_bytes()),
        _ => data.extend(1_u64.to_le_bytes()),
    }
    let mut record = other(5, &data);
    record.extend(vec![0xff; length as usize]);
    record
}

#[test]
fn all_flight_data_recorder_versions_give_the_same_calls() {
    for version in 1..=5 {
        // The second buffer comes first; the times of its records start again.
        let second = [
            cpu(1_100),
            call(3, 2, 0),
            other(6, &[9]),
            custom(version, 1_000, 0),
            call(2, 2, 50),
            other(3, &2_000_u64.to_le_bytes()),
            call(1, 1, 0),
        ];
        let first = [cpu(1_000), call(0, 1, 0)];
        let mut log = header(version, 1, 2_048);
        for (second_of_clock, records) in [(2, &second[..]), (1, &first[..])] {
            let mut buffer = buffer(version, 5, second_of_clock, records);
            if version == 1 {
                buffer.extend(other(1, &[]));
                buffer.resize(2_048, 0xee);
            }
            log.extend(buffer);
        }
        let recording = read_log(&log).unwrap();
        let called = called(&recording, &SymbolOptions::default());
        let expected = [("[function 1]", (1, 500)), ("[function 2]", (1, 25))];
        assert_eq!(
            called,
            expected.map(|(name, sum)| (name.to_owned(), sum)).into(),
            "{version}"
        );
        let [event, program] = &recording.warnings[..] else {
            panic!("{:?}", recording.warnings);
        };
        assert!(
            event.starts_with("1 event written by the program itself"),
            "{event}"
        );
        assert!(program.starts_with("no program"), "{program}");
        assert_eq!(recording.processes[0].pid, if version >= 3 { 7 } else { 0 });
    }
}

#[test]
fn reads_all_versions_of_basic_mode() {
    for version in 1..=3 {
        let mut log = header(version, 0, 0);
        for (kind, does, function, time) in [
            (0, 0, 1, 100),
            (0, 3, 2, 200),
            (1, 0, 2, 0),
            (0, 2, 2, 300),
            (0, 1, 1, 500),
        ] {
            let mut record = vec![kind, 0, 0, does];
            record.extend(u32::to_le_bytes(function));
            match kind {
                0 => record.extend(u64::to_le_bytes(time)),
                _ => record.extend([0; 8]),
            }
            record.extend(8_u32.to_le_bytes());
            record.extend([7, 0, 0, 0]);
            record.resize(32, 0xaa);
            log.extend(record);
        }
        let recording = read_log(&log).unwrap();
        let called = called(&recording, &SymbolOptions::default());
        let expected = [("[function 1]", (1, 200)), ("[function 2]", (1, 50))];
        assert_eq!(
            called,
            expected.map(|(name, sum)| (name.to_owned(), sum)).into()
        );
        assert_eq!(recording.threads[0].tid, 8);
        assert_eq!(recording.processes[0].pid, if version == 3 { 7 } else { 0 });
    }
}

#[test]
fn warns_about_an_unknown_clock() {
    let mut log = log("basic.xray");
    log[8..16].fill(0);
    let recording = read_log(&log).unwrap();
    let is_warned = recording
        .warnings
        .iter()
        .any(|warning| warning.contains("cycles are shown as nanoseconds"));
    assert!(is_warned, "{:?}", recording.warnings);
}

#[test]
fn rejects_a_truncated_log_unless_allowed() {
    for name in ["basic.xray", "fdr-small.xray"] {
        let whole = log(name);
        // No record size is a multiple of three, so every offset within a record is tested.
        for end in (33..whole.len()).step_by(3) {
            let cut = &whole[..end];
            let is_between = match name {
                "basic.xray" => end % 32 == 0,
                // Between buffers.
                _ => read_log(cut).is_ok(),
            };
            match read_log(cut) {
                Ok(_) => assert!(is_between, "{end}"),
                Err(FormatError::Truncated { .. } | FormatError::NoSamples { .. }) => {}
                Err(error) => panic!("{end}: {error}"),
            }
            let options = ReadOptions {
                allow_truncated: true,
                ..ReadOptions::default()
            };
            match read_bytes(Path::new("cut"), cut, &options) {
                Ok(recording) => {
                    let is_warned = recording
                        .warnings
                        .iter()
                        .any(|warning| warning.starts_with("The file is cut off or damaged"));
                    assert_eq!(is_warned, !is_between, "{end}: {:?}", recording.warnings);
                }
                Err(FormatError::NoSamples { .. }) => {}
                Err(error) => panic!("{end}: {error}"),
            }
        }
    }
}

#[test]
fn continues_after_a_damaged_buffer() {
    let version = 5;
    let good = |tid, second| {
        buffer(
            version,
            tid,
            second,
            &[cpu(1_000), call(0, 1, 0), call(1, 1, 100)],
        )
    };
    let mut log = header(version, 1, 0);
    log.extend(good(5, 1));
    // A record of an unknown kind, then a buffer without its length.
    log.extend(buffer(
        version,
        6,
        1,
        &[cpu(1_000), call(0, 2, 0), other(77, &[]), call(1, 2, 0)],
    ));
    log.extend(good(7, 1).split_off(16));
    log.extend(good(8, 1));
    let error = read_log(&log).unwrap_err().to_string();
    assert!(error.contains("byte"), "{error}");
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("damaged"), &log, &options).unwrap();
    let called = called(&recording, &SymbolOptions::default());
    assert_eq!(called["[function 1]"], (2, 100));
    assert_eq!(called["[function 2]"], (1, 0));
    let tids: Vec<u32> = recording.threads.iter().map(|thread| thread.tid).collect();
    assert_eq!(tids, [5, 6, 8]);
}

/// A new recording of a program with more calls than one batch of each thread.
#[test]
fn reads_new_logs_like_the_installed_llvm() {
    if missing(&["clang++", "llvm-xray"]) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &mut Command| {
        let output = command.current_dir(folder.path()).output().unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    let source = fs::read_to_string(testdata("xray/calls.cc")).unwrap();
    let source = source
        .replace("(void *)5L", "(void *)500L")
        .replace("(void *)3L", "(void *)300L");
    fs::write(folder.path().join("calls.cc"), source).unwrap();
    run(Command::new("clang++").args([
        "-O2",
        "-g",
        "-fxray-instrument",
        "-pthread",
        "calls.cc",
        "-o",
        "calls",
    ]));
    let basic = [
        ("XRAY_OPTIONS", "patch_premain=true xray_mode=xray-basic"),
        ("XRAY_BASIC_OPTIONS", "func_duration_threshold_us=0"),
    ];
    let fdr = [(
        "FDR",
        "func_duration_threshold_us=0:buffer_size=4096:buffer_max=1000",
    )];
    for variables in [&basic[..], &fdr[..]] {
        run(Command::new("./calls").envs(variables.iter().copied()));
        let logs = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().path());
        let path = logs
            .into_iter()
            .find(|path| path.to_string_lossy().contains("xray-log.calls."))
            .unwrap();
        let yaml = run(Command::new("llvm-xray")
            .args(["convert", "-f", "yaml", "-symbolize", "-m", "calls"])
            .arg(&path));
        let options = with_program(folder.path());
        let recording = read(&path, &options).unwrap();
        let expected = called_in_yaml(&yaml);
        assert_eq!(expected["work"].0, 3);
        assert_eq!(called(&recording, &options.symbols), expected);
        fs::remove_file(path).unwrap();
    }
}
