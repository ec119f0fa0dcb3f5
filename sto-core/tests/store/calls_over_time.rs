//! Calls over time stay with their profile.

use super::model::{Plain, build, of_stacks, profile};
use redb::TableDefinition;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use sto_core::id::ProfileId;
use sto_core::model::{MetricKind, MetricSeries, RunMetrics};
use sto_core::store::{Added, Store, StoreError};
use sto_core::trace::{
    CallRecord, CallThread, CallThresholds, CalledStack, CallsAtValue, CallsByArgument, Expression,
    LongCall, Outlier, RunCalls, ThreadActivity, ThreadCalls, Threshold, Wait,
};
use sto_core::tree::NodeIx;
use sto_core::units::{Bytes, Nanoseconds};

fn call(stack: u32, begin: u64, end: u64) -> LongCall<NodeIx> {
    LongCall {
        stack: NodeIx(stack),
        begin: Nanoseconds(begin),
        end: Nanoseconds(end),
    }
}

/// A long call that makes `short` short ones, twice each.
fn calls(short: u64) -> RunCalls<NodeIx> {
    let expression = |at: u64| {
        CallRecord::Expression(Expression {
            begin: Nanoseconds(10 + 10 * at),
            end: Nanoseconds(15 + 10 * at),
            stacks: vec![CalledStack {
                stack: NodeIx(1),
                calls: 2,
                duration: Nanoseconds(5 * at * at % 13),
            }],
        })
    };
    let records = [CallRecord::Call(call(0, 3, 1_000_000))].into_iter();
    let thread = ThreadCalls {
        thread: CallThread {
            pid: 3,
            program: "demo".to_owned(),
            tid: 4,
            name: "worker".to_owned(),
        },
        begin: Nanoseconds(3),
        end: Nanoseconds(1_000_000),
        calls: 1 + 2 * short,
        records: records.chain((0..short).map(expression)).collect(),
    };
    RunCalls {
        thresholds: CallThresholds::default(),
        threads: vec![thread],
        outliers: vec![Outlier {
            thread: 0,
            call: call(2, 50, 70),
            typical: Nanoseconds(2),
            calls: 5,
            activities: vec![ThreadActivity {
                thread: 0,
                stack: None,
                time: Nanoseconds(1),
            }],
        }],
        waits: vec![Wait {
            thread: 0,
            call: call(1, 50, 70),
            ended_by: None,
        }],
        arguments: Vec::new(),
    }
}

/// Like [`calls`], with arguments of some calls.
fn calls_with(n: f64) -> RunCalls<NodeIx> {
    let at = |value| CallsAtValue {
        value,
        calls: 2,
        duration: Nanoseconds(70),
        self_duration: Nanoseconds(60),
    };
    RunCalls {
        arguments: vec![CallsByArgument {
            thread: 0,
            stack: NodeIx(1),
            argument: "n".to_owned(),
            calls: vec![at(0.25), at(n)],
        }],
        ..calls(9)
    }
}

fn metrics() -> RunMetrics {
    let times = [Nanoseconds(5)].into();
    let series = MetricSeries::new("heap", MetricKind::Level, times, vec![1.5]).unwrap();
    RunMetrics {
        first: Nanoseconds(3),
        last: Nanoseconds(9),
        series: vec![series],
    }
}

fn run() -> Plain {
    of_stacks(&[&[1, 2], &[3]])
}

fn add(
    store: &Store,
    source: &str,
    calls: Option<RunCalls<NodeIx>>,
    metrics: Option<RunMetrics>,
) -> Result<Added, StoreError> {
    let build = build("v1");
    let profile = profile(&build, source, &run());
    let mut interned = run().interned();
    (interned.calls, interned.metrics) = (calls, metrics);
    store.writer().add(&build, &profile, &interned)
}

fn id(store: &Store, source: &str, calls: Option<RunCalls<NodeIx>>) -> ProfileId {
    add(store, source, calls, None).unwrap().id()
}

fn load(store: &Store, id: ProfileId) -> Option<RunCalls<NodeIx>> {
    let snapshot = store.snapshot().unwrap();
    let loaded = snapshot.load_calls(id).unwrap()?;
    let interned = run().interned();
    assert_eq!(loaded.tree, interned.tree);
    assert!(loaded.frames.iter().eq(interned.frames.iter()));
    Some(loaded.calls)
}

fn file(folder: &Path) -> PathBuf {
    folder.join(Store::FILE_NAME)
}

fn assert_sound(folder: &Path) {
    let verification = Store::verify(folder, None, &mut |_| Ok(())).unwrap();
    assert!(verification.sound, "{verification:#?}");
}

#[test]
fn calls_round_trip_and_do_not_affect_the_id() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let without = id(&store, "one", None);
    let added = add(&store, "other", Some(calls(100)), None).unwrap();
    let Added::New {
        id: with,
        calls: bytes,
        stored,
        ..
    } = added
    else {
        panic!("it is new")
    };
    assert!(bytes > Bytes(0) && bytes < stored);
    assert_eq!(load(&store, with), Some(calls(100)));
    assert_eq!(load(&store, without), None);
    let elsewhere = Store::in_memory().unwrap();
    assert_eq!(id(&elsewhere, "other", None), with);
    assert_sound(folder.path());
    let stats = store.stats().unwrap();
    let mut parts = stats.parts.iter();
    let part = parts.find(|part| part.part == "calls").unwrap();
    assert_eq!((part.count, part.bytes.0 + 8), (1, bytes.0));
}

#[test]
fn calls_survive_compaction_and_export() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let without = id(&store, "one", None);
    let with = id(&store, "other", Some(calls(9)));
    add(&store, "third", None, Some(metrics())).unwrap();
    store.compact().unwrap();
    assert_eq!(load(&store, with), Some(calls(9)));
    assert_sound(folder.path());
    for (id, expected) in [(without, None), (with, Some(calls(9)))] {
        let to = tempfile::tempdir().unwrap();
        let ids = BTreeSet::from([id]);
        let snapshot = store.snapshot().unwrap();
        snapshot.export(&ids, &file(to.path())).unwrap();
        assert_sound(to.path());
        let exported = Store::open(to.path()).unwrap();
        assert_eq!(load(&exported, id), expected);
    }
    store.prune(&BTreeSet::from([with])).unwrap();
    assert_sound(folder.path());
}

#[test]
fn equal_profiles_and_calls_give_equal_bytes() {
    let written = |order: [&str; 3]| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        for source in order {
            id(&store, source, (source != "b").then(|| calls_with(50.0)));
        }
        store.compact().unwrap();
        fs::read(file(folder.path())).unwrap()
    };
    assert!(written(["a", "b", "c"]) == written(["c", "a", "b"]));
}

#[test]
fn merge_copies_calls_and_keeps_existing_ones() {
    let [here, there] = [(); 2].map(|()| Store::in_memory().unwrap());
    let same = id(&here, "same", Some(calls(9)));
    id(&there, "same", Some(calls(9)));
    let different = id(&here, "different", Some(calls(9)));
    id(&there, "different", Some(calls(8)));
    let lacking = id(&here, "lacking", None);
    id(&there, "lacking", Some(calls(9)));
    let new = id(&there, "new", Some(calls(7)));
    let other = there.snapshot().unwrap();
    let merged = here.merge(&other, &mut |_| Ok(())).unwrap();
    assert_eq!(merged.added, [new]);
    let mut expected = vec![different, lacking];
    expected.sort();
    assert_eq!(merged.different, expected);
    for (id, expected) in [
        (new, Some(7)),
        (same, Some(9)),
        (different, Some(9)),
        (lacking, None),
    ] {
        assert_eq!(load(&here, id), expected.map(calls));
    }
}

#[test]
fn arguments_stay_with_calls() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let run = id(&store, "one", Some(calls_with(1000.0)));
    assert_eq!(load(&store, run), Some(calls_with(1000.0)));
    let other = Store::in_memory().unwrap();
    let snapshot = store.snapshot().unwrap();
    assert_eq!(
        other.merge(&snapshot, &mut |_| Ok(())).unwrap().added,
        [run]
    );
    assert_eq!(load(&other, run), Some(calls_with(1000.0)));
    let to = tempfile::tempdir().unwrap();
    snapshot
        .export(&BTreeSet::from([run]), &file(to.path()))
        .unwrap();
    assert_sound(to.path());
    drop(snapshot);
    // Reading again replaces the calls: with other arguments, or none.
    id(&store, "one", Some(calls_with(2000.0)));
    assert_eq!(load(&store, run), Some(calls_with(2000.0)));
    assert_sound(folder.path());
    id(&store, "one", Some(calls(9)));
    assert_eq!(load(&store, run), Some(calls(9)));
    assert_sound(folder.path());
    id(&store, "one", Some(calls_with(1000.0)));
    store.compact().unwrap();
    assert_eq!(load(&store, run), Some(calls_with(1000.0)));
    store.prune(&BTreeSet::from([run])).unwrap();
    assert_sound(folder.path());
}

#[test]
fn rejects_invalid_calls_by_arguments() {
    let refused = |change: &dyn Fn(&mut CallsByArgument<NodeIx>)| {
        let store = Store::in_memory().unwrap();
        let mut calls = calls_with(1000.0);
        change(&mut calls.arguments[0]);
        add(&store, "one", Some(calls), None).is_err()
    };
    assert!(!refused(&|_| ()));
    assert!(refused(&|of| of.thread = 1));
    assert!(refused(&|of| of.stack = NodeIx(99)));
    assert!(refused(&|of| of.argument = "n".repeat(4097)));
    assert!(refused(&|of| of.calls[0].value = f64::NAN));
    assert!(refused(&|of| of.calls[0].value = 1e9));
    assert!(refused(&|of| of.calls[0].calls = 0));
    assert!(refused(&|of| of.calls[0].self_duration = Nanoseconds(71)));
}

#[test]
fn adds_calls_to_a_stored_profile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let run = id(&store, "one", None);
    let mut seen = BTreeSet::new();
    let mut give = |now: Option<RunCalls<NodeIx>>, metrics, expected: u64| {
        let added = add(&store, "one", now, metrics).unwrap();
        assert_eq!(added.id(), run);
        assert_eq!(load(&store, run), Some(calls(expected)));
        assert_sound(folder.path());
        let is_changed = seen.insert(fs::read(file(folder.path())).unwrap());
        assert_eq!(is_changed, !matches!(added, Added::AlreadyStored(_)));
        match added {
            Added::Given { metrics, calls, .. } => (metrics > Bytes(0), calls > Bytes(0)),
            _ => (false, false),
        }
    };
    assert_eq!(give(Some(calls(9)), None, 9), (false, true));
    // The same calls or none: nothing changes.
    assert_eq!(give(Some(calls(9)), None, 9), (false, false));
    assert_eq!(give(None, None, 9), (false, false));
    assert_eq!(give(None, Some(metrics()), 9), (true, false));
    // Calls with other thresholds replace them.
    assert_eq!(give(Some(calls(5)), Some(metrics()), 5), (false, true));
    // A profile that was merged before and is then read here keeps its calls.
    let other = Store::in_memory().unwrap();
    let snapshot = store.snapshot().unwrap();
    other.merge(&snapshot, &mut |_| Ok(())).unwrap();
    add(&other, "one", None, None).unwrap();
    assert_eq!(load(&other, run), Some(calls(5)));
    let snapshot = other.snapshot().unwrap();
    assert_eq!(snapshot.load_metrics(run).unwrap(), Some(metrics()));
}

#[test]
fn rejects_invalid_calls() {
    type Break = fn(&mut RunCalls<NodeIx>);
    let overlap = "the calls of a thread overlap, or do not match its records";
    let stack = "a call's stack does not exist, or has a call count of zero";
    let moment = "an outlier or a wait has a thread, stack or time that does not exist";
    let cases: [(Break, &str); 11] = [
        (
            |run| run.thresholds.total_time = Threshold::Share(f64::NAN),
            "a threshold of its calls is not a fraction from 0 to 1",
        ),
        (
            |run| {
                let mut first = run.threads[0].clone();
                first.begin = Nanoseconds(2);
                run.threads.push(first);
            },
            "the threads of its calls are not in the order of their first calls",
        ),
        (|run| run.threads[0].calls += 1, overlap),
        (|run| run.threads[0].begin.0 += 1, overlap),
        (|run| run.threads[0].end.0 += 1, overlap),
        (|run| run.threads[0].records.swap(1, 2), overlap),
        (
            |run| run.threads[0].records[0] = CallRecord::Call(call(0, 3, 12)),
            overlap,
        ),
        (
            |run| run.threads[0].records[0] = CallRecord::Call(call(3, 3, 1_000_000)),
            stack,
        ),
        (|run| run.outliers[0].thread = 1, moment),
        (
            |run| run.outliers[0].activities[0].stack = Some(NodeIx(3)),
            moment,
        ),
        (
            |run| run.waits[0].ended_by = Some((0, call(0, 2, 9))),
            moment,
        ),
    ];
    let store = Store::in_memory().unwrap();
    for (change, expected) in cases {
        let mut broken = calls(3);
        change(&mut broken);
        match add(&store, "one", Some(broken), None) {
            Err(StoreError::Refused { why, .. }) => assert_eq!(why, expected),
            added => panic!("{expected}: {added:?}"),
        }
    }
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

#[test]
fn flipped_bits_in_calls_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let id = id(&store, "one", Some(calls(3000)));
    drop(store);
    let file = file(folder.path());
    let bytes = fs::read(&file).unwrap();
    let mut random = 1u64;
    let mut found = 0;
    for _ in 0..400 {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let bit = (random >> 33) as usize % (8 * bytes.len());
        let mut bytes = bytes.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        fs::write(&file, bytes).unwrap();
        match Store::open(folder.path()).and_then(|store| store.snapshot()?.load_calls(id)) {
            Ok(loaded) => assert!(
                loaded.map(|loaded| loaded.calls) == Some(calls(3000)),
                "bit {bit}"
            ),
            Err(_) => found += 1,
        }
    }
    assert!(found > 0);
}

#[test]
fn missing_or_misplaced_calls_are_damage() {
    const ENDS: TableDefinition<(u8, u32, u32), &[u8]> = TableDefinition::new("ends");
    for elsewhere in [None, Some((8, 1, 0))] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let id = id(&store, "one", Some(calls(2)));
        let database = redb::Database::open(file(folder.path())).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut ends = transaction.open_table(ENDS).unwrap();
            let pack = ends.remove((8, 0, 0)).unwrap().unwrap().value().to_vec();
            if let Some(key) = elsewhere {
                ends.insert(key, pack.as_slice()).unwrap();
            }
        }
        transaction.commit().unwrap();
        drop(database);
        let loaded = store.snapshot().unwrap().load_calls(id);
        assert!(
            matches!(loaded, Err(StoreError::Damaged { .. })),
            "{loaded:?}"
        );
        let verification = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap();
        let found = verification.damages.iter().map(|damage| &*damage.what);
        let found: Vec<&str> = found.collect();
        let size = "its columns differ in size from its record";
        let expected = match elsewhere {
            None => vec![size],
            Some(_) => vec![
                "the checksum does not match the content",
                "no record refers to it",
                size,
            ],
        };
        let has = |what: &&str| found.iter().any(|found| found.contains(what));
        assert!(expected.iter().all(has), "{found:?}");
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }
}
