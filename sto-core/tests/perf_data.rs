//! Reading perf.data files. The expected numbers are from `perf script`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use sto_core::formats::{
    Format, FormatError, ReadOptions, group_pieces, read, read_bytes, read_pieces, run_time,
};
use sto_core::ingest::SymbolOptions;
use sto_core::model::MetricKind;
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

/// Reads a recording with `allow_truncated`.
fn try_read_part(bytes: &[u8]) -> Result<Recording, FormatError> {
    let options = ReadOptions {
        allow_truncated: true,
        ..ReadOptions::default()
    };
    read_bytes(Path::new("part"), bytes, &options)
}

#[test]
fn keeps_complete_records_of_a_truncated_recording_if_allowed() {
    for name in [
        "demo/v1.perf.data",
        "perf-data/pipe.perf.data",
        "perf-data/zstd.perf.data",
    ] {
        let bytes = std::fs::read(testdata(name)).unwrap();
        let whole = try_read_part(&bytes).unwrap();
        assert_eq!(whole.warnings, read_testdata(name).warnings, "{name}");
        let part = &bytes[..bytes.len() * 2 / 3];
        assert!(matches!(
            read_bytes(Path::new("part"), part, &ReadOptions::default()),
            Err(FormatError::Truncated { .. })
        ));
        let kept = try_read_part(part).unwrap();
        assert!(
            (whole.samples.len() / 4..=whole.samples.len()).contains(&kept.samples.len()),
            "{name}: {} of {}",
            kept.samples.len(),
            whole.samples.len()
        );
        let warning = kept.warnings.last().unwrap();
        assert!(
            warning.starts_with("The file is cut off or damaged after byte"),
            "{warning}"
        );
        assert_eq!(kept.source_bytes.0, part.len() as u64);
    }
}

/// If perf is killed, it leaves the size of its data section zero.
#[test]
fn reads_a_recording_of_a_killed_perf() {
    let mut bytes = std::fs::read(testdata("demo/v1.perf.data")).unwrap();
    let samples = try_read_part(&bytes).unwrap().samples.len();
    let data_end = (bytes[40..48].iter().zip(&bytes[48..56]).rev())
        .fold(0usize, |sum, (at, size)| {
            (sum << 8) + usize::from(*at) + usize::from(*size)
        });
    bytes[48..56].fill(0);
    bytes.truncate(data_end);
    assert!(try_read_part(&bytes).unwrap().samples.len() == samples);
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
fn warns_about_callers_missed_by_frame_pointers() {
    let warns = |file| {
        let recording = read_testdata(file);
        recording
            .warnings
            .iter()
            .any(|w| w.contains("-fno-omit-frame-pointer"))
    };
    assert!(warns("perf-data/ran-before.perf.data"));
    assert!(!warns("perf-data/threads.perf.data"));
    assert!(!warns("perf-data/dwarf.perf.data"));
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

#[test]
fn unwinds_saved_stacks_to_the_root() {
    let recording = read_testdata("demo/v1.dwarf.perf.data");
    let whole = recording
        .samples
        .iter()
        .filter(|sample| !sample.truncated)
        .count();
    assert!(
        whole * 100 >= recording.samples.len() * 99,
        "{whole} of {}",
        recording.samples.len()
    );
    let deep = recording
        .stacks
        .iter()
        .filter(|&stack| recording.stacks.depth(stack) >= 5)
        .count();
    assert_eq!(
        deep,
        recording.stacks.len(),
        "_start, libc twice, main, and what main calls"
    );
}

#[test]
fn stacks_are_root_first() {
    let recording = read_testdata("perf-data/threads.perf.data");
    let main_module = recording.processes[0].main_module.unwrap();
    // libc starts the thread, and the program's function runs in it.
    for stack in recording.stacks.iter() {
        let modules: Vec<_> = recording
            .stacks
            .get(stack)
            .iter()
            .map(|location| match recording.locations[location.0 as usize] {
                Location::Address { module, .. } => module,
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(modules.last(), Some(&main_module));
        assert_eq!(recording.modules[modules[0].0 as usize].name(), "libc.so.6");
    }
}

/// The stacks of a recording, root first, with paths and offsets.
fn stacks(recording: &Recording) -> Vec<Vec<String>> {
    let shown = |location: Location| match location {
        Location::Address { module, address } => {
            let module = &recording.modules[module.0 as usize];
            format!("{}+{address:#x}", module.path)
        }
        _ => "unmapped".to_owned(),
    };
    let samples = recording.samples.iter();
    let stacks = samples.map(|sample| recording.stacks.get(sample.stack));
    stacks
        .map(|stack| {
            let locations = stack.iter().map(|ix| recording.locations[ix.0 as usize]);
            locations.map(shown).collect()
        })
        .collect()
}

/// Expected from `perf script`, with return addresses looked up one byte lower.
#[test]
fn last_branch_records_supply_user_callers() {
    let calls = ["/bin/lbr+0x100f", "/bin/lbr+0x200f", "/bin/lbr+0x3000"];
    let in_kernel = [&calls[..], &["unmapped"]].concat();
    assert_eq!(
        stacks(&read_testdata("perf-data/lbr.perf.data")),
        [&calls[..], &in_kernel, &["/bin/lbr+0x1008"]]
    );
}

/// `PERF_SAMPLE_BRANCH_COUNTERS`, after the branches of all events of its group.
#[test]
fn skips_branch_counters() {
    let calls = [
        "/bin/counted+0x100f",
        "/bin/counted+0x200f",
        "/bin/counted+0x3008",
    ];
    assert_eq!(
        stacks(&read_testdata("perf-data/branch-counters.perf.data")),
        [calls; 3]
    );
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
fn guest_code_is_not_resolved_in_the_host() {
    assert_eq!(
        stacks(&read_testdata("perf-data/guest.perf.data")),
        [
            ["[guest kernel]+0x0"],
            ["[guest user]+0x0"],
            ["/bin/vcpu+0x1008"]
        ]
    );
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

/// A metric's name, the number of its points, their sum, and its first and last time.
fn metrics(file: &str) -> Vec<(String, usize, f64, u64, u64)> {
    let recording = read_testdata(file);
    let metrics = recording.metrics.iter().map(|metric| {
        assert_eq!(metric.kind(), MetricKind::Count);
        let times = metric.times();
        let sum = metric.values().iter().sum();
        let (first, last) = (times[0].0, times[times.len() - 1].0);
        (metric.name().to_owned(), times.len(), sum, first, last)
    });
    metrics.collect()
}

#[test]
fn group_counters_become_metrics_of_differences() {
    // The last values minus the first, from `perf script -D`.
    let (first, last) = (56_945_890_901_414, 56_945_974_910_737);
    let expected = [
        ("cpu-clock", 28, 68_076_550.0),
        ("page-faults", 28, 24_001.0),
        ("context-switches", 28, 14.0),
    ];
    let expected = expected.map(|(name, points, sum)| (name.to_owned(), points, sum, first, last));
    assert_eq!(metrics("perf-data/counters.perf.data"), expected);
    // For each of two processors, which have no samples at the same time.
    let both = metrics("perf-data/counters-all.perf.data");
    let sums: Vec<_> = both
        .iter()
        .map(|metric| (&*metric.0, metric.2.round()))
        .collect();
    let clock = 95_718_298.0 + 90_683_367.0;
    assert_eq!(
        sums,
        [("cpu-clock", clock), ("page-faults", 24_212.0 + 24_049.0)]
    );
    let samples = read_testdata("perf-data/counters-all.perf.data")
        .samples
        .len();
    assert!(both.iter().all(|metric| metric.1 == samples), "{both:?}");
}

#[test]
fn scales_multiplexed_counters_and_separates_threads() {
    let recording = read_testdata("perf-data/waiting-counters.perf.data");
    let points = recording.metrics.iter().map(|metric| {
        let times = metric.times().iter().map(|time| time.0);
        let points: Vec<_> = times.zip(metric.values().iter().copied()).collect();
        (metric.name(), points)
    });
    let expected = [
        (
            "event-0",
            vec![(100, 0.0), (150, 500.0), (200, 550.0), (250, 50.0)],
        ),
        (
            "event-1",
            vec![(100, 0.0), (150, 10.0), (200, 15.0), (250, 5.0)],
        ),
    ];
    assert_eq!(points.collect::<Vec<_>>(), expected);
}

#[test]
fn events_without_stacks_also_become_metrics() {
    let file = "perf-data/beside.perf.data";
    let recording = read_testdata(file);
    let [clock, faults, switches] = ["cpu-clock", "page-faults", "context-switches"];
    assert_eq!(recording.warnings, [""; 0]);
    let expected = [
        (clock, 28, 70_528_948),
        (faults, 240, 24_000),
        (switches, 9, 9),
    ];
    assert_eq!(events(&recording), expected);
    let first = recording.samples[0].time.unwrap().0;
    let found = metrics(file);
    let found: Vec<_> = found
        .iter()
        .map(|(name, points, sum, begin, _)| (&**name, *points, *sum, *begin))
        .collect();
    // The first sample is of context-switches, and the other counter was read a nanosecond later.
    assert_eq!(
        found,
        [(faults, 242, 24_000.0, first), (switches, 10, 9.0, first)]
    );
}

#[test]
fn ordinary_recordings_have_no_metrics() {
    for file in [
        "demo/v1.perf.data",
        "perf-data/two-events.perf.data",
        "perf-data/per-thread.perf.data",
        "perf-data/branch-counters.perf.data",
    ] {
        assert_eq!(metrics(file), [], "{file}");
    }
}

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

/// The numbers are from `perf script`.
#[test]
fn warns_about_a_recording_without_call_chains() {
    let recording = read_testdata("perf-data/no-call-chains.perf.data");
    assert_eq!(events(&recording), [("cpu-clock", 413, 414_242_717)]);
    for sample in &recording.samples {
        assert_eq!(recording.stacks.depth(sample.stack), 1);
        assert!(!sample.truncated);
    }
    let [warning] = &recording.warnings[..] else {
        panic!("{:?}", recording.warnings);
    };
    assert!(warning.contains("perf record -g"), "{warning}");
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
fn rejects_big_endian_recordings() {
    let mut bytes = std::fs::read(testdata("perf-data/zstd.perf.data")).unwrap();
    bytes[..8].reverse();
    assert!(error_of("perf.data", &bytes).contains("big-endian"));
}

#[test]
fn rejects_an_unfinished_recording() {
    let mut bytes = std::fs::read(testdata("perf-data/zstd.perf.data")).unwrap();
    bytes[48..56].fill(0);
    let error = error_of("perf.data", &bytes);
    assert!(error.contains("perf was killed"), "{error}");
}

#[test]
fn rejects_truncation_anywhere() {
    for file in ["zstd.perf.data", "threads.perf.data", "pipe.perf.data"] {
        let bytes = std::fs::read(testdata("perf-data").join(file)).unwrap();
        let is_stream = file.starts_with("pipe");
        for cut in (9..bytes.len()).step_by(bytes.len() / 150) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(file);
            std::fs::write(&path, &bytes[..cut]).unwrap();
            match try_read(&path) {
                Err(error) => assert!(error.to_string().contains(file), "{file} {cut}: {error}"),
                // A stream that ends between two records cannot be distinguished from a whole one.
                Ok(_) => assert!(is_stream, "{file} was read although cut at {cut}"),
            }
        }
    }
}

#[test]
fn reports_actual_and_expected_size_of_a_truncated_file() {
    let bytes = std::fs::read(testdata("perf-data/threads.perf.data")).unwrap();
    let data_end = u64::from_le_bytes(bytes[40..48].try_into().unwrap())
        + u64::from_le_bytes(bytes[48..56].try_into().unwrap());
    let expected = format!(
        "perf.data: truncated: the data section ends at byte {data_end}, but the file ends at \
         byte 5000; was the recording killed, or the copy cut short? Record or copy it again, or read the part before the cut"
    );
    assert_eq!(error_of("perf.data", &bytes[..5000]), expected);
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
