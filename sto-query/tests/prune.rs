//! Pruning removes exactly the profiles that fulfil all conditions.

use std::collections::{BTreeMap, BTreeSet};
use sto_core::id::{ProfileId, RecordingDigest};
use sto_core::model::{Build, Frame, FrameKind, FrameTable, Granularity, Origin, Profile, Quality};
use sto_core::store::{Store, Tag};
use sto_core::tree::{ProfileData, StackTree};
use sto_core::units::{Bytes, Cost, SampleType, Unit, UnixSeconds};
use sto_query::internal::prune::prune;
use sto_query::questions::PruneOptions;
use sto_query::results::Pruned;

/// Adds a run of a program whose stack has this depth, recorded at this time.
fn add(store: &Store, version: &str, recorded: Option<u64>, branch: &str, depth: u32) -> ProfileId {
    let build = Build {
        executable: "demo".to_owned(),
        version: version.to_owned(),
        gnu_build_id: None,
        revision: None,
        commit: None,
    };
    let profile = Profile {
        build: build.id(),
        source: RecordingDigest::hash_bytes(format!("{version} {recorded:?} {branch}").as_bytes()),
        source_bytes: Bytes(1000),
        format: "folded".to_owned(),
        origin: Origin {
            recorded: recorded.map(UnixSeconds),
            ..Origin::default()
        },
        quality: Quality::default(),
        granularity: Granularity::Function,
        sample_types: vec![SampleType {
            event: "samples".to_owned(),
            unit: Unit::Samples,
        }],
        modules: [].into(),
        benchmark: None,
        labels: BTreeMap::from([("branch".to_owned(), branch.to_owned())]),
        metrics: BTreeMap::new(),
    };
    let mut frames = FrameTable::new();
    let mut tree = StackTree::new();
    let mut last = None;
    let symbol =
        |level| RecordingDigest::hash_bytes(format!("{version} {level}").as_bytes()).to_string();
    let mut symbols: Vec<String> = (0..depth).map(symbol).collect();
    symbols.sort();
    for symbol in symbols {
        let frame = frames.insert(Frame {
            module: version,
            symbol: &symbol,
            kind: FrameKind::User,
            file: "",
            line: 0,
        });
        last = Some(tree.push(last, frame));
    }
    let cost = Cost {
        samples: 1,
        value: 1,
    };
    let interned = ProfileData {
        frames,
        tree,
        costs: vec![last.map(|node| (node, cost)).into_iter().collect()],
        line_costs: vec![Vec::new()],
        slices: None,
        metrics: None,
        calls: None,
        kept_calls: None,
        source_digests: Default::default(),
        addresses: None,
    };
    store
        .writer()
        .add(&build, &profile, &interned)
        .unwrap()
        .id()
}

fn gone(report: &Pruned) -> BTreeSet<String> {
    let builds = report.builds.iter();
    builds.flat_map(|build| build.profiles.clone()).collect()
}

fn ids(ids: &[ProfileId]) -> BTreeSet<String> {
    ids.iter().map(|id| id.to_string()).collect()
}

#[test]
fn removes_old_profiles_and_keeps_those_without_time() {
    let store = Store::in_memory().unwrap();
    let old = add(&store, "v1", Some(100), "main", 3);
    add(&store, "v1", Some(200), "main", 3);
    add(&store, "v2", None, "main", 3);
    let options = with!(PruneOptions {
        recorded_before: Some(UnixSeconds(200)),
    });
    let report = prune(&store, &options).unwrap();
    assert_eq!(gone(&report), ids(&[old]));
    assert_eq!((report.profiles, report.profiles_left), (1, 2));
    let builds = store.snapshot().unwrap().builds().unwrap();
    assert_eq!(
        builds
            .iter()
            .map(|build| build.profiles.len())
            .sum::<usize>(),
        2
    );
}

#[test]
fn keeps_newest_builds_of_each_group_with_all_runs() {
    let store = Store::in_memory().unwrap();
    let oldest = add(&store, "v1", Some(100), "main", 3);
    let other_branch = add(&store, "v1", Some(150), "side", 3);
    add(&store, "v2", Some(200), "main", 3);
    add(&store, "v3", Some(250), "main", 3);
    add(&store, "v3", Some(300), "main", 3);
    // Recording a build again does not change its age.
    let again = add(&store, "v1", Some(400), "main", 3);
    let grouped = with!(PruneOptions {
        keep_last: Some(2),
        group_by: Some("branch".to_owned()),
        dry_run: true,
    });
    let old = ids(&[oldest, again]);
    assert_eq!(gone(&prune(&store, &grouped).unwrap()), old);
    let together = with!(PruneOptions {
        group_by: None,
        ..grouped
    });
    let expected = ids(&[oldest, other_branch, again]);
    assert_eq!(gone(&prune(&store, &together).unwrap()), expected);
    assert_eq!(
        store.snapshot().unwrap().builds().unwrap().len(),
        3,
        "a dry run changes nothing"
    );
}

#[test]
fn conditions_are_combined() {
    let store = Store::in_memory().unwrap();
    let gone_id = add(&store, "v1", Some(100), "side", 3);
    add(&store, "v2", Some(100), "main", 3);
    let kept = add(&store, "v3", Some(110), "side", 3);
    add(&store, "v4", Some(900), "side", 3);
    let options = with!(PruneOptions {
        recorded_before: Some(UnixSeconds(500)),
        labels: vec![("branch".to_owned(), "side".to_owned())],
        keep: BTreeSet::from([kept]),
    });
    assert_eq!(gone(&prune(&store, &options).unwrap()), ids(&[gone_id]));
}

#[test]
fn removes_oldest_profiles_until_store_fits() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let times = [500, 100, 300, 200, 400, 600];
    let added = times.map(|time| {
        let version = format!("v{time}");
        (time, add(&store, &version, Some(time), "main", 4000))
    });
    let before = store.file_size().unwrap();
    let options = with!(PruneOptions {
        max_size: Some(Bytes(before.0 / 2)),
        dry_run: true,
    });
    let tried = prune(&store, &options).unwrap();
    let report = prune(
        &store,
        &with!(PruneOptions {
            dry_run: false,
            ..options.clone()
        }),
    )
    .unwrap();
    assert_eq!(
        (gone(&tried), tried.bytes_after),
        (gone(&report), report.bytes_after)
    );
    assert_eq!(report.fits, Some(true));
    assert!(store.file_size().unwrap().0 <= before.0 / 2);
    let mut oldest = added.to_vec();
    oldest.sort_unstable();
    let expected: Vec<_> = oldest[..report.profiles]
        .iter()
        .map(|&(_, id)| id)
        .collect();
    assert_eq!(gone(&report), ids(&expected));
    assert!((1..6).contains(&report.profiles), "{report:?}");
}

#[test]
fn reports_unreachable_size() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let kept = add(&store, "v1", Some(1), "main", 2000);
    add(&store, "v2", Some(2), "main", 2000);
    let options = with!(PruneOptions {
        max_size: Some(Bytes(1000)),
        keep: BTreeSet::from([kept]),
    });
    let report = prune(&store, &options).unwrap();
    assert_eq!(report.fits, Some(false));
    assert_eq!((report.profiles, report.profiles_left), (1, 1));
}

#[test]
fn keeps_and_reports_tagged_builds() {
    let store = Store::in_memory().unwrap();
    let gone_id = add(&store, "v1", Some(100), "main", 3);
    add(&store, "v2", Some(110), "main", 3);
    let tagged = store.snapshot().unwrap().builds().unwrap()[1].build.clone();
    let tag = Tag {
        executable: tagged.executable.clone(),
        name: "last-good".to_owned(),
        version: tagged.version.clone(),
    };
    store.tag(&tag, false).unwrap();
    let options = with!(PruneOptions {
        recorded_before: Some(UnixSeconds(500)),
    });
    let report = prune(&store, &options).unwrap();
    assert_eq!(gone(&report), ids(&[gone_id]));
    let [kept] = &report.kept_by_tag[..] else {
        panic!("{report:?}")
    };
    assert_eq!(
        (&*kept.version, &*kept.tags),
        ("v2", &["last-good".to_owned()][..])
    );
    store
        .untag_chosen(|_| Ok::<_, ()>(tag.clone()))
        .unwrap()
        .unwrap();
    let report = prune(&store, &options).unwrap();
    assert_eq!((report.profiles, report.profiles_left), (1, 0));
    assert_eq!(report.kept_by_tag, []);
}

#[test]
fn reports_only_tags_that_prevented_removal() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let tag = |version: &str| {
        let builds = store.snapshot().unwrap().builds().unwrap();
        let build = builds.iter().find(|build| build.build.version == version);
        let tag = Tag {
            executable: build.unwrap().build.executable.clone(),
            name: format!("is-{version}"),
            version: version.to_owned(),
        };
        store.tag(&tag, false).unwrap();
    };
    for time in [100, 200, 300, 400, 500, 600] {
        add(&store, &format!("v{time}"), Some(time), "main", 4000);
    }
    tag("v100");
    tag("v600");
    let options = with!(PruneOptions {
        max_size: Some(Bytes(store.file_size().unwrap().0 / 2)),
    });
    let report = prune(&store, &options).unwrap();
    assert_eq!(report.fits, Some(true));
    let kept: Vec<&str> = report
        .kept_by_tag
        .iter()
        .map(|b| b.version.as_str())
        .collect();
    assert_eq!(kept, ["v100"]);
}
