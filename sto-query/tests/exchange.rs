//! Exchange of profiles with a place that others write to at the same time.

use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::Once;
use sto_core::store::Store;
use sto_core::{IngestOptions, ingest};
use sto_query::places::{Machine, Place};
use sto_query::questions::{PushRequest, push};

#[test]
fn push_checks_files_that_appear_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::in_memory().unwrap();
    let options = IngestOptions {
        executable: Some("demo".to_owned()),
        version: Some("v1".to_owned()),
        ..IngestOptions::default()
    };
    // More than are sent at once.
    let count = 70;
    for profile in 1..=count {
        let file = folder.path().join("stacks.folded");
        fs::write(&file, format!("main {profile}\n")).unwrap();
        ingest(&store, &file, &options, &mut |_| {}).unwrap();
    }
    let place = folder.path().join("place");
    let file_of = |id: &str| -> PathBuf { place.join(format!("profiles/{id}.sto.zst")) };
    let builds = store.snapshot().unwrap().builds().unwrap();
    let ids = builds[0]
        .profiles
        .iter()
        .map(|stored| stored.id.to_string());
    let ids: Vec<String> = ids.collect();
    let first_sent = Once::new();
    let write_others = |_, _| {
        first_sent.call_once(|| {
            for id in &ids {
                if let Ok(mut file) = File::create_new(file_of(id)) {
                    file.write_all(b"another file").unwrap();
                }
            }
        });
    };
    let at = Place::parse(place.as_os_str(), &Machine::default()).unwrap();
    let pushed = push(&store, &(), &at, &PushRequest::default(), &write_others).unwrap();
    let wrong = ids
        .iter()
        .filter(|id| fs::read(file_of(id)).unwrap() == b"another file");
    let left_out = pushed.left_out.iter().flat_map(|out| &out.profiles);
    let left_out: Vec<String> = left_out.map(|id| id.to_string()).collect();
    let mut wrong: Vec<String> = wrong.cloned().collect();
    wrong.sort();
    assert!(!wrong.is_empty());
    assert_eq!(left_out, wrong);
    assert_eq!(pushed.sent.len(), count - wrong.len());
}
