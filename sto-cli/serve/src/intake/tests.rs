//! Tests of the way from a sender to the store.

use super::*;
use prost::Message as _;
use std::fs;
use std::path::Path;
use sto_core::id::BuildId;
use sto_core::store::{StoredProfile, Tag};

/// Waits for the result of a handler.
pub(crate) fn wait<T>(work: impl Future<Output = T>) -> T {
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
        ..Received::default()
    }
}

pub(crate) fn start(folder: &Path) -> (Store, Intake) {
    let store = Store::open_or_create(folder).unwrap();
    let settings = Settings {
        // Tests flush.
        flush_after: Duration::from_secs(3600),
        ..Settings::default()
    };
    let intake = Intake::start(store.clone(), settings).unwrap();
    (store, intake)
}

pub(crate) fn profiles(store: &Store) -> Vec<StoredProfile> {
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
        wait(intake.accept(vec![piece(instance, time, "main;parse 2\nmain 1\n")])).unwrap();
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
    let refused = wait(intake.accept(vec![piece("a", 1000, "\u{1}\u{2}")])).unwrap_err();
    assert_eq!(refused.status, 422);
    assert_eq!(intake.status().refused, 1);
    let spool = folder.path().join("spool");
    let segments = spool
        .read_dir()
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some());
    assert_eq!(segments.count(), 0);
}

/// Copies the files of a folder and of the folders in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let copied = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).unwrap();
        }
    }
}

/// The contents of a store: each profile's id, and the number of samples of each build.
fn contents(store: &Store) -> (Vec<String>, Vec<u64>) {
    let mut ids: Vec<String> = profiles(store)
        .iter()
        .map(|stored| stored.id.to_string())
        .collect();
    ids.sort();
    let builds = store.snapshot().unwrap().builds().unwrap();
    let sums = builds.iter().map(|build| samples(store, build.id));
    (ids, sums.collect())
}

#[test]
fn what_was_acknowledged_is_stored_after_a_crash() {
    let (folder, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, intake) = start(folder.path());
    for time in [1000, 1003, 1011] {
        let pieces = ["a", "b"].map(|instance| piece(instance, time, "main;parse 2\n"));
        wait(intake.accept(pieces.into())).unwrap();
    }
    copy(folder.path(), after.path());
    wait(intake.flush());
    let expected = contents(&store);
    assert_eq!((expected.0.len(), &expected.1[..]), (4, &[12][..]));

    let (store, intake) = start(after.path());
    wait(intake.flush());
    assert_eq!(contents(&store), expected);
    assert_eq!(intake.status().spool_bytes, 0);
}

#[test]
fn a_crash_between_commit_and_deletion_doubles_nothing() {
    let (folder, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (store, intake) = start(folder.path());
    for time in [1000, 1003, 1011] {
        wait(intake.accept(vec![piece("a", time, "main;parse 2\n")])).unwrap();
    }
    let spool = folder.path().join("spool");
    copy(&spool, &after.path().join("spool"));
    wait(intake.flush());
    let expected = contents(&store);
    fs::copy(
        folder.path().join(Store::FILE_NAME),
        after.path().join(Store::FILE_NAME),
    )
    .unwrap();

    let (store, intake) = start(after.path());
    wait(intake.flush());
    assert_eq!(contents(&store), expected);
}

#[test]
fn a_body_with_its_own_time_that_is_sent_again_counts_once() {
    let folder = tempfile::tempdir().unwrap();
    let (store, intake) = start(folder.path());
    let body = pprof(1_000_000_000_000);
    let again = || Received {
        body: body.clone().into(),
        format: Some(Format::Pprof),
        ..piece("a", 1000, "")
    };
    wait(intake.accept(vec![again()])).unwrap();
    wait(intake.accept(vec![again()])).unwrap();
    wait(intake.flush());
    wait(intake.accept(vec![again()])).unwrap();
    wait(intake.flush());
    let status = intake.status();
    assert_eq!((status.accepted, status.repeated), (1, 2));
    assert_eq!(contents(&store).1, [3]);
}

/// A profile with 3 samples at a time in nanoseconds since 1970.
fn pprof(time_nanos: i64) -> Vec<u8> {
    use sto_test_support::pprof::{Function, Line, Location, Profile, Sample, ValueType};
    let strings = ["", "samples", "count", "main"].map(str::to_owned);
    let profile = Profile {
        sample_type: vec![ValueType { r#type: 1, unit: 2 }],
        sample: vec![Sample {
            location_id: vec![1],
            value: vec![3],
            label: Vec::new(),
        }],
        location: vec![Location {
            id: 1,
            line: vec![Line {
                function_id: 1,
                line: 1,
            }],
            ..Location::default()
        }],
        function: vec![Function {
            id: 1,
            name: 3,
            ..Function::default()
        }],
        string_table: strings.into(),
        time_nanos,
        ..Profile::default()
    };
    profile.encode_to_vec()
}

#[test]
fn a_record_that_ended_the_server_twice_is_set_aside() {
    let folder = tempfile::tempdir().unwrap();
    let after = tempfile::tempdir().unwrap();
    let (_, intake) = start(folder.path());
    for time in [1000, 1003] {
        wait(intake.accept(vec![piece("a", time, "main;parse 2\n")])).unwrap();
    }
    copy(folder.path(), after.path());
    let spool = after.path().join("spool");
    let segment = spool.join("0000000001.spool");
    // As two servers left it that ended while they read the first record.
    fs::write(
        spool.join("attempt"),
        format!("{} 0 again", segment.display()),
    )
    .unwrap();

    let (store, intake) = start(after.path());
    wait(intake.flush());
    assert_eq!(contents(&store).1, [2]);
    let quarantined = intake.status().quarantined;
    assert_eq!(quarantined.len(), 1, "{quarantined:?}");
    assert!(
        quarantined[0].contains("ended the server"),
        "{quarantined:?}"
    );
    assert!(!spool.join("attempt").exists());
}

#[test]
fn a_damaged_record_is_set_aside_with_those_after_it() {
    let (folder, after) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (_, intake) = start(folder.path());
    for time in [1000, 1003, 1006] {
        wait(intake.accept(vec![piece("a", time, "main;parse 2\n")])).unwrap();
    }
    copy(folder.path(), after.path());
    let segment = after.path().join("spool/0000000001.spool");
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&segment, &bytes).unwrap();

    let (store, intake) = start(after.path());
    wait(intake.flush());
    assert_eq!(contents(&store).1, [2]);
    let quarantined = intake.status().quarantined;
    assert_eq!(quarantined.len(), 1, "{quarantined:?}");
    let (file, why) = quarantined[0].split_once(": ").unwrap();
    assert!(why.contains("damaged or incomplete"), "{why}");
    assert!(bytes.ends_with(&fs::read(file).unwrap()));
}

#[test]
fn a_full_spool_asks_senders_to_wait() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let settings = Settings {
        max_spool: units::Bytes(100),
        flush_after: Duration::from_secs(3600),
        ..Settings::default()
    };
    let intake = Intake::start(store, settings).unwrap();
    let again = || wait(intake.accept(vec![piece("a", 1000, "main;parse 2\n")]));
    again().unwrap();
    assert_eq!(again().unwrap_err().status, 429);
    wait(intake.flush());
    again().unwrap();
}

#[test]
fn older_windows_become_longer_ones_with_the_same_costs() {
    let folder = tempfile::tempdir().unwrap();
    let (store, intake) = start(folder.path());
    let day = 86_400 * 20_000;
    let times = [0, 5, 10, 70, 3_590, 3_600, 7_199, 50_000];
    for time in times {
        let pieces =
            ["a", "b"].map(|instance| piece(instance, day + time, &format!("main;at{time} 1\n")));
        wait(intake.accept(pieces.into())).unwrap();
    }
    wait(intake.flush());
    let lengths = |now: u64| {
        while steps::merge_some(&store, UnixSeconds(day + now)).unwrap() {}
        assert_eq!(contents(&store).1, [2 * times.len() as u64]);
        let all = profiles(&store);
        let of_a = all
            .iter()
            .filter(|stored| stored.profile.labels["instance"] == "a");
        let mut starts: Vec<u64> = of_a
            .map(|stored| stored.profile.origin.recorded.unwrap().0 - day)
            .collect();
        starts.sort();
        starts
    };
    assert_eq!(lengths(60), [0, 10, 70, 3_590, 3_600, 7_190, 50_000]);
    assert_eq!(lengths(120), [0, 70, 3_590, 3_600, 7_190, 50_000]);
    assert_eq!(lengths(7_200), [0, 3_600, 7_190, 50_000]);
    assert_eq!(lengths(2 * 86_400), [0]);

    let snapshot = store.snapshot().unwrap();
    let merged = snapshot
        .load_slices(profiles(&store)[0].id)
        .unwrap()
        .unwrap();
    let slices: BTreeMap<u32, u64> =
        merged.slices.costs[0]
            .iter()
            .fold(BTreeMap::new(), |mut sums, cell| {
                *sums.entry(cell.slice.0).or_default() += cell.cost.samples;
                sums
            });
    assert_eq!(slices, [(0, 5), (1, 2), (13, 1)].into());
    let verified = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap();
    assert!(verified.sound, "{:?}", verified.damages);
}

#[test]
fn old_windows_are_removed_and_runs_and_tagged_builds_stay() {
    let folder = tempfile::tempdir().unwrap();
    let (store, intake) = start(folder.path());
    let build = |version: &str, received: Received| Received {
        origin: Origin {
            build: Some(version.to_owned()),
            ..received.origin
        },
        ..received
    };
    for version in ["old", "tagged"] {
        wait(intake.accept(vec![build(version, piece("a", 1000, "main 1\n"))])).unwrap();
    }
    wait(intake.accept(vec![build("old", piece("a", 400_000, "main 1\n"))])).unwrap();
    wait(intake.add_run(build("run", piece("a", 1000, "main 1\n")))).unwrap();
    wait(intake.flush());
    let tag = Tag {
        executable: "shop".to_owned(),
        version: "tagged".to_owned(),
        name: "release".to_owned(),
    };
    store.tag(&tag, false).unwrap();
    let retention = Retention {
        days: Some(2),
        store_mib: None,
    };
    steps::expire(&store, &retention, UnixSeconds(500_000)).unwrap();
    let mut left: Vec<_> = store
        .snapshot()
        .unwrap()
        .builds()
        .unwrap()
        .iter()
        .flat_map(|build| {
            build.profiles.iter().map(|stored| {
                (
                    build.build.version.clone(),
                    stored.profile.origin.recorded.unwrap().0,
                )
            })
        })
        .collect();
    left.sort();
    let expected = [("old", 400_000), ("run", 1000), ("tagged", 1000)];
    assert_eq!(
        left,
        expected.map(|(version, time)| (version.to_owned(), time))
    );
}
