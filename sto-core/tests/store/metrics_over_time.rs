//! Metrics over time stay with their profile.

use super::model::{Plain, build, of_stacks, profile};
use crate::common::read_text;
use redb::TableDefinition;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use sto_core::id::ProfileId;
use sto_core::ingest::{IngestError, IngestOptions, IngestOutcome, ingest};
use sto_core::limits::MAX_METRICS;
use sto_core::model::{MetricKind, MetricSeries, RunMetrics};
use sto_core::store::{Added, ProfileOrigin, Store, StoreError};
use sto_core::units::{Bytes, Nanoseconds};

fn series(name: &str, values: &[f64]) -> MetricSeries {
    let times: Arc<[Nanoseconds]> = (0..values.len() as u64).map(Nanoseconds).collect();
    MetricSeries::new(name, MetricKind::Level, times, values.to_vec()).unwrap()
}

fn metrics(series: Vec<MetricSeries>) -> RunMetrics {
    RunMetrics {
        first: Nanoseconds(3),
        last: Nanoseconds(9),
        series,
    }
}

fn two() -> RunMetrics {
    metrics(vec![series("heap", &[1.5, 2.5]), series("load", &[0.1])])
}

fn run() -> Plain {
    of_stacks(&[&[1, 2], &[3]])
}

fn add(
    store: &Store,
    version: &str,
    source: &str,
    metrics: Option<RunMetrics>,
) -> Result<Added, StoreError> {
    let build = build(version);
    let profile = profile(&build, source, &run());
    let mut interned = run().interned();
    interned.metrics = metrics;
    store.writer().add(&build, &profile, &interned)
}

fn id(store: &Store, version: &str, source: &str, metrics: Option<RunMetrics>) -> ProfileId {
    add(store, version, source, metrics).unwrap().id()
}

fn load(store: &Store, id: ProfileId) -> Option<RunMetrics> {
    store.snapshot().unwrap().load_metrics(id).unwrap()
}

fn file(folder: &Path) -> std::path::PathBuf {
    folder.join(Store::FILE_NAME)
}

fn assert_sound(folder: &Path) {
    let verification = Store::verify(folder, None, &mut |_| Ok(())).unwrap();
    assert!(verification.sound, "{verification:#?}");
}

#[test]
fn metrics_round_trip_and_do_not_affect_the_id() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let without = id(&store, "v1", "one", None);
    assert_eq!(load(&store, without), None);
    let Added::New {
        id: with,
        metrics,
        stored,
        ..
    } = add(&store, "v1", "other", Some(two())).unwrap()
    else {
        panic!("it is new")
    };
    assert!(metrics > Bytes(0) && metrics < stored);
    assert_eq!(load(&store, with), Some(two()));
    assert_eq!(load(&store, without), None);
    let elsewhere = Store::in_memory().unwrap();
    assert_eq!(id(&elsewhere, "v1", "other", None), with);
    let missing = store.snapshot().unwrap().load_metrics(ProfileId([9; 16]));
    assert!(
        matches!(missing, Err(StoreError::NoProfile { .. })),
        "{missing:?}"
    );
    assert_sound(folder.path());
    let stats = store.stats().unwrap();
    let part = stats
        .parts
        .iter()
        .find(|part| part.part == "metrics")
        .unwrap();
    assert_eq!((part.count, part.bytes.0 + 8), (1, metrics.0));
}

#[test]
fn metrics_survive_compaction_and_export() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let without = id(&store, "v1", "one", None);
    let with = id(&store, "v1", "other", Some(two()));
    store.compact().unwrap();
    assert_eq!(load(&store, with), Some(two()));
    for (id, expected) in [(without, None), (with, Some(two()))] {
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
fn equal_profiles_and_metrics_give_equal_bytes() {
    let written = |order: [&str; 3]| {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        for source in order {
            let metrics = (source != "b").then(two);
            id(&store, "v1", source, metrics);
        }
        store.compact().unwrap();
        fs::read(file(folder.path())).unwrap()
    };
    assert!(written(["a", "b", "c"]) == written(["c", "a", "b"]));
}

#[test]
fn merge_copies_metrics_and_keeps_existing_ones() {
    let [here, there] = [(); 2].map(|()| Store::in_memory().unwrap());
    let other = metrics(vec![series("heap", &[9.0])]);
    let same = id(&here, "v1", "same", Some(two()));
    id(&there, "v1", "same", Some(two()));
    let different = id(&here, "v1", "different", Some(two()));
    id(&there, "v1", "different", Some(other.clone()));
    let lacking = id(&here, "v1", "lacking", None);
    id(&there, "v1", "lacking", Some(other.clone()));
    let new = id(&there, "v1", "new", Some(other.clone()));
    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert_eq!(merged.added, [new]);
    let mut expected = vec![different, lacking];
    expected.sort();
    assert_eq!(merged.different, expected);
    assert_eq!(load(&here, new), Some(other));
    assert_eq!(load(&here, same), Some(two()));
    assert_eq!(load(&here, different), Some(two()));
    assert_eq!(load(&here, lacking), None);
}

#[test]
fn adds_metrics_to_a_stored_profile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let run = id(&store, "v1", "one", None);
    let mut seen = BTreeSet::new();
    let mut give = |metrics: Option<RunMetrics>, expected: &RunMetrics| {
        let added = add(&store, "v1", "one", metrics).unwrap();
        assert_eq!(added.id(), run);
        assert_eq!(load(&store, run).as_ref(), Some(expected));
        assert_sound(folder.path());
        let is_new_file = seen.insert(fs::read(file(folder.path())).unwrap());
        assert_ne!(is_new_file, matches!(added, Added::AlreadyStored(_)));
        matches!(
            added,
            Added::Given {
                metrics: Bytes(1..),
                ..
            }
        )
    };
    assert!(give(Some(two()), &two()));
    // The same metrics or none: nothing changes.
    assert!(!give(Some(two()), &two()));
    assert!(!give(None, &two()));
    // Other metrics are added, and one of the same name is replaced.
    let more = metrics(vec![series("heap", &[7.0]), series("idle", &[1.0])]);
    let all = metrics(vec![
        series("heap", &[7.0]),
        series("idle", &[1.0]),
        series("load", &[0.1]),
    ]);
    assert!(give(Some(more), &all));
    // A profile that was merged before and is then read here keeps its metrics.
    let other = Store::in_memory().unwrap();
    other
        .merge(&store.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    id(
        &other,
        "v1",
        "one",
        Some(metrics(vec![series("new", &[2.0])])),
    );
    let names = load(&other, run).unwrap().series;
    let names: Vec<&str> = names.iter().map(MetricSeries::name).collect();
    assert_eq!(names, ["heap", "idle", "load", "new"]);
    let reading = build("v1");
    let reading = profile(&reading, "one", &self::run()).build_recording_id();
    let from = other
        .snapshot()
        .unwrap()
        .profile_of_recording(reading)
        .unwrap()
        .unwrap()
        .1;
    assert_eq!(from, ProfileOrigin::ReadHere);
}

#[test]
fn rejects_malformed_metrics() {
    let store = Store::in_memory().unwrap();
    let twice = vec![series("a", &[1.0]), series("a", &[2.0])];
    let backwards = RunMetrics {
        first: Nanoseconds(10),
        ..two()
    };
    for (broken, expected) in [
        (
            metrics(twice),
            "its metrics over time are out of order, or two have the same name",
        ),
        (backwards, "its last sample is before its first"),
    ] {
        match add(&store, "v1", "one", Some(broken)) {
            Err(StoreError::Refused { why, .. }) => assert_eq!(why, expected),
            added => panic!("{added:?}"),
        }
    }
    assert!(store.snapshot().unwrap().builds().unwrap().is_empty());
}

fn ingested(series: Vec<MetricSeries>) -> Result<(Store, IngestOutcome), IngestError> {
    let text = "demo 7 0.000000100: 1 cycles:\n\t401000 main (/bin/demo)\n\ndemo 7 0.000000130: 1 cycles:\n\t401000 main (/bin/demo)\n\n";
    let recording = read_text(text).unwrap();
    let recording = recording.edit(|parts| parts.metrics = series).unwrap();
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    let outcome = ingest(&store, (Path::new("p"), recording), &options, &mut |_| ())?;
    Ok((store, outcome))
}

#[test]
fn metrics_have_the_time_range_of_the_samples() {
    let (store, outcome) = ingested(vec![
        series("b", &[1.0, 2.0]),
        series("none", &[]),
        series("a", &[3.0]),
    ])
    .unwrap();
    let [profile] = &outcome.profiles[..] else {
        panic!()
    };
    let summary = profile.metrics.unwrap();
    assert_eq!((summary.count, summary.points), (2, 3));
    assert!(summary.bytes > Bytes(0));
    let stored = load(&store, profile.id).unwrap();
    assert_eq!(
        (stored.first, stored.last),
        (Nanoseconds(100), Nanoseconds(130))
    );
    assert_eq!(
        stored.series,
        [series("a", &[3.0]), series("b", &[1.0, 2.0])]
    );
    let (store, outcome) = ingested(Vec::new()).unwrap();
    assert!(outcome.profiles[0].metrics.is_none());
    assert_eq!(load(&store, outcome.profiles[0].id), None);
}

#[test]
fn rejects_too_many_metrics_and_duplicate_names() {
    let message = |series| ingested(series).map(drop).unwrap_err().to_string();
    let twice = message(vec![series("a", &[1.0]), series("a", &[2.0])]);
    assert!(
        twice.ends_with("two of its metrics over time have the name `a`"),
        "{twice}"
    );
    let many = (0..=MAX_METRICS).map(|at| series(&at.to_string(), &[1.0]));
    let many = message(many.collect());
    let expected = "it has 65537 metrics over time with 65537 values, but the limit is 65536 metrics with 67108864 \
                    values in total; record fewer metrics, or less often";
    assert!(many.ends_with(expected), "{many}");
}

#[test]
fn flipped_bits_in_metrics_are_detected() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let values: Vec<f64> = (0..3000).map(|at| f64::from(at * at % 97)).collect();
    let run = metrics(vec![series("a", &values), series("b", &[0.1, 0.2, 0.4])]);
    let id = id(&store, "v1", "one", Some(run.clone()));
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
        match Store::open(folder.path()).and_then(|store| store.snapshot()?.load_metrics(id)) {
            Ok(loaded) => assert!(loaded.as_ref() == Some(&run), "bit {bit}"),
            Err(_) => found += 1,
        }
    }
    assert!(found > 0);
}

#[test]
fn missing_or_misplaced_metrics_are_damage() {
    const ENDS: TableDefinition<(u8, u32, u32), &[u8]> = TableDefinition::new("ends");
    for elsewhere in [None, Some((7, 1, 0))] {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_or_create(folder.path()).unwrap();
        let id = id(&store, "v1", "one", Some(two()));
        let database = redb::Database::open(file(folder.path())).unwrap();
        let transaction = database.begin_write().unwrap();
        {
            let mut ends = transaction.open_table(ENDS).unwrap();
            let pack = ends.remove((7, 0, 0)).unwrap().unwrap().value().to_vec();
            if let Some(key) = elsewhere {
                ends.insert(key, pack.as_slice()).unwrap();
            }
        }
        transaction.commit().unwrap();
        drop(database);
        let loaded = store.snapshot().unwrap().load_metrics(id);
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
        for what in &expected {
            assert!(
                found.iter().any(|found| found.contains(what)),
                "{what}: {found:?}"
            );
        }
        assert_eq!(found.len(), expected.len(), "{found:?}");
    }
}
