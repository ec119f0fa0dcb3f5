//! Stores that earlier versions of sto wrote: they open and say what they said, or the error says
//! what to do.

use crate::support::{Run, Sandbox, assert_golden_at, repository};
use std::fs;
use std::path::PathBuf;

/// Stores by format version, in `testdata/stores`.
fn store(version: u32) -> PathBuf {
    repository().join(format!("testdata/stores/{version}.redb"))
}

#[test]
fn a_store_of_every_version_that_is_read_says_what_it_always_said() {
    for version in 5..=5 {
        let path = store(version);
        let before = fs::read(&path).unwrap();
        let sandbox = Sandbox::new();
        let run = |args: &[&str]| {
            let store = ["--store", path.to_str().unwrap()];
            Run::of(&mut sandbox.bare_command(&[&store, args].concat())).succeeds()
        };
        run(&["verify"]);
        for (name, args) in [
            ("ls", &["ls", "--format", "json"][..]),
            ("top", &["top", "v2", "--format", "json"]),
            ("tree", &["tree", "v1", "--format", "json"]),
            ("show", &["show", "labelled", "--format", "json"]),
        ] {
            let actual = run(args).stdout;
            let golden = path.with_extension(format!("{name}.json"));
            assert_golden_at(&golden, &actual);
        }
        assert!(fs::read(&path).unwrap() == before, "reading wrote to it");
    }
}

#[test]
fn a_store_of_a_version_that_is_not_read_any_more_is_told_from_a_damaged_one() {
    for version in 1..=4 {
        let path = store(version);
        let sandbox = Sandbox::new();
        let args = ["--store", path.to_str().unwrap(), "ls"];
        let run = Run::of(&mut sandbox.bare_command(&args));
        let is = format!("format version {version}");
        run.fails_with(&[&is, "reads versions from 5 on"]);
    }
}
