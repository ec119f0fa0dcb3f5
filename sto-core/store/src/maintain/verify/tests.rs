//! Stores with right checksums and wrong content: every rule is checked.

use super::*;
use crate::codec::{
    self, BuildRecord, CostSum, ExecutableRecord, ProfileRecord, ReadingRecord, pack_costs,
    pack_frames, pack_modules, pack_nodes, unpack_costs, unpack_frames, unpack_nodes,
};
use crate::numbers::*;
use crate::read::rows::NewRows;
use crate::tables::{
    COLUMNS, Column, ENDS, META, META_FEATURES, META_TAGS, META_VERSION, RECORDS, Record, SEGMENT,
};
use crate::test_profiles::add;
use crate::{Store, Tag};
use redb::{Database, ReadableTable, WriteTransaction};
use std::path::PathBuf;
use sto_model::id::{BuildId, ProfileId};
use sto_model::units::Bytes;

/// A store with two profiles of demo@v1 and one of demo@v2.
fn store() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    for (text, version) in [
        ("main;a 3\nmain;b 2\n", "v1"),
        ("main;a 4\nmain;c;b 2\n", "v1"),
        ("main;a 5\n", "v2"),
    ] {
        add(&store, text, version);
    }
    let file = folder.path().join(Store::FILE_NAME);
    (folder, file)
}

/// Verifies a store after a change.
fn after(tamper: impl FnOnce(&Rows, &mut NewRows, &WriteTransaction)) -> Verification {
    let (folder, file) = store();
    {
        let database = Database::open(&file).unwrap();
        let transaction = database.begin_write().unwrap();
        let rows = Rows::open(&database.begin_read().unwrap()).unwrap();
        let mut new = NewRows::new(rows.contents);
        tamper(&rows, &mut new, &transaction);
        new.write(&transaction).unwrap();
        transaction.commit().unwrap();
    }
    Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap()
}

#[test]
fn rejects_future_versions_and_features() {
    let features = codec::pack(&["samples", "traces"].as_slice()).unwrap();
    let features = codec::with_checksum(META_FEATURES.as_bytes(), features);
    let cases = [
        (
            META_FEATURES,
            &features[..],
            "has unknown features: samples, traces; upgrade sto",
        ),
        (
            META_VERSION,
            &2u32.to_le_bytes(),
            "has format version 2, but this sto reads version 1; upgrade sto",
        ),
    ];
    for (key, value, expected) in cases {
        let (folder, file) = store();
        let database = Database::open(&file).unwrap();
        let transaction = database.begin_write().unwrap();
        let mut meta = transaction.open_table(META).unwrap();
        meta.insert(key, value).unwrap();
        drop(meta);
        transaction.commit().unwrap();
        drop(database);
        let before = std::fs::read(&file).unwrap();
        for opened in [
            Store::open(folder.path()).map(drop),
            Store::open_or_create(folder.path()).map(drop),
            Store::verify(folder.path(), None, &mut |_| Ok(())).map(drop),
        ] {
            let error = opened.unwrap_err().to_string();
            assert!(error.ends_with(expected), "{error}");
            assert!(error.contains(Store::FILE_NAME), "{error}");
        }
        assert!(std::fs::read(&file).unwrap() == before);
    }
}

/// The first pack of frames.
const FRAMES: Column = Column::Frames(FrameNo(0));

/// Self costs of a profile.
fn costs(profile: u32) -> Column {
    Column::Costs(ProfileNo(profile), TypeNo(0))
}

/// Checks that exactly one damage was found, at this location and with this description.
#[track_caller]
fn finds(verification: &Verification, location: &str, what: &str) {
    let [damage] = &verification.damages[..] else {
        panic!("{verification:#?}")
    };
    assert!(damage.location.contains(location), "{damage:?}");
    assert!(damage.what.contains(what), "{damage:?}");
}

/// Verifies a store after a change to the record of build v1.
fn build(change: impl FnOnce(&mut BuildRecord)) -> Verification {
    after(|rows, new, _| {
        let id = BuildId::new(sto_model::id::ExecutableId::from_name("demo"), "v1");
        let mut record: BuildRecord = rows.record(Record::Build, id.0).unwrap().unwrap();
        change(&mut record);
        new.record(Record::Build, id.0, &record).unwrap();
    })
}

/// A store with a changed profile record and its right checksum.
fn with_profile(
    number: u32,
    change: impl FnOnce(&mut ProfileRecord),
) -> (tempfile::TempDir, PathBuf) {
    let (folder, file) = store();
    let database = Database::open(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    let rows = Rows::open(&database.begin_read().unwrap()).unwrap();
    let mut new = NewRows::new(rows.contents);
    let mut found = rows.records::<ProfileRecord>(Record::Profile).unwrap();
    let found = found
        .iter_mut()
        .find(|found| found.record.number.0 == number);
    let found = found.unwrap();
    change(&mut found.record);
    new.record(Record::Profile, found.id, &found.record)
        .unwrap();
    new.write(&transaction).unwrap();
    transaction.commit().unwrap();
    (folder, file)
}

#[test]
fn sizes_that_overflow_are_damage() {
    let (folder, _) = with_profile(1, |p| p.columns = u64::MAX);
    let store = Store::open(folder.path()).unwrap();
    let error = store.snapshot().unwrap().builds().unwrap_err().to_string();
    assert!(error.contains("more than 2^64 - 1 bytes"), "{error}");
    let (folder, _) = with_profile(1, |p| p.profile.source_bytes = Bytes(u64::MAX));
    let stats = Store::open(folder.path()).unwrap().stats().unwrap();
    assert_eq!(stats.source, Bytes(u64::MAX));
}

#[test]
fn merge_leaves_out_profiles_that_break_rules() {
    type Change = fn(&mut ProfileRecord);
    let changes: [(Change, &str); 3] = [
        (|p| p.profile.quality.samples = u64::MAX - 1000, "2^56"),
        (
            |p| p.profile.benchmark = Some("x".repeat(1 << 20)),
            "4096 bytes",
        ),
        (
            |p| p.profile.metrics = [("seconds".to_owned(), f64::NAN)].into(),
            "not a finite number",
        ),
    ];
    for (change, expected) in changes {
        let (folder, _) = with_profile(1, change);
        let there = Store::open(folder.path()).unwrap();
        assert_eq!(there.snapshot().unwrap().builds().unwrap().len(), 2);
        let here = Store::in_memory().unwrap();
        let merged = here
            .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
            .unwrap();
        assert_eq!((merged.added.len(), merged.left_out.len()), (2, 1));
        let why = &merged.left_out[0].why;
        assert!(why.contains(expected), "{why}");
    }
}

/// Verifies a store after a change to a profile's record.
fn profile(number: u32, change: impl FnOnce(&mut ProfileRecord)) -> Verification {
    let (folder, _) = with_profile(number, change);
    Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap()
}

#[test]
fn counts_a_sound_store() {
    let verification = after(|_, _, _| ());
    assert_eq!(verification.damages, []);
    assert_eq!(verification.sound_profiles, 3);
    let bytes = verification.checked.bytes;
    let expected = Checked {
        executables: 1,
        builds: 2,
        profiles: 3,
        frames: 4,
        nodes: 5,
        records: 10,
        // Two packs of frames and of nodes, modules; costs and lines of each profile.
        columns: 2 + 2 + 1 + 2 * 3,
        bytes,
    };
    assert_eq!(verification.checked, expected);
    assert!(bytes.0 > 0);
}

#[test]
fn detects_duplicate_frames() {
    let verification = after(|rows, new, _| {
        let pack = unpack_frames(&rows.column(FRAMES).unwrap()).unwrap();
        let frames = [pack.get(0), pack.get(1), pack.get(0)];
        new.column(FRAMES, pack_frames(frames.into_iter()).unwrap());
    });
    let location = "table columns, frames";
    let twice = "frames 0 and 2 are equal";
    assert!(
        verification
            .damages
            .iter()
            .any(|d| d.location == location && d.what.contains(twice)),
        "{verification:#?}"
    );
    assert_eq!(verification.sound_profiles, 0);
}

#[test]
fn detects_duplicate_nodes() {
    let verification = after(|rows, new, _| {
        let (first, column) = (NodeNo(0), Column::Nodes(ExecutableNo(0), NodeNo(0)));
        let pack = rows.column(column).unwrap();
        let mut nodes = unpack_nodes(&pack, first, FrameNo(4)).unwrap();
        let len = nodes.len();
        (nodes.parents[len - 1], nodes.frames[len - 1]) = (nodes.parents[1], nodes.frames[1]);
        new.column(column, pack_nodes(first, &nodes).unwrap());
    });
    finds(
        &verification,
        "table columns, nodes 0",
        "occurs twice below node 0",
    );
    let concerns = &verification.damages[0].concerns;
    assert_eq!(
        *concerns,
        Concerns::Executable {
            executable: "demo".to_owned()
        }
    );
}

#[test]
fn detects_packs_with_missing_items() {
    let verification = after(|rows, new, _| {
        let id = sto_model::id::ExecutableId::from_name("demo");
        let record = rows.record::<ExecutableRecord>(Record::Executable, id.0);
        let mut record = record.unwrap().unwrap();
        record.nodes.0 += 1;
        new.record(Record::Executable, id.0, &record).unwrap();
    });
    finds(&verification, "nodes 0/3", "number of items");
    let verification = after(|_, new, _| new.remove_column(FRAMES));
    finds(&verification, "frames 0/0", "missing");
}

#[test]
fn detects_builds_that_differ_from_their_profiles() {
    finds(&build(|b| b.samples += 1), "build", "its samples");
    finds(
        &build(|b| b.profiles += 1),
        "build",
        "its profiles differ in number",
    );
    let verification = build(|b| b.version.push('x'));
    let found: Vec<&str> = verification.damages.iter().map(|d| &*d.what).collect();
    let of_profile = "it names another build";
    assert_eq!(
        found,
        ["its content does not match its id", of_profile, of_profile]
    );
    let verification = build(|b| b.sums.clear());
    let what = &verification.damages[0].what;
    assert!(what.contains("has no sum"), "{what}");
    let verification = build(|b| b.sums.push(b.sums[0].clone()));
    let what = &verification.damages[0].what;
    assert!(what.contains("two sums have the same"), "{what}");
    let verification = profile(0, |p| p.revision = Some("abc".to_owned()));
    finds(&verification, "build", "revision");
    let Concerns::Build { version, .. } = &verification.damages[0].concerns else {
        panic!("{verification:#?}")
    };
    assert_eq!(version, "v1");
    assert_eq!(verification.sound_profiles, 1, "that of v2");
}

#[test]
fn detects_wrong_sums() {
    // The first profile's costs in a column of the build's own, the second's separate.
    let folded = |more_samples| {
        after(|rows, new, _| {
            let id = BuildId::new(sto_model::id::ExecutableId::from_name("demo"), "v1");
            let mut build: BuildRecord = rows.record(Record::Build, id.0).unwrap().unwrap();
            build.sums[0].has_column = true;
            build.sums[0].separate = vec![(ProfileNo(1), TypeNo(0))];
            new.record(Record::Build, id.0, &build).unwrap();
            let mut sums = unpack_costs(&rows.column(costs(0)).unwrap(), NodeNo(5)).unwrap();
            sums[0].1.samples += more_samples;
            new.column(
                Column::Sums(BuildNo(0), TypeNo(0)),
                pack_costs(&sums).unwrap(),
            );
        })
    };
    assert_eq!(folded(0).damages.len(), 0);
    finds(&folded(1), "sums 0/0", "not the sum");

    let sum = |change: fn(&mut CostSum)| build(|b| change(&mut b.sums[0]));
    finds(&sum(|s| s.total.samples += 1), "build", "total");
    let verification = sum(|s| s.separate.truncate(1));
    finds(&verification, "build", "not in any sum");
    let verification = sum(|s| s.separate.push((ProfileNo(1), TypeNo(0))));
    finds(&verification, "build", "another build");
    let verification = sum(|s| s.separate[0].0 = ProfileNo(2));
    assert!(
        verification.damages[0].what.contains("another build"),
        "{verification:#?}"
    );
}

#[test]
fn detects_wrong_profile_records() {
    let verification = profile(1, |p| p.profile.quality.lost += 1);
    finds(&verification, "profile", "does not match its id");
    assert_eq!(verification.sound_profiles, 2);
    let verification = profile(1, |p| p.profile.source.0[0] ^= 1);
    let what = &verification.damages[0].what;
    assert!(what.contains("has no reading record"), "{what}");
    finds(&profile(1, |p| p.columns += 1), "profile", "size");
    let verification = profile(1, |p| p.modules = ModulesNo(7));
    finds(&verification, "modules 7/0", "no such list");
    let verification = profile(2, |p| p.number = ProfileNo(1));
    assert!(
        verification.damages[0].what.contains("another one's"),
        "{verification:#?}"
    );
    let verification = profile(2, |p| p.number = ProfileNo(9));
    assert!(
        verification.damages[0]
            .what
            .contains("but the next free one is 3"),
        "{verification:#?}"
    );
}

#[test]
fn unused_records_and_columns_concern_no_profile() {
    let verification = after(|_, new, _| {
        new.column(costs(99), pack_costs(&[]).unwrap());
    });
    finds(&verification, "costs 99/0", "no record refers to it");
    assert_eq!(verification.damages[0].concerns, Concerns::Nothing);
    assert_eq!(verification.sound_profiles, 3);

    let verification = after(|_, _, transaction| {
        let mut columns = transaction.open_table(COLUMNS).unwrap();
        columns.insert((99, 0, 0, 0), &b"hello"[..]).unwrap();
        let mut ends = transaction.open_table(ENDS).unwrap();
        ends.insert((99, 0, 0), &b"world"[..]).unwrap();
        let mut records = transaction.open_table(RECORDS).unwrap();
        records.insert((9, [0; 16]), &b"hello"[..]).unwrap();
    });
    let found: Vec<&str> = verification
        .damages
        .iter()
        .map(|d| d.what.as_str())
        .collect();
    let [record, column] = found[..] else {
        panic!("{found:?}")
    };
    assert!(record.starts_with("the kind of this record"), "{record}");
    assert!(column.starts_with("the kind of this column"), "{column}");
}

#[test]
fn detects_missing_segments() {
    for has_end in [false, true] {
        let verification = after(|_, _, transaction| {
            let mut columns = transaction.open_table(COLUMNS).unwrap();
            let mut ends = transaction.open_table(ENDS).unwrap();
            let (kind, owner, part) = costs(99).key();
            columns
                .insert((kind, owner, part, u32::from(has_end)), &[0; SEGMENT][..])
                .unwrap();
            if has_end {
                ends.insert(costs(99).key(), &b"end"[..]).unwrap();
            }
        });
        let [damage, unowned] = &verification.damages[..] else {
            panic!("{verification:#?}")
        };
        assert!(
            damage.what.contains("a segment of it is missing"),
            "{damage:?}"
        );
        assert!(
            unowned.what.contains("no record refers to it"),
            "{unowned:?}"
        );
        assert_eq!(damage.concerns, Concerns::Nothing);
        assert_eq!(verification.sound_profiles, 3);
    }
}

#[test]
fn detects_module_lists_with_wrong_ids() {
    let other = || pack_modules(&[]).unwrap();
    let verification = after(|_, new, _| {
        new.column(Column::Modules(ModulesNo(0)), {
            let mut pack = other();
            pack.push(0);
            pack
        });
    });
    assert_eq!(verification.damages.len(), 2, "{verification:#?}");
    assert_eq!(verification.sound_profiles, 0);
}

#[test]
fn detects_values_under_wrong_keys() {
    let verification = after(|_, _, transaction| {
        let mut ends = transaction.open_table(ENDS).unwrap();
        let key = |profile| costs(profile).key();
        let first = ends.get(key(0)).unwrap().unwrap().value().to_vec();
        let last = ends.get(key(2)).unwrap().unwrap().value().to_vec();
        ends.insert(key(0), &last[..]).unwrap();
        ends.insert(key(2), &first[..]).unwrap();
    });
    let found: Vec<&str> = verification
        .damages
        .iter()
        .filter(|d| d.what.contains("checksum"))
        .map(|d| d.location.as_str())
        .collect();
    assert_eq!(
        found,
        ["table columns, costs 0/0", "table columns, costs 2/0"],
        "all are found"
    );
    assert_eq!(verification.sound_profiles, 1);

    let verification = after(|_, _, transaction| {
        let mut records = transaction.open_table(RECORDS).unwrap();
        let key = records.iter().unwrap().last().unwrap().unwrap().0.value();
        let stored = records.remove(key).unwrap().unwrap().value().to_vec();
        records
            .insert((Record::Profile as u8, key.1), &stored[..])
            .unwrap();
    });
    assert!(
        verification
            .damages
            .iter()
            .any(|d| d.what.contains("checksum")),
        "{verification:#?}"
    );
}

#[test]
fn detects_missing_records_and_columns() {
    let verification = after(|_, new, _| new.remove_column(Column::Lines(ProfileNo(1), TypeNo(0))));
    assert!(
        verification
            .damages
            .iter()
            .any(|d| d.location.contains("lines 1/0")),
        "{verification:#?}"
    );
    assert_eq!(verification.sound_profiles, 2);

    let verification = after(|rows, _, transaction| {
        let found = rows.records::<ProfileRecord>(Record::Profile).unwrap();
        let mut records = transaction.open_table(RECORDS).unwrap();
        records
            .remove((Record::Profile as u8, found[0].id))
            .unwrap();
    });
    let found = verification.damages.iter().map(|d| d.what.as_str());
    assert!(
        found
            .clone()
            .any(|what| what == "1 of 3 records are missing"),
        "{verification:#?}"
    );
    assert!(
        found
            .clone()
            .any(|what| what.contains("its profiles differ in number")),
        "{verification:#?}"
    );
    assert!(
        found.clone().any(|what| what == "no record refers to it"),
        "{verification:#?}"
    );
}

/// Verifies a store after a change to its tags; v1 has the tag `kept`.
fn with_tags(change: impl FnOnce(&mut Vec<Tag>)) -> Verification {
    let mut tags = vec![tag("kept", "v1")];
    change(&mut tags);
    after(|_, _, transaction| crate::write::tags::write(transaction, &tags).unwrap())
}

fn tag(name: &str, version: &str) -> Tag {
    Tag {
        executable: "demo".to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
    }
}

#[test]
fn detects_invalid_tags() {
    assert_eq!(with_tags(|_| ()).damages, []);
    let missing = with_tags(|tags| tags.push(tag("lost", "v9")));
    finds(&missing, "tag lost of demo", "its build does not exist");
    assert_eq!(missing.sound_profiles, 3);
    let twice = with_tags(|tags| tags.push(tag("kept", "v2")));
    finds(&twice, "table meta, tags", "one occurs twice");
}

#[test]
fn tags_have_a_checksum() {
    let without = after(|_, _, transaction| {
        let mut meta = transaction.open_table(META).unwrap();
        meta.insert(META_TAGS, [0; 9].as_slice()).unwrap();
    });
    finds(&without, "table meta, tags", "");
    assert_eq!(without.sound_profiles, 3);
}

/// A store with a changed column of a profile and its right checksum.
fn with_column(column: Column, pack: impl FnOnce(&Rows) -> Vec<u8>) -> tempfile::TempDir {
    let (folder, file) = store();
    let database = Database::open(&file).unwrap();
    let transaction = database.begin_write().unwrap();
    let rows = Rows::open(&database.begin_read().unwrap()).unwrap();
    let mut new = NewRows::new(rows.contents);
    new.column(column, pack(&rows));
    new.write(&transaction).unwrap();
    transaction.commit().unwrap();
    folder
}

#[test]
fn forged_profiles_replace_no_others() {
    let costs_of = |profile| {
        move |rows: &Rows| unpack_costs(&rows.column(costs(profile)).unwrap(), NodeNo(5)).unwrap()
    };
    type Change = fn(&mut ProfileRecord);
    let records: [Change; 6] = [
        |p| p.profile.source.0[0] ^= 1,
        |p| p.profile.labels = [("branch".to_owned(), "main".to_owned())].into(),
        |p| p.profile.origin.host = Some("other".to_owned()),
        |p| p.profile.benchmark = Some("other".to_owned()),
        |p| p.profile.quality.lost = 7,
        |p| p.profile.sample_types[0].event = "cycles".to_owned(),
    ];
    let forged = records.map(|change| with_profile(1, change).0);
    let columns = [
        // Other counts with the same sum, another profile's counts, and other stacks.
        with_column(costs(1), |rows| {
            let mut costs = costs_of(1)(rows);
            costs[0].1.samples += 1;
            costs[0].1.value += 1;
            costs[1].1.samples -= 1;
            costs[1].1.value -= 1;
            pack_costs(&costs).unwrap()
        }),
        with_column(costs(1), |rows| pack_costs(&costs_of(0)(rows)).unwrap()),
        with_column(FRAMES, |rows| {
            let pack = unpack_frames(&rows.column(FRAMES).unwrap()).unwrap();
            let frames = (0..pack.len()).map(|i| match pack.get(i) {
                frame if frame.symbol == "a" => sto_model::Frame {
                    symbol: "z",
                    ..frame
                },
                frame => frame,
            });
            pack_frames(frames).unwrap()
        }),
    ];
    let (honest, _) = store();
    let sound = Store::open(honest.path()).unwrap();
    for (case, folder) in forged.iter().chain(&columns).enumerate() {
        let there = Store::open(folder.path()).unwrap();
        let here = Store::in_memory().unwrap();
        let merged = here
            .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
            .unwrap();
        assert!(!merged.left_out.is_empty(), "{case}");
        for out in &merged.left_out {
            let is_named = out.why.contains("its content does not match its id");
            assert!(is_named, "{case}: {out:?}");
        }
        let verified = Store::verify(folder.path(), None, &mut |_| Ok(()))
            .unwrap()
            .damages;
        let found = |damage: &Corruption| damage.what.contains("does not match its id");
        assert!(verified.iter().any(found), "{case}: {verified:?}");
        // The undamaged profiles are then added and are complete.
        let all = here
            .merge(&sound.snapshot().unwrap(), &mut |_| Ok(()))
            .unwrap();
        assert_eq!(all.added.len(), merged.left_out.len(), "{case}");
        assert_eq!(
            here.merge(&sound.snapshot().unwrap(), &mut |_| Ok(()))
                .unwrap()
                .already_stored,
            3
        );
        for build in sound.snapshot().unwrap().builds().unwrap() {
            for stored in build.profiles {
                let executable = sto_model::id::ExecutableId::from_name("demo");
                let [mine, theirs] = [&here, &sound].map(|store| {
                    store
                        .snapshot()
                        .unwrap()
                        .load(executable, &[stored.id])
                        .unwrap()
                });
                assert_eq!(
                    (mine.tree, mine.costs),
                    (theirs.tree, theirs.costs),
                    "{case}"
                );
            }
        }
    }
}

#[test]
fn detects_two_profiles_of_one_source() {
    let reading = |change: fn(&mut ReadingRecord)| {
        after(|rows, new, _| {
            let mut found = rows.records::<ReadingRecord>(Record::Reading).unwrap();
            let found = &mut found[0];
            change(&mut found.record);
            new.record(Record::Reading, found.id, &found.record)
                .unwrap();
        })
    };
    assert_eq!(reading(|_| ()).damages, []);
    let verification = reading(|known| known.profile = ProfileId([7; 16]));
    let found: Vec<&str> = verification.damages.iter().map(|d| &*d.what).collect();
    let [profile, reading] = found[..] else {
        panic!("{found:?}")
    };
    assert!(
        profile.contains("there is another profile of its source, 0707"),
        "{profile}"
    );
    assert!(profile.contains("was read here"), "{profile}");
    assert!(reading.contains("no profile of this source"), "{reading}");
}
