//! Tags: each names one build.

use super::model::{Plain, add, of_stacks};
use std::collections::BTreeSet;
use std::fs;
use sto_core::id::ProfileId;
use sto_core::store::{Store, StoreError, Tag, Tagged};

fn run() -> Plain {
    of_stacks(&[&[1, 2], &[3]])
}

/// A tag of the executable that [`add`] adds to.
fn tag(name: &str, version: &str) -> Tag {
    Tag {
        executable: "demo".to_owned(),
        name: name.to_owned(),
        version: version.to_owned(),
    }
}

fn untag(store: &Store, tag: &Tag) {
    let gone = store.untag_chosen(|_| Ok::<_, ()>(tag.clone()));
    assert_eq!(gone.unwrap().as_ref(), Ok(tag));
}

/// A store of v1 and v2, with a profile each.
fn two_builds() -> (tempfile::TempDir, Store, [ProfileId; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open_or_create(folder.path()).unwrap();
    let ids = ["v1", "v2"].map(|version| add(&store, version, version, &run()));
    (folder, store, ids)
}

/// Every tag as `version: name`, builds in the store's order.
fn tags(store: &Store) -> Vec<String> {
    let of = |build: sto_core::store::StoredBuild| {
        let version = build.build.version;
        let named = build.tags.into_iter();
        named.map(move |tag| format!("{version}: {tag}"))
    };
    let mut tags: Vec<String> = store
        .snapshot()
        .unwrap()
        .builds()
        .unwrap()
        .into_iter()
        .flat_map(of)
        .collect();
    tags.sort();
    tags
}

#[test]
fn tag_names_one_build_until_moved() {
    let (_folder, store, _) = two_builds();
    assert_eq!(store.tag(&tag("good", "v1"), false).unwrap(), Tagged::New);
    let again = store.tag(&tag("good", "v1"), false).unwrap();
    assert_eq!(again, Tagged::Unchanged);
    let other = store.tag(&tag("good", "v2"), false).unwrap();
    assert_eq!(other, Tagged::Taken("v1".to_owned()));
    assert_eq!(tags(&store), ["v1: good"]);
    let moved = store.tag(&tag("good", "v2"), true).unwrap();
    assert_eq!(moved, Tagged::Moved("v1".to_owned()));
    store.tag(&tag("also", "v2"), false).unwrap();
    assert_eq!(tags(&store), ["v2: also", "v2: good"]);
    untag(&store, &tag("good", "v1"));
    assert_eq!(tags(&store), ["v2: also", "v2: good"]);
    untag(&store, &tag("good", "v2"));
    assert_eq!(tags(&store), ["v2: also"]);
}

#[test]
fn unchanged_tags_do_not_change_the_file() {
    let (folder, store, _) = two_builds();
    store.tag(&tag("good", "v1"), false).unwrap();
    let file = folder.path().join(Store::FILE_NAME);
    let before = fs::read(&file).unwrap();
    store.tag(&tag("good", "v1"), true).unwrap();
    store.tag(&tag("good", "v2"), false).unwrap();
    untag(&store, &tag("bad", "v1"));
    store.tag(&tag("new", "v3"), false).unwrap_err();
    assert!(fs::read(&file).unwrap() == before);
}

#[test]
fn rejects_tags_without_name_or_build() {
    let (_folder, store, _) = two_builds();
    let long = "x".repeat(4097);
    for name in ["", "a b", "-f", "demo@v1", "tab\t", "\u{1b}[31m", &long] {
        let refused = store.tag(&tag(name, "v1"), false);
        assert!(matches!(refused, Err(StoreError::Refused { .. })), "{name}");
    }
    let missing = store.tag(&tag("good", "v3"), false);
    assert!(matches!(missing, Err(StoreError::NoBuild { .. })));
    assert!(tags(&store).is_empty());
}

#[test]
fn tags_are_removed_with_their_build() {
    let (folder, store, [first, _]) = two_builds();
    store.tag(&tag("old", "v1"), false).unwrap();
    store.tag(&tag("good", "v2"), false).unwrap();
    store.compact().unwrap();
    add(&store, "v3", "v3", &run());
    assert_eq!(tags(&store), ["v1: old", "v2: good"]);

    let exported = folder.path().join("one.sto");
    store
        .snapshot()
        .unwrap()
        .export(&BTreeSet::from([first]), &exported)
        .unwrap();
    let exported = Store::open(&exported).unwrap();
    assert_eq!(tags(&exported), ["v1: old"]);

    store.prune(&BTreeSet::from([first])).unwrap();
    assert_eq!(tags(&store), ["v2: good"]);
    let verified = Store::verify(folder.path(), None, &mut |_| Ok(())).unwrap();
    assert_eq!(verified.damages, []);
}

#[test]
fn removing_the_last_tag_leaves_no_trace() {
    let (folder, store, _) = two_builds();
    let bytes = || fs::read(folder.path().join(Store::FILE_NAME)).unwrap();
    store.compact().unwrap();
    let before = bytes();
    store.tag(&tag("good", "v1"), false).unwrap();
    store.compact().unwrap();
    assert!(bytes() != before);
    untag(&store, &tag("good", "v1"));
    store.compact().unwrap();
    assert!(bytes() == before);
}

#[test]
fn merge_copies_tags_unless_taken() {
    let (_there_folder, there, _) = two_builds();
    there.tag(&tag("good", "v2"), false).unwrap();
    there.tag(&tag("release", "v1"), false).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let here = Store::open_or_create(folder.path()).unwrap();
    add(&here, "v0", "v0", &run());
    here.tag(&tag("good", "v0"), false).unwrap();

    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert_eq!(merged.tags, [tag("release", "v1").to_string()]);
    assert_eq!(merged.other_tags, [tag("good", "v2").to_string()]);
    assert_eq!(tags(&here), ["v0: good", "v1: release"]);

    // A tag is merged even if no profile is new.
    there.tag(&tag("later", "v2"), false).unwrap();
    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert_eq!(merged.tags, [tag("later", "v2").to_string()]);
    let before = fs::read(folder.path().join(Store::FILE_NAME)).unwrap();
    let merged = here
        .merge(&there.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert!(merged.tags.is_empty());
    here.merge(&here.snapshot().unwrap(), &mut |_| Ok(()))
        .unwrap();
    assert!(fs::read(folder.path().join(Store::FILE_NAME)).unwrap() == before);
}
