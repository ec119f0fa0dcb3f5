//! Tests of the way from a sender to the store.

use super::*;
use std::path::Path;
use sto_core::id::BuildId;
use sto_core::store::StoredProfile;

/// Waits for the result of a handler.
fn wait<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    runtime.block_on(work)
}

/// A folded profile of one instance of a service at a time.
fn piece(instance: &str, time: u64, stacks: &str) -> Received {
    Received {
        origin: Origin {
            program: Some("shop".to_owned()),
            build: Some("v1".to_owned()),
            labels: [("instance".to_owned(), instance.to_owned())].into(),
            recorded: Some(UnixSeconds(time)),
            ..Origin::default()
        },
        body: stacks.to_owned().into(),
        format: Some(Format::Folded),
        is_continuous: true,
    }
}

fn start(folder: &Path) -> (Store, Intake) {
    let store = Store::open_or_create(folder).unwrap();
    let settings = Settings {
        // Tests flush.
        flush_after: Duration::from_secs(3600),
        ..Settings::default()
    };
    let intake = Intake::start(store.clone(), settings).unwrap();
    (store, intake)
}

fn profiles(store: &Store) -> Vec<StoredProfile> {
    let builds = store.snapshot().unwrap().builds().unwrap();
    builds
        .into_iter()
        .flat_map(|build| build.profiles)
        .collect()
}

/// The number of samples in a build.
fn samples(store: &Store, build: BuildId) -> u64 {
    let loaded = store.snapshot().unwrap().load_build(build).unwrap();
    loaded.costs[0].iter().map(|(_, cost)| cost.samples).sum()
}

#[test]
fn pieces_of_one_instance_and_ten_seconds_become_one_profile() {
    let folder = tempfile::tempdir().unwrap();
    let (store, intake) = start(folder.path());
    for (instance, time) in [("a", 1000), ("a", 1004), ("b", 1009), ("a", 1010)] {
        wait(intake.accept(piece(instance, time, "main;parse 2\nmain 1\n"))).unwrap();
    }
    assert!(profiles(&store).is_empty());
    wait(intake.flush());
    let mut found: Vec<_> = profiles(&store)
        .iter()
        .map(|stored| {
            assert!(stored.profile.is_window());
            let profile = &stored.profile;
            let recorded = profile.origin.recorded.unwrap().0;
            (
                profile.labels["instance"].clone(),
                recorded,
                profile.quality.samples,
            )
        })
        .collect();
    found.sort();
    let expected = [("a", 1000, 6), ("a", 1010, 3), ("b", 1000, 3)];
    assert_eq!(
        found,
        expected.map(|(instance, time, samples)| (instance.to_owned(), time, samples))
    );
    let build = profiles(&store)[0].profile.build;
    assert_eq!(samples(&store, build), 12);
}

#[test]
fn what_is_malformed_is_refused_and_not_spooled() {
    let folder = tempfile::tempdir().unwrap();
    let (_, intake) = start(folder.path());
    let refused = wait(intake.accept(piece("a", 1000, "\u{1}\u{2}"))).unwrap_err();
    assert_eq!(refused.status, 422);
    assert_eq!(intake.status().refused, 1);
    let spool = folder.path().join("spool");
    let segments = spool
        .read_dir()
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some());
    assert_eq!(segments.count(), 0);
}
