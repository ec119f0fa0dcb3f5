//! Ingestion: the names and metadata of profiles, and adding them to a store.

use crate::common::{named_symbols, read_text};
use crate::symbolize::compile::{Program, run};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use sto_core::formats::{Format, FormatError, OnRead, ReadOptions, read, read_bytes, read_stream};
use sto_core::id::{BuildRecordingId, ExecutableId, RecordingDigest};
use sto_core::ingest::{
    IngestError, IngestOptions, Input, Prepared, Stage, ingest, make_profiles, prepare,
};
use sto_core::limits::{MAX_LABELS, MAX_USER_STRING};
use sto_core::model::{GnuBuildId, Granularity, Quality};
use sto_core::recording::{
    Location, LocationIx, Module, ModuleIx, ModuleKind, Process, ProcessIx, Recording,
    RecordingParts,
};
use sto_core::store::{Added, Store};
use sto_core::trace::{
    CallRecord, CallThread, CallThresholds, CallsByArgument, LongCall, Outlier, RunCalls,
    ThreadActivity, ThreadCalls, Wait,
};
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Nanoseconds};
use sto_core::{CancelToken, Notice};
use sto_test_support::missing;

/// Three programs: `server` with 3 samples in two processes, `client` with 2, `idle` with 2.
fn three_programs() -> Recording {
    let sample =
        |comm, pid, event, stack| format!("{comm} {pid}/{pid} 1.0: 10 {event}:\n{stack}\n");
    let main = "\t1 work (/bin/x)\n\t2 main (/bin/x)\n";
    let text: String = [
        ("server", 10, "cycles", main),
        ("server", 10, "cycles", main),
        (
            "idle",
            40,
            "cycles",
            "\tffffffff81000000 [unknown] ([kernel.kallsyms])\n",
        ),
        ("server", 20, "faults", main),
        (
            "client",
            30,
            "cycles",
            "\t1 [unknown] (/lib/y.so)\n\t2 main (/bin/x)\n",
        ),
        ("client", 30, "cycles", main),
        (
            "idle",
            40,
            "cycles",
            "\tffffffff81000000 halt ([kernel.kallsyms])\n",
        ),
    ]
    .map(|(comm, pid, event, stack)| sample(comm, pid, event, stack))
    .concat();
    read_text(&text).unwrap()
}

/// Sets the build id of a program's main file.
fn set_build_id(recording: &mut RecordingParts, pid: u32, build_id: u8) {
    recording.modules.push(Module {
        path: format!("/bin/{build_id}"),
        kind: ModuleKind::File,
        build_id: GnuBuildId::from_bytes(&[build_id; 4]),
        inode: None,
        text_address: None,
        alias: None,
    });
    let module = ModuleIx(recording.modules.len() as u32 - 1);
    let process = recording
        .processes
        .iter_mut()
        .find(|process| process.pid == pid);
    process.unwrap().main_module = Some(module);
}

fn version(version: &str) -> IngestOptions {
    IngestOptions {
        version: Some(version.to_owned()),
        ..IngestOptions::default()
    }
}

fn texts(notices: &[Notice]) -> Vec<String> {
    notices.iter().map(|notice| notice.text.clone()).collect()
}

fn prepare_all(
    recording: &Recording,
    options: &IngestOptions,
) -> Result<(Vec<Prepared>, Vec<String>), IngestError> {
    let path = Path::new("runs/app.folded");
    let (profiles, warnings) = make_profiles(path, recording, &named_symbols(recording), options)?;
    Ok((profiles, texts(&warnings)))
}

fn prepare_one(recording: &Recording, options: &IngestOptions) -> Prepared {
    let (mut profiles, _) = prepare_all(recording, options).unwrap();
    assert_eq!(profiles.len(), 1);
    profiles.remove(0)
}

fn names(profiles: &[Prepared]) -> Vec<(&str, &str, u64)> {
    let mut names = Vec::new();
    for Prepared { build, profile, .. } in profiles {
        let samples = profile.quality.samples;
        names.push((build.executable.as_str(), build.version.as_str(), samples));
    }
    names
}

#[test]
fn names_builds_after_the_largest_program_and_its_build_id() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 20, 0xab);
    });
    let recording = recording.unwrap();
    let Prepared {
        build,
        profile,
        interned,
        ..
    } = prepare_one(&recording, &IngestOptions::default());
    assert_eq!(build.executable, "server");
    assert_eq!(build.version, "abababab");
    assert_eq!(build.gnu_build_id, GnuBuildId::from_bytes(&[0xab; 4]));
    assert_eq!(profile.build, build.id());
    assert_eq!(
        profile.quality.samples, 7,
        "the profile is of the whole recording"
    );
    assert_eq!(interned.costs.len(), 2);
}

#[test]
fn names_builds_after_the_recorded_program_even_if_its_helpers_cost_more() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 10, 1);
        set_build_id(recording, 30, 3);
        let client = |process: &Process| process.pid == 30;
        let client = recording.processes.iter().position(client).unwrap();
        recording.recorded = Some(ProcessIx(client as u32));
    });
    let recording = recording.unwrap();
    let prepared = prepare_one(&recording, &IngestOptions::default());
    assert_eq!(names(&[prepared]), [("client", "03030303", 7)]);
    let options = IngestOptions {
        executable: Some("server".to_owned()),
        ..IngestOptions::default()
    };
    let named = prepare_one(&recording, &options);
    assert_eq!(names(&[named]), [("server", "01010101", 7)]);
}

#[test]
fn takes_the_build_id_of_the_process_with_most_samples() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 20, 2);
        set_build_id(recording, 10, 1);
    });
    let recording = recording.unwrap();
    assert_eq!(
        prepare_one(&recording, &IngestOptions::default())
            .build
            .version,
        "01010101"
    );
}

#[test]
fn user_can_name_executable_and_version() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 10, 1);
        set_build_id(recording, 30, 3);
    });
    let recording = recording.unwrap();
    let options = |executable: &str| IngestOptions {
        executable: Some(executable.to_owned()),
        revision: Some("v1-2-gabc".to_owned()),
        ..version("v1")
    };
    let build = prepare_one(&recording, &options("client")).build;
    assert_eq!(
        (build.executable.as_str(), build.version.as_str()),
        ("client", "v1")
    );
    assert_eq!(
        build.gnu_build_id,
        GnuBuildId::from_bytes(&[3; 4]),
        "of the program named so"
    );
    assert_eq!(build.revision.as_deref(), Some("v1-2-gabc"));
    let build = prepare_one(&recording, &options("suite")).build;
    assert_eq!(build.executable, "suite");
    assert_eq!(
        build.gnu_build_id,
        GnuBuildId::from_bytes(&[1; 4]),
        "of the main program"
    );
}

#[test]
fn rejects_a_build_without_a_name() {
    let error = prepare_all(&three_programs(), &IngestOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "runs/app.folded: the recording has no GNU build id of `server` to name the build after; \
         give the build a name"
    );
}

#[test]
fn programs_with_equal_samples_are_sorted_by_name() {
    let text = "b 2/2 1.0: 1 cycles:\n\t1 f (p)\n\na 1/1 2.0: 1 cycles:\n\t1 f (p)\n";
    let recording = read_text(text).unwrap();
    assert_eq!(prepare_one(&recording, &version("v")).build.executable, "a");
}

#[test]
fn names_the_program_after_the_file_if_the_format_has_no_names() {
    let recording = read_text("main;work 3\n").unwrap();
    assert_eq!(
        prepare_one(&recording, &version("v")).build.executable,
        "app"
    );
    let stdin = make_profiles(
        Path::new("-"),
        &recording,
        &named_symbols(&recording),
        &version("v"),
    );
    assert_eq!(stdin.unwrap().0[0].build.executable, "unknown");
}

#[test]
fn names_a_nameless_program_among_others_unknown() {
    let text = "  1/1 1.0: 1 cycles:\n\t1 f (p)\n\n 1/1 1.0: 1 cycles:\n\t1 f (p)\n\nb 2/2 2.0: 1 cycles:\n\t1 f (p)\n";
    let recording = read_text(text).unwrap();
    assert_eq!(
        prepare_one(&recording, &version("v")).build.executable,
        "unknown"
    );
}

#[test]
fn splits_processes_by_program() {
    let options = IngestOptions {
        split_processes: true,
        ..version("v1")
    };
    let (profiles, warnings) = prepare_all(&three_programs(), &options).unwrap();
    assert_eq!(
        names(&profiles),
        [("server", "v1", 3), ("client", "v1", 2), ("idle", "v1", 2)]
    );
    assert_eq!(warnings, [""; 0]);
    let symbols = |profile: &Prepared| -> Vec<String> {
        let frames = profile.interned.frames.iter();
        frames.map(|(_, frame)| frame.symbol.to_owned()).collect()
    };
    assert_eq!(symbols(&profiles[0]), ["main", "work"]);
    assert_eq!(symbols(&profiles[2]), ["[kernel]", "halt"]);
    assert_eq!(
        profiles[0].interned.costs[1].len(),
        1,
        "the process 20 is part of server"
    );
}

#[test]
fn source_digest_depends_on_program_and_granularity() {
    let recording = three_programs();
    let ids = |recording: &Recording, change: &dyn Fn(&mut IngestOptions)| {
        let mut options = version("v1");
        change(&mut options);
        let (profiles, _) = prepare_all(recording, &options).unwrap();
        let ids = profiles
            .iter()
            .map(|prepared| prepared.profile.build_recording_id());
        ids.collect::<Vec<_>>()
    };
    let by_line = |options: &mut IngestOptions| options.symbols.granularity = Granularity::Line;
    let split = |options: &mut IngestOptions| options.split_processes = true;
    let [plain, lines, parts, lines_of_parts] = [
        ids(&recording, &|_| {}),
        ids(&recording, &by_line),
        ids(&recording, &split),
        ids(&recording, &|options| {
            by_line(options);
            split(options);
        }),
    ];
    let build = ExecutableId::from_name("server");
    let build = sto_core::id::BuildId::new(build, "v1");
    assert_eq!(plain, [BuildRecordingId::new(build, recording.source)]);
    let server = [plain[0], lines[0], parts[0], lines_of_parts[0]];
    let distinct: std::collections::BTreeSet<_> = server.into_iter().collect();
    assert_eq!(distinct.len(), 4, "{server:?}");
    // The only program is the whole recording. Slices, labels and metrics change no stack.
    let alone = read_text("main;work 7\n").unwrap();
    let same: [&dyn Fn(&mut IngestOptions); 4] = [
        &|_| {},
        &split,
        &|options| options.slices = SliceCount::new(1),
        &|options| options.strict = true,
    ];
    let same = same.map(|change| ids(&alone, change));
    assert!(same.iter().all(|ids| *ids == same[0]), "{same:?}");
}

#[test]
fn source_digest_depends_on_a_forced_format() {
    let source = |bytes: &[u8], format| {
        let options = ReadOptions {
            format,
            ..ReadOptions::default()
        };
        let read = read_bytes(Path::new("x"), bytes, &options).unwrap();
        let streamed = sto_core::formats::read_stream(Path::new("x"), bytes, &options).unwrap();
        assert_eq!(read.source, streamed.source);
        read.source
    };
    let folded = b"main;work 7\n";
    let plain = source(folded, None);
    assert_eq!(plain, RecordingDigest::hash_bytes(folded));
    assert_eq!(source(folded, Some(Format::Folded)), plain);
    let untold = b"\n  main\n  3\n";
    assert_eq!(
        source(untold, Some(Format::DTrace)),
        RecordingDigest::hash_bytes(untold).with_option("format", "dtrace")
    );
}

#[test]
fn warns_if_a_build_has_a_recording_twice() {
    let store = Store::in_memory().unwrap();
    let path = Path::new("perf.txt");
    let put = |split_processes| {
        let options = IngestOptions {
            split_processes,
            ..version("v1")
        };
        ingest(&store, (path, three_programs()), &options, &mut |_| {}).unwrap()
    };
    let whole = put(false);
    assert_eq!(whole.warnings, []);
    let parts = put(true);
    assert!(parts.profiles.iter().all(|part| part.added.is_new()));
    let id = whole.profiles[0].id.to_string();
    let [warning] = &texts(&parts.warnings)[..] else {
        panic!("{:?}", parts.warnings);
    };
    assert!(
        warning.contains(&id[..12]) && warning.contains("count twice"),
        "{warning}"
    );
    // Ingesting with the same options again changes nothing.
    for again in [put(false), put(true)] {
        assert!(again.profiles.iter().all(|part| !part.added.is_new()));
        assert_eq!(again.warnings, []);
    }
}

/// A stripped program with a separate debug file, which is found by the program's build id.
#[test]
fn resolves_functions_without_a_recorded_build_id() {
    if missing(&["objcopy"]) {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let source = "__attribute__((noinline)) long hidden(long n) { return n * n; }\n\
                  int main(int n, char **v) { return hidden(n); }";
    let program = Program::c(dir.path(), source);
    let hidden = program.offsets_of("hidden").start;
    run(
        dir.path(),
        "objcopy",
        &["--only-keep-debug", "app", "app.debug"],
    );
    run(dir.path(), "objcopy", &["--strip-all", "app", "stripped"]);
    let stripped = Program::open(&dir.path().join("stripped"));
    let id = stripped.module().build_id.unwrap();
    let hex = id.to_string();
    let folder = dir.path().join("debug/.build-id").join(&hex[..2]);
    std::fs::create_dir_all(&folder).unwrap();
    let debug_file = folder.join(format!("{}.debug", &hex[2..]));
    std::fs::rename(dir.path().join("app.debug"), debug_file).unwrap();

    let mut options = version("v1");
    options.symbols.debug_dirs = vec![dir.path().join("debug")];
    let frames_of = |module: Module| {
        let recording = read_text("app 1/1 1.0: 10 cycles:\n\t1 x (/bin/x)\n").unwrap();
        let recording = recording.edit(|recording| {
            recording.modules = vec![module];
            recording.locations[0] = Location::Address {
                module: ModuleIx(0),
                address: hidden,
            };
        });
        let recording = recording.unwrap();
        let store = Store::in_memory().unwrap();
        let report = ingest(&store, (Path::new("x"), recording), &options, &mut |_| {}).unwrap();
        let profile = &report.profiles[0].profile;
        let executable = ExecutableId::from_name(&report.profiles[0].build.executable);
        let loaded = store
            .snapshot()
            .unwrap()
            .load(executable, &[report.profiles[0].id])
            .unwrap();
        let frames = loaded.frames.iter();
        let symbols: Vec<_> = frames.map(|(_, frame)| frame.symbol.to_owned()).collect();
        (symbols, profile.modules[0].build_id.clone())
    };
    let expected = (vec!["hidden".to_owned()], Some(id));
    assert_eq!(frames_of(stripped.module()), expected);
    assert_eq!(frames_of(stripped.module_by_inode()), expected);
    // Another file at the path is not trusted, nor is its build id.
    let replaced = Module {
        inode: stripped.module_by_inode().inode.map(|inode| inode + 1),
        ..stripped.module_by_inode()
    };
    let address = format!("[stripped+{hidden:#x}]");
    assert_eq!(frames_of(replaced), (vec![address], None));
}

#[test]
fn leaves_out_programs_without_build_id_with_a_warning() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 30, 3);
    });
    let recording = recording.unwrap();
    let options = IngestOptions {
        split_processes: true,
        ..IngestOptions::default()
    };
    let (profiles, warnings) = prepare_all(&recording, &options).unwrap();
    assert_eq!(names(&profiles), [("client", "03030303", 2)]);
    assert_eq!(
        warnings,
        [
            "5 samples are left out, because their programs have no GNU build id to name the build after: \
             `server`, `idle`; give a name for the builds."
        ]
    );
    let error = prepare_all(&three_programs(), &options).unwrap_err();
    assert!(matches!(error, IngestError::NoBuildName { program, .. } if program == "server"));
}

#[test]
fn quality_counts_samples() {
    let recording = three_programs().edit(|recording| {
        // The first stack reaches `main`, so it is whole.
        recording.samples[0].truncated = true;
        recording.samples[2].truncated = true;
        recording.lost = 9;
    });
    let recording = recording.unwrap();
    let profile = prepare_one(&recording, &version("v")).profile;
    assert_eq!(
        profile.quality,
        Quality {
            samples: 7,
            unresolved: 2,
            truncated: 1,
            without_stack: 2,
            lost: 9,
        }
    );
    // A folded line has many samples. `main` is a complete stack, as longer stacks begin with it.
    let recording = read_text("main;[unknown] 5\nmain;work 7\nmain 11\nwork 3\n").unwrap();
    let quality = prepare_one(&recording, &version("v")).profile.quality;
    assert_eq!(
        (quality.samples, quality.unresolved, quality.without_stack),
        (26, 5, 3)
    );
}

#[test]
fn lists_the_modules_of_the_profile_with_build_ids() {
    let recording = three_programs().edit(|recording| {
        set_build_id(recording, 30, 3);
    });
    let recording = recording.unwrap();
    let options = IngestOptions {
        split_processes: true,
        ..version("v1")
    };
    let (profiles, _) = prepare_all(&recording, &options).unwrap();
    let modules = |profile: &Prepared| -> Vec<String> {
        let modules = profile.profile.modules.iter();
        modules
            .map(|module| format!("{} {:?}", module.name, module.build_id))
            .collect()
    };
    assert_eq!(modules(&profiles[0]), ["x None"]);
    assert_eq!(modules(&profiles[1]), ["x None", "y.so None"]);
    assert_eq!(modules(&profiles[2]), ["[kernel] None"]);

    let symbols = named_symbols(&recording);
    let recording = recording.edit(|recording| {
        recording.locations[0] = Location::Address {
            module: ModuleIx(0),
            address: 1,
        };
    });
    let recording = recording.unwrap();
    let path = Path::new("perf.data");
    let (profiles, _) = make_profiles(path, &recording, &symbols, &options).unwrap();
    assert_eq!(
        modules(&profiles[0]),
        ["3 Some(GnuBuildId(03030303))", "x None"]
    );
}

#[test]
fn stores_metadata_given_by_the_user() {
    let mut options = IngestOptions {
        benchmark: Some("parse".to_owned()),
        labels: [("host".to_owned(), "ci".to_owned())].into(),
        metrics: [("seconds".to_owned(), 1.5)].into(),
        ..version("v1")
    };
    options.symbols.granularity = Granularity::Line;
    let recording = three_programs();
    let profile = prepare_one(&recording, &options).profile;
    assert_eq!(profile.benchmark, options.benchmark);
    assert_eq!(profile.labels, options.labels);
    assert_eq!(profile.metrics, options.metrics);
    assert_eq!(profile.granularity, Granularity::Line);
    assert_eq!(profile.format, "perf script");
    assert_eq!(
        profile.source,
        recording.source.with_option("granularity", "line")
    );
    assert_eq!(profile.source_bytes, recording.source_bytes);
}

#[test]
fn reports_overflowing_counts_with_the_path() {
    let recording = read_text("a 1\nb 1\n").unwrap();
    let recording = recording.edit(|recording| recording.samples[0].cost.value = u64::MAX);
    let recording = recording.unwrap();
    let error = prepare_all(&recording, &version("v")).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("runs/app.folded: the counts of all stacks"),
        "{error}"
    );
}

#[test]
fn rejects_metadata_over_the_limits() {
    let long = || "x".repeat(MAX_USER_STRING + 1);
    let fits = || "x".repeat(MAX_USER_STRING);
    let recording = || read_text("a 1\n").unwrap();
    let try_with = |options: &IngestOptions| {
        let store = Store::in_memory().unwrap();
        ingest(&store, (Path::new("p"), recording()), options, &mut |_| {})
    };
    let labels = |count: usize| {
        (0..count)
            .map(|ix| (ix.to_string(), String::new()))
            .collect()
    };
    let too_much = [
        IngestOptions {
            executable: Some(long()),
            ..version("v")
        },
        version(&long()),
        IngestOptions {
            revision: Some(long()),
            ..version("v")
        },
        IngestOptions {
            benchmark: Some(long()),
            ..version("v")
        },
        IngestOptions {
            labels: [(long(), String::new())].into(),
            ..version("v")
        },
        IngestOptions {
            labels: [("k".to_owned(), long())].into(),
            ..version("v")
        },
        IngestOptions {
            metrics: [(long(), 1.0)].into(),
            ..version("v")
        },
        IngestOptions {
            labels: labels(MAX_LABELS + 1),
            ..version("v")
        },
    ];
    for options in too_much {
        let error = try_with(&options).unwrap_err();
        assert!(matches!(error, IngestError::TooLong { .. }), "{error}");
    }
    let error = try_with(&version(&long())).unwrap_err();
    assert_eq!(
        error.to_string(),
        "p: the build's name has 4097 bytes, but the limit is 4096"
    );
    let most = IngestOptions {
        executable: Some(fits()),
        labels: labels(MAX_LABELS),
        ..version(&fits())
    };
    assert_eq!(try_with(&most).unwrap().profiles[0].build.version, fits());
}

// Tests with a store and symbolization.

#[test]
fn ingests_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.folded");
    std::fs::write(&path, "main;work 3\nmain 1\n").unwrap();
    let store = Store::in_memory().unwrap();
    let mut stages = Vec::new();
    let report = ingest(&store, &path, &version("v1"), &mut |stage| {
        stages.push(stage)
    })
    .unwrap();
    assert_eq!(
        stages,
        [
            Stage::Reading,
            Stage::Symbolizing,
            Stage::Interning,
            Stage::Storing
        ]
    );
    let [ingested] = &report.profiles[..] else {
        panic!("one profile: {report:?}");
    };
    assert_eq!((ingested.nodes, ingested.frames), (2, 2));
    assert!(matches!(ingested.added, Added::New { .. }));
    assert_eq!(ingested.profile.source_bytes, Bytes(19));

    let builds = store.snapshot().unwrap().builds().unwrap();
    assert_eq!(builds[0].build, ingested.build);
    assert_eq!(builds[0].profiles[0].id, ingested.id);
    assert_eq!(builds[0].profiles[0].profile, ingested.profile);
    let loaded = store
        .snapshot()
        .unwrap()
        .load(ExecutableId::from_name("app"), &[ingested.id])
        .unwrap();
    assert_eq!(loaded.tree.len(), 2);
}

#[test]
fn ingesting_a_file_twice_stores_one_profile() {
    let store = Store::in_memory().unwrap();
    let ingest = |build: &str| {
        let path = Path::new("app.folded");
        let recording = read_text("main;work 3\n").unwrap();
        let report = ingest(&store, (path, recording), &version(build), &mut |_| ());
        report.unwrap().profiles[0].added.is_new()
    };
    assert!(ingest("v1"));
    assert!(!ingest("v1"));
    assert!(ingest("v2"));
}

#[test]
fn warns_if_a_run_has_another_build_id_than_its_build() {
    let store = Store::in_memory().unwrap();
    let ingest = |build_id, samples: usize| {
        let recording = three_programs().edit(|recording| {
            set_build_id(recording, 20, build_id);
            recording.samples.truncate(samples);
            recording.source = RecordingDigest::hash_bytes(&[build_id, samples as u8]);
        });
        let recording = recording.unwrap();
        let path = Path::new("perf.data");
        let report = ingest(&store, (path, recording), &version("v1"), &mut |_| ());
        texts(&report.unwrap().warnings)
    };
    assert_eq!(ingest(0xab, 7), Vec::<String>::new());
    assert_eq!(ingest(0xab, 6), Vec::<String>::new());
    let [warning] = &ingest(0xcd, 7)[..] else {
        panic!("one warning");
    };
    assert!(
        warning.contains("cdcdcdcd")
            && warning.contains("build `v1` of `server` has runs with GNU build id abababab"),
        "{warning}"
    );
    assert_eq!(ingest(0xcd, 7), Vec::<String>::new(), "nothing was stored");
    assert_eq!(
        store.snapshot().unwrap().builds().unwrap()[0]
            .profiles
            .len(),
        3
    );
}

#[test]
fn main_programs_files_get_the_executable_name() {
    let modules_for = |executable: &str| {
        let recording = three_programs().edit(|recording| {
            set_build_id(recording, 20, 2);
            set_build_id(recording, 30, 3);
            recording.locations = (0..recording.locations.len() as u64)
                .map(|address| Location::Address {
                    module: ModuleIx(address as u32 % 2),
                    address,
                })
                .collect();
        });
        let recording = recording.unwrap();
        let options = IngestOptions {
            executable: Some(executable.to_owned()),
            ..version("v1")
        };
        let store = Store::in_memory().unwrap();
        let path = Path::new("perf.data");
        let report = ingest(&store, (path, recording), &options, &mut |_| ()).unwrap();
        let modules = report.profiles[0].profile.modules.iter();
        modules
            .map(|module| module.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(modules_for("suite"), ["3", "suite"]);
    assert_eq!(modules_for("client"), ["2", "client"]);
}

#[test]
fn failed_ingestion_leaves_the_store_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_memory().unwrap();
    let missing = folder.path().join("perf.data");
    let error = ingest(&store, &missing, &version("v"), &mut |_| ()).unwrap_err();
    assert!(
        matches!(error, IngestError::Format(FormatError::Io { .. })),
        "{error}"
    );
    assert!(error.to_string().contains("perf.data"), "{error}");
    std::fs::write(&missing, "just some text\n").unwrap();
    let error = ingest(&store, &missing, &version("v"), &mut |_| ()).unwrap_err();
    assert!(
        error.to_string().contains("it starts with `just some text"),
        "{error}"
    );
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn readers_report_progress() {
    let demo = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/demo/v1.dwarf.perf.data");
    let perf_data = std::fs::read(&demo).unwrap();
    let folded: String = (0..20_000).map(|n| format!("main;work{n} {n}\n")).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("p.folded");
    std::fs::write(&path, &folded).unwrap();
    let reported = |read: &dyn Fn(&ReadOptions) -> Recording| {
        let sum = Arc::new(AtomicU64::new(0));
        let options = ReadOptions {
            on_read: OnRead::new({
                let sum = Arc::clone(&sum);
                move |bytes| {
                    sum.fetch_add(bytes, Ordering::Relaxed);
                    Ok(())
                }
            }),
            ..ReadOptions::default()
        };
        let size = read(&options).source_bytes.0;
        (sum.load(Ordering::Relaxed), size)
    };
    let whole = folded.len() as u64;
    let of_file = reported(&|options| read(&path, options).unwrap());
    assert_eq!(of_file, (whole, whole));
    let (sum, size) = reported(&|options| read(&demo, options).unwrap());
    assert!(sum <= size && sum > size * 9 / 10, "{sum} of {size}");
    for stream in [folded.as_bytes(), &perf_data] {
        let name = Path::new("standard input");
        let (sum, size) = reported(&|options| read_stream(name, stream, options).unwrap());
        assert!(sum <= size && sum > size * 9 / 10, "{sum} of {size}");
    }
}

#[test]
fn reads_standard_input_like_a_file() {
    let text = b"main;work 3\n";
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.folded");
    std::fs::write(&path, text).unwrap();
    let from_file = sto_core::formats::read(&path, &Default::default()).unwrap();
    let from_bytes = read_bytes(Path::new("-"), text, &Default::default()).unwrap();
    assert_eq!(from_file.source, from_bytes.source);
    assert_eq!(from_file.samples, from_bytes.samples);
}

#[test]
fn all_inputs_give_the_same_profile() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("app.folded");
    let bytes: &[u8] = b"main;work 3\nmain;rest 1\n";
    std::fs::write(&path, bytes).unwrap();
    let recording = read_bytes(&path, bytes, &Default::default()).unwrap();
    let stream = Input::Reader {
        name: &path,
        reader: Box::new(bytes),
    };
    let inputs = [
        (&path).into(),
        (&path, bytes).into(),
        stream,
        (&path, recording).into(),
    ];
    let ids = inputs.map(|input| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let report = ingest(&store, input, &version("v1"), &mut |_| ()).unwrap();
        report.profiles[0].id
    });
    assert_eq!(ids, [ids[0]; 4]);
}

#[test]
fn rejects_recordings_with_invalid_indices() {
    type Spoil = fn(&mut RecordingParts);
    let wrong: [(&str, Spoil); 7] = [
        ("samples[1].stack: 999;", |r| r.samples[1].stack.0 = 999),
        ("samples[0].thread: 999;", |r| r.samples[0].thread.0 = 999),
        ("samples[0].sample_type: 999;", |r| {
            r.samples[0].sample_type.0 = 999
        }),
        ("threads[0].process: 999;", |r| r.threads[0].process.0 = 999),
        ("processes[0].main_module: 0;", |r| {
            r.processes[0].main_module = Some(ModuleIx(0));
        }),
        ("locations[0]: 999;", |r| {
            r.locations[0] = Location::Address {
                module: ModuleIx(999),
                address: 0,
            };
        }),
        ("stacks[", |r| {
            r.stacks.try_insert(&[LocationIx(999)]).unwrap();
        }),
    ];
    for (location, spoil) in wrong {
        let error = three_programs().edit(spoil).unwrap_err().to_string();
        assert!(error.starts_with(location), "{error}");
    }
}

/// Endless folded stacks; reading is cancelled after a while.
struct Endless {
    cancel: CancelToken,
    blocks: usize,
}

impl std::io::Read for Endless {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.blocks += 1;
        if self.blocks == 1_000 {
            self.cancel.cancel();
        }
        let lines = b"main;work 1\n".repeat(100);
        let length = lines.len().min(buffer.len());
        buffer[..length].copy_from_slice(&lines[..length]);
        Ok(length)
    }
}

#[test]
fn cancelled_ingestion_stores_nothing() {
    let options = || IngestOptions {
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let store = Store::in_memory().unwrap();
    let while_reading = options();
    let input = Input::Reader {
        name: Path::new("endless.folded"),
        reader: Box::new(Endless {
            cancel: while_reading.cancel.clone(),
            blocks: 0,
        }),
    };
    let ended = ingest(&store, input, &while_reading, &mut |_| ());
    assert!(matches!(ended, Err(IngestError::Cancelled(_))), "{ended:?}");
    for stage in [Stage::Symbolizing, Stage::Interning, Stage::Storing] {
        let options = options();
        let bytes: &[u8] = b"main;work 1\n";
        let ended = ingest(&store, ("a.folded", bytes), &options, &mut |reached| {
            if reached == stage {
                options.cancel.cancel();
            }
        });
        assert!(matches!(ended, Err(IngestError::Cancelled(_))), "{stage:?}");
    }
    assert_eq!(store.snapshot().unwrap().builds().unwrap().len(), 0);
}

#[test]
fn split_programs_have_only_their_own_calls() {
    let thread = |pid: u32, program: &str| CallThread {
        pid,
        program: program.to_owned(),
        tid: pid,
        name: program.to_owned(),
    };
    let text = "server 1 1.0: 5 cycles:\n\t1 serve (/bin/server)\n\n\
                client 2 2.0: 5 cycles:\n\t1 ask (/bin/client)\n\n";
    let recording = read_text(text).unwrap();
    let call = |row: usize| LongCall {
        stack: recording.samples[row].stack,
        begin: Nanoseconds(0),
        end: Nanoseconds(10),
    };
    let of_thread = |row, pid, program| ThreadCalls {
        thread: thread(pid, program),
        begin: Nanoseconds(0),
        end: Nanoseconds(10),
        calls: 1,
        records: vec![CallRecord::Call(call(row))],
    };
    let outlier = |thread, row| Outlier {
        thread,
        call: call(row),
        typical: Nanoseconds(1),
        calls: 9,
        activities: [0, 1]
            .map(|thread| ThreadActivity {
                thread,
                stack: None,
                time: Nanoseconds(10),
            })
            .into(),
    };
    let calls = RunCalls {
        thresholds: CallThresholds::default(),
        threads: vec![of_thread(0, 1, "server"), of_thread(1, 2, "client")],
        outliers: vec![outlier(0, 0), outlier(1, 1)],
        waits: vec![Wait {
            thread: 1,
            call: call(1),
            ended_by: Some((0, call(0))),
        }],
        arguments: [0, 1]
            .map(|thread| CallsByArgument {
                thread,
                stack: call(thread as usize).stack,
                argument: format!("n{thread}"),
                calls: Vec::new(),
            })
            .into(),
    };
    let recording = recording.edit(|parts| parts.calls = Some(calls)).unwrap();
    let options = IngestOptions {
        version: Some("v1".to_owned()),
        split_processes: true,
        ..IngestOptions::default()
    };
    let name = Path::new("p");
    let prepared = prepare((name, recording), &options, &mut |_| ()).unwrap();
    for part in prepared.profiles() {
        let calls = part.interned.calls.as_ref().unwrap();
        let [thread] = &calls.threads[..] else {
            panic!("{calls:?}")
        };
        assert_eq!(thread.thread.program, part.build.executable);
        let [outlier] = &calls.outliers[..] else {
            panic!("{calls:?}")
        };
        let others: Vec<u32> = outlier.activities.iter().map(|of| of.thread).collect();
        assert_eq!((outlier.thread, &others[..]), (0, &[0][..]));
        let [with] = &calls.arguments[..] else {
            panic!("{calls:?}")
        };
        assert_eq!(with.thread, 0);
        let waits = calls
            .waits
            .iter()
            .map(|wait| (wait.thread, wait.ended_by.is_none()));
        let waits: Vec<_> = waits.collect();
        match &*part.build.executable {
            "client" => assert_eq!(waits, [(0, true)]),
            _ => assert_eq!(waits, []),
        }
    }
}

#[test]
fn refused_profile_is_an_error_with_the_name_of_its_file() {
    let store = Store::in_memory().unwrap();
    let recording = read_text("main 72057594037927937\n").unwrap();
    let input = (Path::new("large.folded"), recording);
    let error = ingest(&store, input, &version("v"), &mut |_| {}).unwrap_err();
    assert_eq!(
        error.to_string(),
        "large.folded: cannot store the profile: its counts add up to more than 2^56"
    );
}
