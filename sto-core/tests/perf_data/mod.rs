//! Reading perf.data files. The expected numbers are from `perf script`.

mod damage;
mod metrics;
mod public;
mod stacks;
mod streams;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::formats::{
    Format, FormatError, ReadOptions, group_pieces, read, read_bytes, read_pieces, run_time,
};
use sto_core::ingest::SymbolOptions;
use sto_core::recording::{Location, ModuleKind, Recording, Sample};
use sto_core::units::Unit;

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../testdata")
        .join(name)
}

/// Reads a recording of the programs in testdata/demo.
fn try_read(path: &Path) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        symbols: SymbolOptions {
            recording_dir: Some(testdata("demo")),
            ..SymbolOptions::default()
        },
        ..ReadOptions::default()
    };
    read(path, &options)
}

fn read_testdata(name: &str) -> Recording {
    try_read(&testdata(name)).unwrap()
}

/// Writes bytes to a file, reads it, and returns the error message without the folder.
fn error_of(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    let error = try_read(&path)
        .expect_err("the file is no good")
        .to_string();
    error.replace(&format!("{}/", folder.path().display()), "")
}

/// An event's name, samples, and summed values.
type Event<'a> = (&'a str, u64, u64);

fn events(recording: &Recording) -> Vec<Event<'_>> {
    let mut events: Vec<_> = recording
        .sample_types
        .iter()
        .map(|kind| (kind.event.as_str(), 0, 0))
        .collect();
    for sample in &recording.samples {
        let event = &mut events[sample.sample_type.0 as usize];
        event.1 += sample.cost.samples;
        event.2 += sample.cost.value;
    }
    events
}

fn samples_by_thread(recording: &Recording) -> BTreeMap<(&str, &str), usize> {
    let mut threads = BTreeMap::new();
    for sample in &recording.samples {
        let thread = &recording.threads[sample.thread.0 as usize];
        let program = &recording.processes[thread.process.0 as usize].program;
        *threads
            .entry((program.as_str(), thread.name.as_str()))
            .or_default() += 1;
    }
    threads
}

#[test]
fn keeps_every_sample_and_period() {
    let expected: [(&str, &[Event<'_>]); 13] = [
        ("demo/v1.perf.data", &[("cpu-clock", 2716, 2_724_172_444)]),
        (
            "perf-data/zstd.perf.data",
            &[("cpu-clock", 419, 420_260_771)],
        ),
        (
            "perf-data/pipe.perf.data",
            &[("cpu-clock", 437, 438_314_933)],
        ),
        (
            "perf-data/pipe-zstd.perf.data",
            &[("cpu-clock", 500, 501_504_500)],
        ),
        (
            "perf-data/threads.perf.data",
            &[("cpu-clock", 296, 296_890_664)],
        ),
        (
            "perf-data/two-events.perf.data",
            &[("cpu-clock", 641, 642_928_769), ("page-faults", 8, 404)],
        ),
        // `perf script` uses the difference of the counter here, which is 0.03 % more than the periods.
        (
            "perf-data/group.perf.data",
            &[("cpu-clock", 71, 356_783_875)],
        ),
        (
            "perf-data/dwarf.perf.data",
            &[("cpu-clock", 17, 85_427_125)],
        ),
        (
            "perf-data/node-map.perf.data",
            &[("cpu-clock", 54, 271_356_750)],
        ),
        (
            "perf-data/node-dump.perf.data",
            &[("cpu-clock", 58, 291_457_250)],
        ),
        (
            "perf-data/node-injected.perf.data",
            &[("cpu-clock", 58, 291_457_250)],
        ),
        (
            "perf-data/per-thread.perf.data",
            &[("cpu-clock", 72, 361_809_000)],
        ),
        (
            "perf-data/system-wide.perf.data",
            &[("cpu-clock", 218, 1_095_477_250)],
        ),
    ];
    for (file, counts) in expected {
        assert_eq!(events(&read_testdata(file)), counts, "{file}");
    }
}

#[test]
fn separates_threads_and_programs() {
    let recording = read_testdata("perf-data/threads.perf.data");
    let expected = BTreeMap::from([(("threads", "adder"), 115), (("threads", "divider"), 181)]);
    assert_eq!(samples_by_thread(&recording), expected);
    assert_eq!(recording.processes.len(), 1);
}

#[test]
fn program_is_the_executed_file() {
    let recording = read_testdata("demo/v1.perf.data");
    let process = &recording.processes[0];
    assert_eq!(process.program, "demo-v1");
    let main = &recording.modules[process.main_module.unwrap().0 as usize];
    assert_eq!((main.name(), main.kind), ("demo-v1", ModuleKind::File));
    assert!(main.build_id.is_some());
}

/// The program of the recorded process, if there is one.
fn recorded(file: &str) -> Option<String> {
    let recording = read_testdata(file);
    let process = &recording.processes[recording.recorded?.get()];
    Some(process.program.clone())
}

#[test]
fn recorded_program_is_the_one_that_starts_all_others() {
    let recorded = |file| recorded(file);
    assert_eq!(recorded("demo/v1.perf.data").as_deref(), Some("demo-v1"));
    assert_eq!(
        recorded("perf-data/script.perf.data").as_deref(),
        Some("dash")
    );
    for file in [
        "perf-data/system-wide.perf.data",
        "perf-data/counters-all.perf.data",
        "perf-data/ran-before.perf.data",
    ] {
        assert_eq!(recorded(file), None, "{file}");
    }
}

#[test]
fn program_is_not_the_loader_that_was_executed() {
    let recording = read_testdata("perf-data/loader.perf.data");
    let recorded = &recording.processes[recording.recorded.unwrap().get()];
    assert_eq!(recorded.program, "hot");
    let main = &recording.modules[recorded.main_module.unwrap().get()];
    let build_id = main.build_id.as_ref().unwrap().to_string();
    assert!(build_id.starts_with("a133f5c6"), "{build_id}");
}

#[test]
fn pieces_of_one_recording_are_read_as_one() {
    let names = ["perf.data.2026112713425748", "perf.data.2026112713425469"];
    let pieces = names.map(|name| testdata("perf-data/rotated").join(name));
    let other = testdata("demo/v1.perf.data");
    let paths = [&*pieces[0], &*other, &*pieces[1]];
    assert_eq!(group_pieces(&paths), [vec![2, 0], vec![1]]);

    let in_order = [pieces[1].clone(), pieces[0].clone()];
    let whole = read_pieces(&in_order, &ReadOptions::default()).unwrap();
    let parts = in_order.map(|piece| read(&piece, &ReadOptions::default()).unwrap());
    let samples = |recording: &Recording| recording.samples.len();
    assert_eq!(samples(&whole), samples(&parts[0]) + samples(&parts[1]));
    assert_eq!(whole.processes.len(), 1);
    assert_eq!(whole.processes[0].program, "hot");
    let other = [pieces[1].clone(), other];
    let error = read_pieces(&other, &ReadOptions::default()).unwrap_err();
    assert!(error.to_string().contains("has other events"), "{error}");
}

#[test]
fn process_started_before_the_recording_is_not_its_parent() {
    let recording = read_testdata("perf-data/ran-before.perf.data");
    let process = &recording.processes[0];
    assert_eq!(process.program, "child");
    let main = &recording.modules[process.main_module.unwrap().0 as usize];
    assert_eq!(main.name(), "child");
}

#[test]
fn rejects_a_part_of_a_directory_recording() {
    let mut bytes = std::fs::read(testdata("demo/v1.perf.data")).unwrap();
    // `HEADER_DIR_FORMAT`, bit 24 of the features.
    bytes[72 + 3] |= 1;
    let error = error_of("part", &bytes);
    assert!(error.contains("Record without --threads"), "{error}");
}

#[test]
fn names_other_files_by_their_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("stacks.folded");
    std::fs::write(&path, "main;work 42\n").unwrap();
    let options = ReadOptions {
        format: Some(Format::PerfData),
        ..ReadOptions::default()
    };
    let error = read(&path, &options).unwrap_err().to_string();
    assert!(
        error.contains("byte 0: expected `PERFILE2`, found `main;work 42"),
        "{error}"
    );
}

#[test]
fn samples_are_sorted_by_time() {
    for file in [
        "demo/v1.perf.data",
        "perf-data/zstd.perf.data",
        "perf-data/pipe.perf.data",
    ] {
        let recording = read_testdata(file);
        assert!(
            recording.samples.iter().all(|sample| sample.time.is_some()),
            "{file}"
        );
        assert!(
            recording.samples.is_sorted_by_key(|sample| sample.time),
            "{file}"
        );
    }
}

#[test]
fn reads_the_origin_of_a_recording() {
    let origin = read_testdata("demo/v1.perf.data").origin.clone();
    assert_eq!(origin.arch.as_deref(), Some("x86_64"));
    assert!(origin.kernel.is_some() && origin.host.is_some() && origin.cpu.is_some());
    assert!(origin.command.unwrap().contains("record"));
    assert!(origin.duration.unwrap().0 > 1_000_000_000);
}

/// Any bit may be a field, and fields determine the offsets of later ones.
#[test]
fn rejects_unknown_sample_fields_with_advice() {
    // The offset of the first event's description, and of the field in it.
    let (pipe, file) = (24, 136);
    for (name, field, bit, expected) in [
        ("lbr", pipe + 24, 25, "bit 25 of sample_type"),
        ("group", file + 32, 5, "bit 5 of read_format"),
        ("lbr", pipe + 72, 20, "bit 20 of branch_sample_type"),
        ("lbr", pipe + 40, 38, "--call-graph fp,defer"),
    ] {
        let path = testdata(&format!("perf-data/{name}.perf.data"));
        let mut bytes = std::fs::read(path).unwrap();
        bytes[field + bit / 8] |= 1 << (bit % 8);
        let error = error_of(name, &bytes);
        assert!(error.contains(expected), "{error}");
        assert!(error.contains("run `perf script`"), "{error}");
    }
}

/// `enum perf_sample_regs_abi`: other values have registers of other sizes.
#[test]
fn rejects_unknown_register_sets() {
    let path = testdata("perf-data/branch-counters.perf.data");
    let mut bytes = std::fs::read(path).unwrap();
    let abi_of_the_first_sample = 0x260 + 0x70;
    assert_eq!(bytes[abi_of_the_first_sample], 2);
    bytes[abi_of_the_first_sample] = 4;
    let error = error_of("newer", &bytes);
    assert!(error.contains("newer than this version of sto"), "{error}");
}

#[test]
fn run_time_is_that_of_the_command() {
    let time = |name| run_time(&testdata(name)).map(|time| time.0);
    // Its samples cover 85 ms of CPU time.
    let ran = time("perf-data/dwarf.perf.data").unwrap();
    assert!((80_000_000..3_000_000_000).contains(&ran), "{ran}");
    // It has no times.
    assert_eq!(time("perf-data/per-thread.perf.data"), None);
    // It has no exec and no exit.
    assert_eq!(time("perf-data/lbr.perf.data"), None);
    assert_eq!(time("perf-data/no-such-file"), None);
}

#[test]
fn skips_tracepoint_descriptions_of_a_stream() {
    let recording = read_testdata("perf-data/pipe-tracepoint.perf.data");
    assert_eq!(events(&recording), [("sched:sched_switch", 2, 2)]);
    // Also if it is truncated.
    let bytes = std::fs::read(testdata("perf-data/pipe-tracepoint.perf.data")).unwrap();
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    let cut = read_bytes(Path::new("x"), &bytes[..bytes.len() - 1], &options).unwrap();
    assert!(cut.samples.len() + 1 >= recording.samples.len());
}

#[test]
fn samples_have_the_name_that_their_thread_had_then() {
    let recording = read_testdata("perf-data/renames.perf.data");
    let names = |sample: &Sample| &*recording.threads[sample.thread.get()].name;
    let mut names: Vec<&str> = recording.samples.iter().map(names).collect();
    names.retain(|name| *name != "renames");
    names.dedup();
    assert_eq!(names, ["loader", "renderer"]);
}

/// The expected times are those of `testdata/perf-data/off-cpu/reference.py`.
#[test]
fn context_switches_cost_the_time_until_the_thread_runs_again() {
    for (name, expected) in [
        (
            "sched-switch",
            &[
                ("[sleeping]", 186_332_624),
                ("[waiting for I/O]", 19_872_269),
            ][..],
        ),
        ("context-switches", &[("[sleeping]", 206_826_939)]),
    ] {
        let recording = read_testdata(&format!("perf-data/off-cpu/{name}.perf.data"));
        let types = recording.sample_types.iter();
        let types: Vec<_> = types.map(|of| (&*of.event, of.unit)).collect();
        let nanoseconds = Unit::Nanoseconds;
        assert_eq!(
            types,
            [("cpu-clock", nanoseconds), ("off-cpu", nanoseconds)]
        );
        let mut times: BTreeMap<&str, u64> = BTreeMap::new();
        for sample in recording
            .samples
            .iter()
            .filter(|sample| sample.sample_type.get() == 1)
        {
            let leaf = recording.stacks.leaf(sample.stack).unwrap();
            let Location::Named(frame) = recording.locations[leaf.get()] else {
                panic!("no reason");
            };
            *times
                .entry(recording.named.frame(frame).symbol)
                .or_default() += sample.cost.value;
        }
        assert_eq!(times.into_iter().collect::<Vec<_>>(), expected, "{name}");
    }
}
