//! Metrics attached after ingestion.

use super::model::{Plain, add, of_stacks};
use std::collections::BTreeMap;
use std::fs;
use sto_core::id::ProfileId;
use sto_core::limits::{MAX_LABELS, MAX_USER_STRING};
use sto_core::model::Profile;
use sto_core::store::{Annotated, OtherValue, Store, StoreError};

type Given = BTreeMap<ProfileId, BTreeMap<String, f64>>;

fn run() -> Plain {
    of_stacks(&[&[1, 2], &[3]])
}

fn two_runs() -> (tempfile::TempDir, Store, [ProfileId; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let ids = ["first", "second"].map(|source| add(&store, "v1", source, &run()));
    (folder, store, ids)
}

fn given(rows: &[(ProfileId, &str, f64)]) -> Given {
    let mut given = Given::new();
    for &(profile, metric, value) in rows {
        let of_run = given.entry(profile).or_default();
        of_run.insert(metric.to_owned(), value);
    }
    given
}

/// The metrics of a run, except the one that [`add`] sets.
fn metrics(store: &Store, id: ProfileId) -> Vec<(String, f64)> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let mut profiles = builds.iter().flat_map(|build| &build.profiles);
    let stored = profiles.find(|profile| profile.id == id).unwrap();
    let metrics = stored.profile.metrics.clone().into_iter();
    metrics.filter(|(name, _)| name != "seconds").collect()
}

fn profiles(store: &Store) -> Vec<Profile> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    let stored = builds.into_iter().flat_map(|build| build.profiles);
    stored.map(|stored| stored.profile).collect()
}

fn pair(name: &str, value: f64) -> (String, f64) {
    (name.to_owned(), value)
}

#[test]
fn attaches_metrics_to_stored_runs() {
    let (folder, store, [first, second]) = two_runs();
    let before = profiles(&store);
    let metrics_of_both = given(&[
        (first, "elapsed", 1.5),
        (first, "requests", 100.0),
        (second, "elapsed", 1.25),
    ]);
    let annotated = store.annotate(&metrics_of_both, false).unwrap();
    let expected = Annotated {
        new: 3,
        ..Annotated::default()
    };
    assert_eq!(annotated, expected);
    assert_eq!(
        metrics(&store, first),
        [pair("elapsed", 1.5), pair("requests", 100.0)]
    );
    assert_eq!(metrics(&store, second), [pair("elapsed", 1.25)]);

    let mut after = profiles(&store);
    for profile in &mut after {
        profile.metrics.retain(|name, _| name == "seconds");
    }
    assert_eq!(after, before);
    let damage = Store::verify(folder.path(), None, &mut |_| Ok(()))
        .unwrap()
        .damages;
    assert!(damage.is_empty(), "{damage:?}");
}

#[test]
fn equal_metrics_change_nothing() {
    let (folder, store, [first, _]) = two_runs();
    let seconds = given(&[(first, "elapsed", 1.5)]);
    store.annotate(&seconds, false).unwrap();
    let file = folder.path().join(Store::FILE_NAME);
    let before = fs::read(&file).unwrap();
    let annotated = store.annotate(&seconds, false).unwrap();
    assert_eq!((annotated.new, annotated.unchanged), (0, 1));
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn replaces_a_value_only_if_asked() {
    let (folder, store, [first, second]) = two_runs();
    store
        .annotate(&given(&[(first, "elapsed", 1.5)]), false)
        .unwrap();
    let file = folder.path().join(Store::FILE_NAME);
    let before = fs::read(&file).unwrap();
    let other = given(&[(first, "elapsed", 2.0), (second, "elapsed", 3.0)]);
    let annotated = store.annotate(&other, false).unwrap();
    let different = OtherValue {
        profile: first,
        metric: "elapsed".to_owned(),
        stored: 1.5,
        given: 2.0,
    };
    assert_eq!(annotated.different, [different]);
    assert!(fs::read(&file).unwrap() == before);

    store.annotate(&other, true).unwrap();
    assert_eq!(metrics(&store, first), [pair("elapsed", 2.0)]);
    assert_eq!(metrics(&store, second), [pair("elapsed", 3.0)]);
}

#[test]
fn rejects_invalid_metrics() {
    let (folder, store, [first, _]) = two_runs();
    let unknown = ProfileId([7; 16]);
    let too_long = "x".repeat(MAX_USER_STRING + 1);
    let too_many: Vec<String> = (0..=MAX_LABELS).map(|ix| format!("m{ix}")).collect();
    let too_many: Vec<_> = too_many.iter().map(|name| (first, &**name, 1.0)).collect();
    let file = folder.path().join(Store::FILE_NAME);
    let before = fs::read(&file).unwrap();
    for refused in [
        &[(first, "elapsed", f64::NAN)][..],
        &[(first, "elapsed", f64::INFINITY)],
        &[(first, "", 1.0)],
        &[(first, &too_long, 1.0)],
        &too_many,
    ] {
        let error = store.annotate(&given(refused), true).unwrap_err();
        assert!(matches!(error, StoreError::Refused { .. }), "{error}");
    }
    let missing = store.annotate(&given(&[(unknown, "elapsed", 1.0)]), true);
    assert!(matches!(missing, Err(StoreError::NoProfile { profile, .. }) if profile == unknown));
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn metrics_survive_compaction_and_merge() {
    let (_folder, store, [first, _]) = two_runs();
    store
        .annotate(&given(&[(first, "elapsed", 1.5)]), false)
        .unwrap();
    store.compact().unwrap();
    assert_eq!(metrics(&store, first), [pair("elapsed", 1.5)]);
    let elsewhere = Store::in_memory().unwrap();
    elsewhere
        .merge(&store.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert_eq!(metrics(&elsewhere, first), [pair("elapsed", 1.5)]);
}
