//! Hostile names in all output: runs commands on a store in which all names are hostile.

use crate::cli::Cli;
use crate::commands;
use crate::folders::folder;
use crate::markup::{self, Own};
use crate::runtime::{error, store_path};
use clap::{CommandFactory, Parser};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use sto_core::formats::{Format, ReadOptions, read_bytes};
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::limits::MAX_USER_STRING;
use sto_core::model::{
    Frame, FrameKind, FrameTable, LabelValue, MetricKind, MetricSeries, Origin, SampleLabel,
};
use sto_core::recording::{
    Location, LocationIx, Module, ModuleKind, Process, ProcessIx, Recording, RecordingParts,
    Sample, SampleTypeIx, Stacks, Thread, ThreadIx,
};
use sto_core::store::{Store, Tag};
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

/// Checks a document, and returns the parts that names must not change.
type Check = fn(&[u8]) -> Own;

/// Command lines, with the check of their output. `FILE` is an output file to check instead; `NAME` is the
/// name of a function and `METRIC` of a metric.
const COMMANDS: &[(&str, Check)] = &[
    ("ls", markup::text),
    ("ls --format json", markup::json),
    ("runs", markup::text),
    ("runs --format json", markup::json),
    ("show @newest", markup::text),
    ("show @newest --format json", markup::json),
    ("stats", markup::text),
    ("stats --format json", markup::json),
    ("verify", markup::text),
    ("verify --format json", markup::json),
    ("tag", markup::text),
    ("tag --format json", markup::json),
    ("top @newest", markup::text),
    ("top @newest --by total --inlined", markup::text),
    ("top @newest --format json", markup::json),
    ("tree @newest", markup::text),
    ("tree @newest --format json", markup::json),
    ("potential @newest", markup::text),
    ("potential @newest --format json", markup::json),
    ("source NAME @newest", markup::text),
    ("source NAME @newest --format json", markup::json),
    ("where NAME", markup::text),
    ("where NAME --format json", markup::json),
    ("flame @newest", markup::xml),
    ("flame @newest --by thread --inverted", markup::xml),
    ("flame @newest --focus NAME", markup::xml),
    ("diff @previous @newest", markup::xml),
    ("diff @previous @newest --elided", markup::xml),
    ("series NAME", markup::text),
    ("series NAME --format json", markup::json),
    ("series NAME -o FILE", markup::xml),
    ("regressions-over-time", markup::text),
    ("regressions-over-time --format json", markup::json),
    ("bottlenecks --metric METRIC --min-runs 2", markup::text),
    (
        "bottlenecks --metric METRIC --min-runs 2 --format json",
        markup::json,
    ),
    ("expand NAME", markup::text),
    ("expand NAME --format json", markup::json),
    ("report -o FILE", markup::html),
    ("find-regressions @previous @newest", markup::text),
    ("find-regressions @previous @newest --all", markup::text),
    (
        "find-regressions @previous @newest --format json",
        markup::json,
    ),
    (
        "find-regressions @previous @newest --format md",
        markup::markdown,
    ),
    (
        "find-regressions @previous @newest --format github",
        markup::github,
    ),
    (
        "find-regressions @previous @newest --format html",
        markup::html,
    ),
    (
        "find-regressions @previous @newest --format junit",
        markup::xml,
    ),
    (
        "find-regressions @previous @newest --format sarif",
        markup::json,
    ),
    ("explain-match NAME OTHER", markup::text),
    ("explain-match NAME OTHER --format json", markup::json),
    ("prune --keep-last 0 --dry-run", markup::text),
    ("prune --keep-last 0 --dry-run --format json", markup::json),
    ("export @newest --format folded", |bytes| {
        read_as(Format::Folded, bytes)
    }),
    ("export @newest --format pprof -o FILE", |bytes| {
        read_as(Format::Pprof, bytes)
    }),
    ("export @newest --format speedscope", |bytes| {
        read_as(Format::Speedscope, bytes)
    }),
    ("export @newest --format firefox", |bytes| {
        read_as(Format::Firefox, bytes)
    }),
    ("export @newest --format callgrind", |bytes| {
        read_as(Format::Callgrind, bytes)
    }),
    ("export @newest --format d3", markup::json),
    ("top NAME", markup::text),
];

/// Runs a command (one byte) with names, which are separated by a byte 0xff.
pub(crate) fn names(input: &[u8]) {
    let [command, names @ ..] = input else { return };
    let (line, check) = COMMANDS[usize::from(*command) % COMMANDS.len()];
    let names: Vec<String> = names
        .split(|&byte| byte == 0xff)
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect();
    // Plain names give the expected parts.
    static OWN: LazyLock<Mutex<HashMap<&str, Own>>> = LazyLock::new(Mutex::default);
    let mut own = OWN.lock().unwrap_or_else(PoisonError::into_inner);
    let expected = own.entry(line).or_insert_with(|| {
        let plain = ["main", "work", "parse", "render", "write"].map(str::to_owned);
        shown(line, check, &plain).unwrap_or_else(|| panic!("sto {line} refuses plain names"))
    });
    if let Some(found) = shown(line, check, &names) {
        assert_eq!(*expected, found, "sto {line}");
    }
}

/// Runs a command on a store with these names. Returns the parts that names must not change, or `None` if the
/// store or the command rejects the names.
fn shown(line: &str, check: Check, names: &[String]) -> Option<Own> {
    let folder = folder().join("names");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder is writable");
    let place = folder.join("store");
    if !fill(&place, names) {
        return None;
    }
    let file = folder.join("out");
    let name = |ix: usize| names.get(ix).cloned().unwrap_or_default();
    let words = line.split(' ').map(|word| match word {
        "NAME" => name(0),
        "OTHER" => name(1),
        "METRIC" => given(&name(2)),
        "FILE" => file.display().to_string(),
        word => word.to_owned(),
    });
    let store = ["--store".to_owned(), place.display().to_string()];
    let args: Vec<String> = ["sto".to_owned()]
        .into_iter()
        .chain(words)
        .chain(store)
        .collect();
    let Printed { out, err, is_done } = run(&args);
    markup::text(&err);
    if !is_done {
        return None;
    }
    let document = fs::read(&file).unwrap_or(out);
    Some(check(&document))
}

/// The output of a command.
struct Printed {
    out: Vec<u8>,
    err: Vec<u8>,
    is_done: bool,
}

/// The original standard error.
static STANDARD_ERROR: OnceLock<File> = OnceLock::new();

pub(crate) fn restore_standard_error() {
    if let Some(before) = STANDARD_ERROR.get() {
        let _ = dup2_stderr(before);
    }
}

fn run(args: &[String]) -> Printed {
    static PIPES: LazyLock<Mutex<[File; 2]>> = LazyLock::new(|| {
        let file =
            |name| File::from(memfd_create(name, MemfdFlags::CLOEXEC).expect("a file in memory"));
        let before = rustix::io::dup(rustix::stdio::stderr()).expect("standard error is open");
        let _ = STANDARD_ERROR.set(before.into());
        // SAFETY: no other thread reads the environment yet.
        unsafe { std::env::set_var("COLUMNS", "80") };
        [file("out"), file("err")].into()
    });
    let mut pipes = PIPES.lock().unwrap_or_else(PoisonError::into_inner);
    for pipe in &mut *pipes {
        pipe.set_len(0).expect("a file in memory");
        pipe.rewind().expect("a file in memory");
    }
    dup2_stdout(&pipes[0]).expect("a file in memory");
    dup2_stderr(&pipes[1]).expect("a file in memory");
    let is_done = match Cli::try_parse_from(args) {
        Ok(cli) => {
            let result = commands::run(
                cli.command,
                || store_path::find(cli.store, None, &[]),
                Cli::command,
            );
            let is_done = result.is_ok();
            error::report(result);
            is_done
        }
        Err(_) => false,
    };
    let _ = std::io::stdout().flush();
    restore_standard_error();
    let [out, err] = &mut *pipes;
    let read = |file: &mut File| {
        let mut bytes = Vec::new();
        file.rewind()
            .and_then(|()| file.read_to_end(&mut bytes))
            .expect("a file in memory");
        bytes
    };
    Printed {
        out: read(out),
        err: read(err),
        is_done,
    }
}

/// Checks that sto reads its own exports.
fn read_as(format: Format, bytes: &[u8]) -> Own {
    let options = ReadOptions {
        format: Some(format),
        ..ReadOptions::default()
    };
    let recording = read_bytes(Path::new("export"), bytes, &options);
    let recording = recording.unwrap_or_else(|error| panic!("{error}"));
    // Some formats do not store the number of samples.
    assert!(
        recording
            .samples
            .iter()
            .any(|sample| !sample.cost.is_zero())
    );
    markup::json(b"{}")
}

/// Returns a valid argument for a name.
fn given(name: &str) -> String {
    match name {
        "" => "n".to_owned(),
        name => name[..name.floor_char_boundary(MAX_USER_STRING - 2)].to_owned(),
    }
}

/// Creates a store with two builds of two runs, in which a function got slower. Returns `false` if the store
/// rejects the names.
fn fill(place: &PathBuf, names: &[String]) -> bool {
    let store = Store::open_or_create(place).expect("the folder is writable");
    let name = |ix: usize| names.get(ix % names.len()).cloned().unwrap_or_default();
    let runs = [(1u64, 1u64), (1, 2), (2, 3), (2, 4)];
    for (build, run) in runs {
        let recording = recording(&name, build, run);
        let options = IngestOptions {
            executable: Some(given(&name(3))),
            version: Some(given(&format!("{}{build}", name(4)))),
            revision: Some(given(&name(5))),
            benchmark: Some(given(&name(6))),
            labels: BTreeMap::from([(given(&name(7)), given(&name(8)))]),
            metrics: BTreeMap::from([
                (given(&name(2)), run as f64),
                ("seconds".to_owned(), build as f64 + run as f64 / 100.0),
            ]),
            slices: SliceCount::new(8),
            ..IngestOptions::default()
        };
        let path = PathBuf::from(name(9));
        if ingest(&store, (&path, recording), &options, &mut |_| ()).is_err() {
            return false;
        }
    }
    let tag = Tag {
        executable: given(&name(3)),
        name: name(10),
        version: given(&format!("{}1", name(4))),
    };
    let _ = store.tag(&tag, false);
    true
}

/// Returns metrics over time with these names.
fn metrics(name: &dyn Fn(usize) -> String) -> Vec<MetricSeries> {
    let times = (0..24).map(|at| Nanoseconds(1_000_000 * at)).collect();
    let values = (0..24).map(f64::from).collect();
    let series = MetricSeries::new(given(&name(19)), MetricKind::Level, times, values);
    vec![series.expect("the values are finite")]
}

fn recording(name: &dyn Fn(usize) -> String, build: u64, run: u64) -> Recording {
    let mut named = FrameTable::new();
    let mut locations = Vec::new();
    for ix in 0..8 {
        let (symbol, module, file) = (name(ix), name(ix + 1), name(ix + 2));
        // The first five names are used unchanged, the others are distinct, and one depends on the build.
        let symbol = match ix {
            0..5 => symbol,
            7 => format!("{symbol}{ix}{build}"),
            _ => format!("{symbol}{ix}"),
        };
        locations.push(Location::Named(named.insert(Frame {
            module: &module,
            symbol: &symbol,
            kind: FrameKind::ALL[ix],
            file: &file,
            line: 0,
        })));
    }
    let mut stacks = Stacks::default();
    let mut samples = Vec::new();
    for ix in 0..24u64 {
        let stack: Vec<_> = (0..=ix % 5)
            .map(|level| LocationIx((level * (1 + ix / 5) % 8) as u32))
            .collect();
        let slower = if ix == 7 { 400 * build * build } else { 100 };
        samples.push(Sample {
            stack: stacks.try_insert(&stack).expect("they are few"),
            thread: ThreadIx(ix as u32 % 2),
            sample_type: SampleTypeIx(0),
            time: Some(Nanoseconds(1_000_000 * ix)),
            cost: Cost {
                samples: slower + run,
                value: (slower + run) * 1_000_000,
            },
            truncated: false,
        });
    }
    let label = SampleLabel {
        key: name(11),
        value: LabelValue::Text(name(12)),
    };
    let thread = |(tid, labels): (u32, Vec<SampleLabel>)| Thread {
        tid,
        name: name(13 + tid as usize),
        process: ProcessIx(0),
        labels: Arc::from(labels),
    };
    let parts = RecordingParts {
        format: Format::Pprof,
        source: RecordingDigest::hash_bytes(&[build as u8, run as u8]),
        source_bytes: Bytes(1000),
        origin: Origin {
            recorded: Some(UnixSeconds(1_767_323_045 + 1000 * build + run)),
            duration: Some(Nanoseconds(24_000_000)),
            host: Some(name(0)),
            kernel: Some(name(1)),
            arch: Some(name(2)),
            cpu: Some(name(3)),
            command: Some(name(4)),
        },
        sample_types: vec![SampleType {
            event: name(15),
            unit: Unit::Nanoseconds,
        }],
        processes: vec![Process {
            pid: 7,
            program: name(16),
            main_module: None,
        }],
        recorded: None,
        threads: [(0, Vec::new()), (1, vec![label])].map(thread).to_vec(),
        modules: vec![Module {
            path: name(17),
            kind: ModuleKind::File,
            build_id: None,
            inode: None,
            text_address: None,
            alias: None,
        }],
        locations,
        named,
        stacks,
        samples,
        metrics: metrics(name),
        calls: None,
        lost: 0,
        warnings: vec![name(18)],
    };
    parts.try_into().expect("it is whole")
}
