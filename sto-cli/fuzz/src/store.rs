//! Stores that are damaged by accident or on purpose.

use crate::edits;
use crate::folders::{folder, testdata};
use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use sto_core::formats::{Format, ReadOptions};
use sto_core::id::RecordingDigest;
use sto_core::ingest::{IngestOptions, ingest};
use sto_core::model::{
    Frame, FrameKind, FrameTable, LabelValue, MetricKind, MetricSeries, Origin, SampleLabel,
};
use sto_core::recording::{
    Location, Process, ProcessIx, Recording, RecordingParts, Sample, SampleTypeIx, StackIx, Stacks,
    Thread, ThreadIx,
};
use sto_core::store::{KeptCalls, LoadedCalls, Snapshot, Store, StoreError, StoredBuild, Tag};
use sto_core::trace::{
    CallRecord, CallThread, CallThresholds, CalledStack, CallsAtValue, CallsByArgument, Expression,
    LongCall, Outlier, RunCalls, ThreadActivity, ThreadCalls, Wait,
};
use sto_core::tree::SliceCount;
use sto_core::units::{Bytes, Cost, Nanoseconds, SampleType, Unit, UnixSeconds};

const META: TableDefinition<&str, &[u8]> = TableDefinition::new("meta");
const RECORDS: TableDefinition<(u8, [u8; 16]), &[u8]> = TableDefinition::new("records");
const COLUMNS: TableDefinition<(u8, u32, u32, u32), &[u8]> = TableDefinition::new("columns");
const ENDS: TableDefinition<(u8, u32, u32), &[u8]> = TableDefinition::new("ends");
/// The length of a segment, as SPEC.md defines it.
const SEGMENT: usize = 4075;
const CHECKSUM: usize = 8;

/// The key of a stored value with a checksum.
#[derive(Clone)]
enum Key {
    Meta(String),
    CallRecord(u8, [u8; 16]),
    Column(u8, u32, u32),
}

impl Key {
    /// Returns the bytes that the checksum covers besides the value.
    fn checksum_key(&self) -> Vec<u8> {
        match self {
            Key::Meta(name) => name.as_bytes().to_vec(),
            Key::CallRecord(kind, id) => [&[b'R', *kind][..], id].concat(),
            Key::Column(kind, owner, part) => [
                &[b'C', *kind][..],
                &owner.to_le_bytes(),
                &part.to_le_bytes(),
            ]
            .concat(),
        }
    }
}

/// An undamaged store, and its values without their checksums.
struct Sound {
    bytes: Vec<u8>,
    stored: Vec<(Key, Vec<u8>)>,
}

static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open_or_create(folder.path()).expect("a new store");
    for (build, run) in [
        (1, 1),
        (1, 2),
        (1, 3),
        (1, 4),
        (1, 5),
        (1, 6),
        (2, 1),
        (2, 2),
    ] {
        add(&store, build, run);
    }
    let executable = "sound".to_owned();
    let (name, version) = ("last-good".to_owned(), "v1".to_owned());
    let tag = Tag {
        executable,
        name,
        version,
    };
    store.tag(&tag, false).expect("there is such a build");
    Sound::read(folder.path())
});

/// Like the store above, with every call of a trace; `stored` has only the columns of calls.
static KEPT: LazyLock<Sound> = LazyLock::new(|| {
    const CALLS: [u8; 2] = [8, 9];
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open_or_create(folder.path()).expect("a new store");
    let options = IngestOptions {
        executable: Some("sound".to_owned()),
        version: Some("v1".to_owned()),
        keep_calls: true,
        ..IngestOptions::default()
    };
    let path = testdata("xray/basic.yaml");
    let recording = sto_core::formats::read(&path, &ReadOptions::default()).expect("it is sound");
    ingest(&store, (&path, recording), &options, &mut |_| ()).expect("a sound recording");
    let mut sound = Sound::read(folder.path());
    let is_of_calls = |key: &Key| matches!(key, Key::Column(kind, ..) if CALLS.contains(kind));
    sound.stored.retain(|(key, _)| is_of_calls(key));
    assert!(
        sound.stored.len() > 3,
        "a column for each thread, and two for all of them"
    );
    sound
});

impl Sound {
    /// Reads the store in a folder.
    fn read(folder: &Path) -> Sound {
        let file = folder.join(Store::FILE_NAME);
        let bytes = fs::read(&file).expect("the store's file");
        let stored = stored(&Database::open(&file).expect("a redb file"));
        Sound { bytes, stored }
    }
}

fn stored(database: &Database) -> Vec<(Key, Vec<u8>)> {
    let transaction = database.begin_read().expect("a sound file");
    let mut all = Vec::new();
    for entry in transaction
        .open_table(META)
        .expect("meta")
        .iter()
        .expect("a sound table")
    {
        let (key, value) = entry.expect("a sound entry");
        all.push((Key::Meta(key.value().to_owned()), value.value().to_vec()));
    }
    for entry in transaction
        .open_table(RECORDS)
        .expect("records")
        .iter()
        .expect("a sound table")
    {
        let (key, value) = entry.expect("a sound entry");
        let (kind, id) = key.value();
        all.push((Key::CallRecord(kind, id), value.value().to_vec()));
    }
    let columns = transaction.open_table(COLUMNS).expect("columns");
    for entry in transaction
        .open_table(ENDS)
        .expect("ends")
        .iter()
        .expect("a sound table")
    {
        let (key, end) = entry.expect("a sound entry");
        let (kind, owner, part) = key.value();
        let mut pack = Vec::new();
        let segments = (kind, owner, part, 0)..=(kind, owner, part, u32::MAX);
        for segment in columns.range(segments).expect("a sound table") {
            pack.extend_from_slice(segment.expect("a sound entry").1.value());
        }
        pack.extend_from_slice(end.value());
        all.push((Key::Column(kind, owner, part), pack));
    }
    // The version has no checksum.
    all.retain(|(key, _)| !matches!(key, Key::Meta(name) if name == "version"));
    for (_, value) in &mut all {
        value.truncate(value.len() - CHECKSUM);
    }
    all
}

/// Adds a run of a program with inlined functions, threads, labels and events.
fn add(store: &Store, build: u64, run: u64) {
    let mut named = FrameTable::new();
    let kinds = FrameKind::ALL;
    let locations = (0..40).map(|ix: usize| {
        let symbol = format!("function_{}", ix % 30);
        let file = format!("src/{}.c", ix % 7);
        Location::Named(named.insert(Frame {
            module: ["sound", "libc.so.6", "[kernel]"][ix % 3],
            symbol: &symbol,
            kind: kinds[ix % kinds.len()],
            file: &file,
            line: ix as u32 % 5,
        }))
    });
    let locations: Vec<_> = locations.collect();
    let mut stacks = Stacks::default();
    let mut samples = Vec::new();
    for ix in 0..120 {
        let depth = 1 + ix * (run + 3) % 9;
        let of = |level: u64| (ix * level + build * level * level) % locations.len() as u64;
        let stack: Vec<_> = (0..depth)
            .map(|level| sto_core::recording::LocationIx(of(level) as u32))
            .collect();
        samples.push(Sample {
            stack: stacks.try_insert(&stack).expect("they are few"),
            thread: ThreadIx(ix as u32 % 3),
            sample_type: SampleTypeIx(u32::from(ix % 5 == 0)),
            time: Some(Nanoseconds(1_000 * ix)),
            cost: Cost {
                samples: 1 + ix % 3,
                value: 1_000_000 + ix % 4 * run,
            },
            truncated: ix % 11 == 0,
        });
    }
    let calls = calls(&samples);
    let label = |key: &str, text: &str| SampleLabel {
        key: key.to_owned(),
        value: LabelValue::Text(text.to_owned()),
    };
    let labels: [Arc<[SampleLabel]>; 3] = [
        Arc::from([]),
        Arc::from([label("request", "get")]),
        Arc::from([label("request", "put"), label("tenant", "a")]),
    ];
    let thread = |(tid, labels)| Thread {
        tid,
        name: format!("thread-{tid}"),
        process: ProcessIx(0),
        labels,
    };
    let parts = RecordingParts {
        format: Format::PerfData,
        source: RecordingDigest::hash_bytes(&[build as u8, run as u8]),
        source_bytes: Bytes(1000),
        origin: Origin {
            recorded: Some(UnixSeconds(1_767_323_045 + 1000 * build + run)),
            duration: Some(Nanoseconds(1_000_000)),
            host: Some("host".to_owned()),
            ..Origin::default()
        },
        sample_types: vec![
            SampleType {
                event: "cpu-clock".to_owned(),
                unit: Unit::Nanoseconds,
            },
            SampleType {
                event: "page-faults".to_owned(),
                unit: Unit::Events,
            },
        ],
        processes: vec![Process {
            pid: 7,
            program: "sound".to_owned(),
            main_module: None,
        }],
        recorded: None,
        threads: (10..).zip(labels).map(thread).collect(),
        modules: Vec::new(),
        locations,
        named,
        stacks,
        samples,
        metrics: metrics(run),
        calls: Some(calls),
        lost: 1,
        warnings: Vec::new(),
    };
    let recording = Recording::try_from(parts).expect("it is whole");
    let options = IngestOptions {
        executable: Some("sound".to_owned()),
        version: Some(format!("v{build}")),
        revision: Some("0123abc".to_owned()),
        commit: None,
        benchmark: Some("serve".to_owned()),
        labels: BTreeMap::from([("host".to_owned(), "a".to_owned())]),
        metrics: BTreeMap::from([("seconds".to_owned(), 1.5)]),
        slices: SliceCount::new(16),
        ..IngestOptions::default()
    };
    ingest(store, (Path::new("run"), recording), &options, &mut |_| ()).expect("a sound recording");
}

/// Returns calls over time of sampled stacks: a long call that makes short ones.
fn calls(samples: &[Sample]) -> RunCalls<StackIx> {
    let call = LongCall {
        stack: samples[0].stack,
        begin: Nanoseconds(1_000),
        end: Nanoseconds(90_000),
    };
    let short = |at: usize| {
        CallRecord::Expression(Expression {
            begin: Nanoseconds(2_000 * at as u64),
            end: Nanoseconds(2_000 * at as u64 + 900),
            stacks: vec![CalledStack {
                stack: samples[at].stack,
                calls: at as u64,
                duration: Nanoseconds(70),
            }],
        })
    };
    let records = [CallRecord::Call(call)]
        .into_iter()
        .chain((1..40).map(short));
    let thread = ThreadCalls {
        thread: CallThread {
            pid: 7,
            program: "sound".to_owned(),
            tid: 10,
            name: "thread-10".to_owned(),
        },
        begin: call.begin,
        end: call.end,
        calls: 1 + (1..40).sum::<u64>(),
        records: records.collect(),
    };
    RunCalls {
        thresholds: CallThresholds::default(),
        threads: vec![thread],
        outliers: vec![Outlier {
            thread: 0,
            call,
            typical: Nanoseconds(9),
            calls: 3,
            activities: vec![ThreadActivity {
                thread: 0,
                stack: Some(samples[3].stack),
                time: Nanoseconds(1),
            }],
        }],
        waits: vec![Wait {
            thread: 0,
            call,
            ended_by: Some((0, call)),
        }],
        arguments: vec![CallsByArgument {
            thread: 0,
            stack: call.stack,
            argument: "n".to_owned(),
            calls: (1..9)
                .map(|n| CallsAtValue {
                    value: f64::from(n) * 0.3,
                    calls: u64::from(n == 7) + 1,
                    duration: Nanoseconds(90),
                    self_duration: Nanoseconds(80),
                })
                .collect(),
        }],
    }
}

/// Returns metrics over time that use every encoding of packs.
fn metrics(run: u64) -> Vec<MetricSeries> {
    let times: Arc<[Nanoseconds]> = (0..40).map(|at| Nanoseconds(3_000 * at)).collect();
    let value: [fn(u64) -> f64; 3] = [
        |at| (at / 7) as f64,
        |at| (at * at % 13) as f64 / 100.0,
        |at| (at as f64).sin(),
    ];
    let series = value.iter().zip(["a", "b", "c"]).map(|(value, name)| {
        let values = (0..40).map(|at| value(at * run)).collect();
        let series = MetricSeries::new(name, MetricKind::Level, Arc::clone(&times), values);
        series.expect("the values are finite")
    });
    series.collect()
}

/// Edits records and packs, with valid checksums. The input has for each an index (one byte), the length of its
/// edits (2 bytes), and the edits; some lengths remove the value or replace it with another one.
pub(crate) fn records(input: &[u8]) {
    let folder = folder().join("records");
    let file = edited(&SOUND, input, &folder);
    ask_everything(&folder, &file);
}

/// Like [`records`], for the kept calls of a run, which only reading and merging decodes.
pub(crate) fn kept_calls(input: &[u8]) {
    let folder = folder().join("kept-calls");
    edited(&KEPT, input, &folder);
    ignore(Store::verify(&folder, None, &mut |_| Ok(())));
    if let Ok(store) = Store::open(&folder) {
        ignore(store.snapshot().map(|snapshot| ask_questions(&snapshot)));
    }
}

/// Writes the edited store to a folder, and returns its file.
fn edited(sound: &Sound, mut input: &[u8], folder: &Path) -> PathBuf {
    let mut changed: BTreeMap<usize, Option<Vec<u8>>> = BTreeMap::new();
    while let [which, a, b, rest @ ..] = input {
        let which = usize::from(*which) % sound.stored.len();
        let len = usize::from(u16::from_le_bytes([*a, *b]));
        let value = changed
            .entry(which)
            .or_insert_with(|| Some(sound.stored[which].1.clone()));
        input = match len {
            0xffff => {
                *value = None;
                rest
            }
            0xff00.. => {
                *value = Some(sound.stored[(len - 0xff00) % sound.stored.len()].1.clone());
                rest
            }
            _ => {
                let (own, rest) = rest.split_at(len.min(rest.len()));
                if let Some(value) = value {
                    edits::apply(value, own);
                }
                rest
            }
        };
    }
    let file = write(folder, &sound.bytes);
    let database = Database::open(&file).expect("a sound file");
    let transaction = database.begin_write().expect("a sound file");
    {
        let mut meta = transaction.open_table(META).expect("meta");
        let mut records = transaction.open_table(RECORDS).expect("records");
        let mut columns = transaction.open_table(COLUMNS).expect("columns");
        let mut ends = transaction.open_table(ENDS).expect("ends");
        for (which, value) in changed {
            let key = &sound.stored[which].0;
            let value = value.map(|value| {
                let mut hasher = blake3::Hasher::new();
                let checksum = hasher.update(&key.checksum_key()).update(&value).finalize();
                [&value[..], &checksum.as_bytes()[..CHECKSUM]].concat()
            });
            let done = match (key, &value) {
                (Key::Meta(name), Some(value)) => {
                    meta.insert(name.as_str(), value.as_slice()).map(drop)
                }
                (Key::Meta(name), None) => meta.remove(name.as_str()).map(drop),
                (&Key::CallRecord(kind, id), Some(value)) => {
                    records.insert((kind, id), value.as_slice()).map(drop)
                }
                (&Key::CallRecord(kind, id), None) => records.remove((kind, id)).map(drop),
                (&Key::Column(kind, owner, part), value) => {
                    let segments = (kind, owner, part, 0)..=(kind, owner, part, u32::MAX);
                    columns
                        .retain_in(segments, |_, _| false)
                        .expect("a sound table");
                    let value = value.as_deref().unwrap_or_default();
                    for (segment, bytes) in (0..).zip(value.chunks_exact(SEGMENT)) {
                        columns
                            .insert((kind, owner, part, segment), bytes)
                            .expect("a sound table");
                    }
                    let end = value.chunks_exact(SEGMENT).remainder();
                    if value.is_empty() {
                        ends.remove((kind, owner, part)).map(drop)
                    } else {
                        ends.insert((kind, owner, part), end).map(drop)
                    }
                }
            };
            done.expect("a sound table");
        }
    }
    transaction.commit().expect("the disk has room");
    drop(database);
    file
}

/// Edits the file itself; redb only checks the checksums of its pages when it repairs a file.
pub(crate) fn pages(input: &[u8]) {
    let mut bytes = SOUND.bytes.clone();
    // The length does not change, because moved pages would be noise.
    let mut input = input;
    while let [a, b, c, count, rest @ ..] = input {
        let at = u32::from_le_bytes([*a, *b, *c, 0]) as usize % bytes.len();
        let (new, rest) = rest.split_at(usize::from(*count).min(rest.len()));
        let end = (at + new.len()).min(bytes.len());
        bytes[at..end].copy_from_slice(&new[..end - at]);
        input = rest;
    }
    let folder = folder().join("pages");
    let file = write(&folder, &bytes);
    ask_everything(&folder, &file);
}

fn write(folder: &Path, bytes: &[u8]) -> PathBuf {
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder).expect("the folder is writable");
    let file = folder.join(Store::FILE_NAME);
    fs::write(&file, bytes).expect("the folder is writable");
    file
}

/// Runs every query and change on a store. Each may return an error, even if another query of the same data
/// succeeded.
fn ask_everything(folder: &Path, file: &Path) {
    let Ok(store) = Store::open(folder) else {
        let _ = Store::verify(folder, None, &mut |_| Ok(()));
        return;
    };
    let builds = match store.snapshot() {
        Ok(snapshot) => ask_questions(&snapshot),
        Err(_) => Vec::new(),
    };
    ignore(store.stats());
    ignore(Store::verify(folder, None, &mut |_| Ok(())));
    let all: BTreeSet<_> = builds
        .iter()
        .flat_map(|build| &build.profiles)
        .map(|profile| profile.id)
        .collect();
    let before = fs::read(file).expect("a reader leaves the file alone");
    if let Ok(store) = Store::open_or_create(folder) {
        let metrics = all
            .iter()
            .map(|&profile| (profile, BTreeMap::from([("m".to_owned(), 1.0)])));
        ignore(store.annotate(&metrics.collect(), true));
        let first = all.iter().take(1).copied().collect();
        let pruned = store.prune(&first);
        if pruned.is_ok() {
            ignore(store.snapshot().and_then(|snapshot| snapshot.builds()));
            fs::write(file, &before).expect("the folder is writable");
        }
        ignore(store.compact());
        add_one(&store);
    }
}

fn ask_questions(snapshot: &Snapshot) -> Vec<StoredBuild> {
    let builds = snapshot.builds().unwrap_or_default();
    for build in &builds {
        let profiles: Vec<_> = build.profiles.iter().map(|profile| profile.id).collect();
        let executable = sto_core::id::ExecutableId::from_name(&build.build.executable);
        ignore(snapshot.load(executable, &profiles));
        ignore(snapshot.load_build(build.id));
        for &profile in &profiles {
            ignore(snapshot.load_lines(profile));
            ignore(snapshot.load_slices(profile));
            ignore(snapshot.load_contexts(profile));
            ignore(snapshot.load_metrics(profile));
            let calls = snapshot.load_calls(profile);
            if let Ok(Some(kept)) = snapshot.kept_calls(profile) {
                ask_kept_calls(&kept, calls.ok().flatten());
            }
        }
    }
    let here = Store::in_memory().expect("a store in memory");
    ignore(here.merge(snapshot, &mut |_| Ok(())));
    ignore(here.snapshot().and_then(|snapshot| snapshot.builds()));
    builds
}

/// Queries all calls of a run: by thread, recompressed as a whole and in part, and by record.
fn ask_kept_calls(kept: &KeptCalls, loaded: Option<LoadedCalls>) {
    let all = (Nanoseconds(0), Nanoseconds(u64::MAX));
    let thresholds = CallThresholds::default();
    for thread in 0..kept.threads().len() {
        let mut last = Nanoseconds(0);
        ignore(kept.visit_calls_during(thread, all, |call| {
            assert!(
                last <= call.begin && call.begin <= call.end,
                "calls are in order"
            );
            assert!(
                (call.stack.0 as usize) < kept.tree().len(),
                "stacks are there"
            );
            last = call.begin;
        }));
        if let Some(LoadedCalls { calls, .. }) = &loaded {
            let made = calls.threads.get(thread).map_or(0, |of| of.calls);
            if let Ok(mut numbered) = kept.numbered(thread, None) {
                ignore(numbered.compressed(0..made.min(1_000), thresholds, Nanoseconds(1_000)));
            }
        }
    }
    ignore(kept.compressed(thresholds, None));
    let begin = kept.tree().len() as u64 * 1_000;
    ignore(kept.compressed(
        thresholds,
        Some((Nanoseconds(begin), Nanoseconds(2 * begin))),
    ));
}

/// Checks that adding to a damaged store succeeds or returns an error.
fn add_one(store: &Store) {
    let text = b"main;function_1 3\nmain;new 1\n";
    let path = Path::new("sound.folded");
    let recording =
        sto_core::formats::read_bytes(path, text, &Default::default()).expect("it is sound");
    let options = IngestOptions {
        executable: Some("sound".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let _ = ingest(store, (path, recording), &options, &mut |_| ());
}

fn ignore<T>(_: Result<T, StoreError>) {}
